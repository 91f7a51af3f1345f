// The tables of an LMDB file of another program: keys and values.
import { bytes as bytesOf, get } from "./api.js";
import { bytes, count, el, failure, plural, replaceList, show } from "./dom.js";
import { save } from "./export.js";
import { keepPlace, keptPlace } from "./place.js";
import { makeTable } from "./table.js";
import { hex } from "./values.js";

const columns = [
  { name: "position", index: 0, width: 100, isNumber: true, canSort: false },
  { name: "key", index: 1, width: 260, canSort: false },
  { name: "value", index: 2, width: 420, canSort: false },
  { name: "bytes", index: 3, width: 100, isNumber: true, canSort: false },
];
const maximumShownSize = 1 << 20;

function addressOf(table, position) {
  return `#/tables/${encodeURIComponent(table)}${position === undefined ? "" : `?position=${position}`}`;
}

/** The view of a table; `#/tables/Name?position=…`. */
export async function tablesView(main, file, rest, parameters) {
  // The unnamed table has an empty name.
  const find = () => file.tables.find((each) => each.name === (rest.length ? rest[0] : (file.tables[0] || {}).name));
  let table = find();
  if (!table) {
    show(main, el("div", { class: "failure", role: "alert" },
      el("strong", {}, rest.length ? `There is no table ${rest[0]}.` : "The file has no tables.")));
    return {};
  }
  const { name } = table;
  const detail = el("aside", { class: "detail", "aria-label": "Entry", hidden: true });
  const problem = el("p", { class: "problem", id: "key-problem", role: "alert" });
  const key = el("input", {
    id: "key", type: "text", autocomplete: "off", spellcheck: "false", "data-search": "", "aria-label": "Go to a key",
    "aria-describedby": "key-problem", placeholder: "Go to a key: text, 0x6b6579, or a number",
  });
  const content = el("div", { class: "table" });
  const summary = el("p", { class: "summary", role: "status" });
  const tools = el("span", { class: "table-tools" });
  let shown = 0;
  let grid = null;

  const facts = () => show(summary, el("strong", {}, plural(table.entries, "entry", "entries")),
    el("span", { class: "faint" }, ` · ${bytes(table.bytes)} · ${plural(table.depth, "level")}${table.flags.map((each) => ` · ${each}`).join("")}`));

  function load() {
    if (grid) grid.end();
    grid = makeTable({
      label: `Entries of ${table.title}`, columns, key: `columns of files`, entity: null, order: "",
      place: keptPlace(), moved: keepPlace, sort: () => {},
      load: ({ offset, limit, signal }) => get("entries", { table: name, offset, limit }, signal),
      open: (position) => { location.hash = addressOf(name, position); },
      failed: (error) => show(summary, failure(error)),
    });
    show(content, grid.element);
    show(tools, grid.columnsButton);
    grid.setTotal(table.entries);
    facts();
  }

  async function go(event) {
    event.preventDefault();
    show(problem);
    key.removeAttribute("aria-invalid");
    if (!key.value) return;
    try {
      const { position } = await get("find", { table: name, key: key.value });
      if (position === null) throw new Error("No key is equal to or greater than this one.");
      grid.select(position);
      location.hash = addressOf(name, position);
    } catch (error) {
      key.setAttribute("aria-invalid", "true");
      show(problem, error.message);
    }
  }

  async function showEntry(position) {
    const own = ++shown;
    detail.hidden = position === null;
    main.classList.toggle("with-detail", position !== null);
    if (position === null) return;
    const close = el("button", { type: "button", class: "close quiet", "aria-label": "Close", onclick: () => { location.hash = addressOf(name); } }, "✕");
    try {
      const entry = await get("entry", { table: name, position });
      const value = entry.length <= maximumShownSize ? new Uint8Array(await bytesOf("value", { table: name, position })) : null;
      if (own !== shown) return;
      show(detail, el("header", {}, el("div", {}, el("p", { class: "faint" }, `Entry ${count(position)}`), el("h2", {}, title(entry.key))), close),
        el("h3", {}, "Key"), el("pre", { tabindex: 0, "aria-label": "Bytes of the key" }, hex(fromHex(entry.key.hex))),
        el("h3", {}, "Value"), valueView(entry, value, () => bytesOf("value", { table: name, position })));
    } catch (error) {
      if (own === shown) show(detail, close, failure(error));
    }
  }

  main.onkeydown = (event) => {
    if (event.key !== "Escape" || detail.hidden) return;
    location.hash = addressOf(name);
    grid.element.focus();
  };
  let list = tableList(file, name);
  show(main, list,
    el("section", { class: "content", "aria-label": table.title },
      el("div", { class: "bar" }, el("form", { class: "predicate", onsubmit: go }, el("div", { class: "field" }, key), problem)),
      el("div", { class: "line" }, summary, tools), content), detail);
  load();
  await showEntry(parameters.get("position"));
  return {
    end() {
      shown++;
      main.onkeydown = null;
      grid.end();
    },
    update(nextRest, next) {
      if ((nextRest.length ? nextRest[0] : (file.tables[0] || {}).name) !== name) return false;
      showEntry(next.get("position"));
      return true;
    },
    refresh(changed) {
      file = changed;
      table = find() || { ...table, entries: 0, bytes: 0 };
      list = replaceList(list, tableList(file, name));
      load();
      showEntry(new URLSearchParams(location.hash.split("?")[1] || "").get("position"));
    },
  };
}

