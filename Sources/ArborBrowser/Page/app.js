// The frame of the page: the current view and the global keyboard shortcuts.
import { awaitToken, forgetToken, get, takeToken } from "./api.js";
import { el, failure, notify, show, visible } from "./dom.js";
import { healthView } from "./health.js";
import { historyView } from "./history.js";
import { watchCommits } from "./live.js";
import { objectsView } from "./objects.js";
import { queryView } from "./query.js";
import { setUpEditing } from "./review.js";
import { schemaView } from "./schema.js";
import { setUpSearch } from "./search.js";
import { tablesView } from "./tables.js";
import { zoneChoice } from "./time.js";

const storeViews = {
  schema: schemaView, objects: objectsView, query: queryView, history: historyView,
  health: healthView,
};
/** The views for a store, or for a file of another program. */
let views = storeViews;
/** The data of views, which is loaded while the previous view is still shown. */
const sources = { history: "history", health: "health" };
const main = document.getElementById("main");
let schema = null;
let leave = null;
let turns = 0;

/** Parses the address after `#`: a view, the rest of its path, and parameters. */
function route() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [view, ...rest] = path.split("/").map(decoded);
  return { view: Object.hasOwn(views, view) ? view : Object.keys(views)[0], rest, parameters: new URLSearchParams(query || "") };
}

/** Decodes a part of an address. A part with malformed escapes is returned unchanged. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

async function render() {
  if (location.hash.startsWith("#token=")) return;
  const { view, rest, parameters } = route();
  for (const tab of document.querySelectorAll("#tabs a")) {
    if (tab.dataset.view === view) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  // A view that supports the new address keeps its state, such as the scroll position of a list.
  if (leave && leave.view === view && leave.update && leave.update(rest, parameters)) return;
  if (leave && leave.end) leave.end();
  leave = null;
  // Not shown if another view has been selected while this one waited for the server.
  const turn = ++turns;
  const isCurrent = () => turn === turns;
  main.setAttribute("aria-busy", "true");
  document.title = visible(`${view[0].toUpperCase()}${view.slice(1)} · ${schema.name}`);
  const source = sources[view] ? get(sources[view]) : null;
  await Promise.allSettled([source]);
  if (!isCurrent()) return;
  main.className = `view ${view}`;
  try {
    const made = await views[view](main, schema, rest, parameters, await source);
    if (!isCurrent()) {
      if (made.end) made.end();
      return;
    }
    leave = { view, ...made };
  } catch (error) {
    if (!isCurrent()) return;
    show(main, failure(error));
  }
  main.setAttribute("aria-busy", "false");
}

/** Whether the current view is being reloaded, so that newer commits need not be offered. */
let isRefreshing = false;

/** Reloads the current view. */
async function refresh() {
  isRefreshing = true;
  try {
    await reloadSchema();
    if (leave && leave.refresh) return await leave.refresh(schema);
    if (leave && leave.end) leave.end();
    leave = null;
    await render();
  } finally {
    isRefreshing = false;
  }
}

/** Reloads the schema, with its counts. */
export async function reloadSchema() {
  schema = await get("schema");
  return schema;
}

const keys = [
  ["Ctrl K", "Search entities, object IDs, unique values and indexed text"],
  ["1 … 5", "Schema, Objects, Query, History, Health"],
  ["/", "Focus the view's search or predicate"],
  ["↑ ↓ ← → Page Home End", "Move in a table of objects, including its column headers"],
  ["Enter", "Show the object or follow the link, sort by the column, or run the predicate"],
  ["Ctrl Enter", "Open the link of the cell in a new tab"],
  ["Shift ↑ ↓, Ctrl A", "Select rows"],
  ["Ctrl C", "Copy the cell, or the selected rows as CSV"],
  ["Shift F10", "Open the menu of the cell, the selected rows or the column"],
  ["Shift ← →, Ctrl ← →", "Resize or move the column, from its header"],
  ["Escape", "Close the open panel"],
  ["+ − 0", "Zoom the schema; arrow keys pan it, and move the focused box with Shift"],
  ["n", "Show only the selected entity of the schema and its neighbors"],
  ["Ctrl Enter", "Run the query"],
];

function showKeys() {
  const dialog = document.getElementById("dialog");
  show(dialog, el("h2", { id: "dialog-title" }, "Keyboard shortcuts"),
    el("dl", { class: "keys" },
      keys.map(([key, what]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, what)])),
    el("form", { method: "dialog" }, el("button", { class: "primary" }, "Close")));
  dialog.showModal();
}

function isTyping(target) {
  return target.closest("input, textarea, select, dialog") !== null;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const names = Object.keys(views);
  if (event.key >= "1" && event.key <= String(names.length)) location.hash = `#/${names[event.key - 1]}`;
  else if (event.key === "/") {
    const box = main.querySelector("[data-search]");
    if (box) box.focus();
  } else if (event.key === "?") showKeys();
  else return;
  event.preventDefault();
});

/** A form for the address with the token, which a bookmark lacks. */
function tokenView() {
  const offer = awaitToken(() => location.reload());
  const problem = el("p", { class: "problem", id: "address-problem", role: "alert" });
  const field = el("input", {
    id: "address", type: "text", autocomplete: "off", spellcheck: "false", placeholder: "http://127.0.0.1:…/#token=…",
    "aria-describedby": "address-problem",
  });
  return el("form", {
    class: "failure token", onsubmit: async (event) => {
      event.preventDefault();
      if (!await offer(field.value)) show(problem, "This is not the address of the running server.");
    },
  }, el("strong", {}, "This address has no token."),
  el("p", {}, "In another tab, open the complete address printed by lmdb-inspect serve, and this page will continue. Or paste it here:"),
  el("label", { for: "address" }, "Printed address"), el("div", { class: "pair" }, field, el("button", { type: "submit", class: "primary" }, "Continue")), problem);
}

function askForToken() {
  show(main, tokenView());
  main.setAttribute("aria-busy", "false");
}

function showTools() { document.querySelector(".tools").classList.remove("loading"); }

async function start() {
  // The user entered the address of another run in this tab.
  window.addEventListener("hashchange", () => {
    if (location.hash.startsWith("#token=")) location.reload();
  });
  if (!await takeToken()) return askForToken();
  document.getElementById("help").addEventListener("click", showKeys);
  try {
    await reloadSchema();
  } catch (error) {
    if (error.status === 401) {
      forgetToken();
      return askForToken();
    }
    show(main, failure(error));
    main.setAttribute("aria-busy", "false");
    return showTools();
  }
  const isStore = schema.kind !== "file";
  if (!isStore) views = { tables: tablesView };
  for (const tab of document.querySelectorAll("#tabs a")) tab.hidden = !Object.hasOwn(views, tab.dataset.view);
  document.getElementById("store-name").textContent = visible(schema.name);
  const mode = document.getElementById("mode");
  mode.textContent = schema.canWrite ? "writable" : "read-only";
  mode.classList.toggle("warn", schema.canWrite);
  mode.hidden = false;
  if (isStore) {
    setUpSearch();
    setUpEditing(schema, refresh);
    document.getElementById("help").before(zoneChoice(refresh));
  }
  showTools();
  // The history shows every commit as it happens.
  const showsAll = () => isRefreshing || (leave && leave.view === "history");
  watchCommits({ shown: () => showsAll() ? Infinity : schema.sequence, refresh });
  window.addEventListener("hashchange", render);
  window.addEventListener("unhandledrejection", (event) => {
    if (event.reason && event.reason.name !== "AbortError") notify(event.reason.message, "error");
  });
  await render();
}

start();