/** Returns the tables as a list, and as a menu for narrow windows. */
function tableList(file, name) {
  return el("nav", { class: "side", "aria-label": "Tables" },
    el("ul", {}, file.tables.map((each) => el("li", {}, el("a", {
      href: addressOf(each.name), "aria-current": each.name === name ? "page" : null,
    }, el("span", {}, each.title), el("span", { class: "count" }, count(each.entries)))))),
    el("label", { class: "menu" }, el("span", { class: "hidden" }, "Table"), el("select", {
      onchange: (event) => { location.hash = addressOf(event.target.value); },
    }, file.tables.map((each) => el("option", { value: each.name, selected: each.name === name }, `${each.title} (${count(each.entries)})`)))));
}

function title(key) {
  if (key.number !== undefined) return String(key.number);
  const text = key.text ?? key.hex;
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

function fromHex(text) {
  const digits = text.slice(2).match(/../g) || [];
  return Uint8Array.from(digits, (each) => parseInt(each, 16));
}

/** Returns bytes as text, or null if they aren't text. */
function textOf(value) {
  const end = value.length && value[value.length - 1] === 0 ? value.subarray(0, -1) : value;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(end);
    return /[\u0000-\u0008\u000e-\u001f]/.test(text) ? null : text;
  } catch {
    return null;
  }
}

function jsonOf(text) {
  try {
    const document = JSON.parse(text);
    return typeof document === "object" && document !== null ? JSON.stringify(document, null, 2) : null;
  } catch {
    return null;
  }
}

/** A value in one of its formats: number, JSON, text or hex. */
function valueView(entry, value, load) {
  const saved = el("button", {
    type: "button", class: "quiet", onclick: async () => save("value.bin", new Blob([value || await load()])),
  }, "Save");
  if (!value) return el("div", { class: "actions" }, el("p", {}, `The value has ${bytes(entry.length)}.`), saved);
  if (!value.length) return el("p", { class: "nil" }, "empty");
  const text = textOf(value);
  const json = text === null ? null : jsonOf(text);
  const number = entry.value && entry.value.number;
  const forms = [["Number", number], ["JSON", json], ["Text", text], ["Hex", hex(value)]].filter(([, shown]) => shown !== null && shown !== undefined);
  const place = el("pre", { tabindex: 0, "aria-label": "Value" });
  const buttons = forms.map(([name, shown]) => el("button", {
    type: "button", class: "quiet", "aria-pressed": "false", onclick: () => choose(name, shown),
  }, name));
  function choose(name, shown) {
    show(place, shown);
    for (const each of buttons) each.setAttribute("aria-pressed", each.textContent === name ? "true" : "false");
  }
  choose(...forms[0]);
  return el("div", { class: "binary" }, el("div", { class: "forms", role: "group", "aria-label": "Format of the value" }, buttons), place,
    el("p", { class: "faint" }, `${bytes(entry.length)} · `, saved));
}
