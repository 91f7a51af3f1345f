// The health of the file: its space, its readers, and its consistency.
import { get, post } from "./api.js";
import { bytes, count, el, failure, milliseconds, plural, show, svg } from "./dom.js";
import { time } from "./time.js";

/** The view of the file's health. */
export async function healthView(main, schema, rest, parameters, health) {
  let timer = 0;
  let isOver = false;
  const check = el("div", { class: "check" });
  const card = (title, ...children) => el("section", { class: title === "Databases" ? "card wide" : "card", "aria-label": title }, el("h2", {}, title), ...children);

  function showCheck(state) {
    if (state.state === "running") {
      const part = state.total ? state.done / state.total : 0;
      show(check, el("p", { role: "status" }, state.stage, state.total > 1 ? ` · ${count(state.done)} of ${count(state.total)}` : "…"),
        el("progress", { max: 1, value: state.total > 1 ? part : null, "aria-label": "Progress of the check" }),
        el("button", { type: "button", onclick: cancel }, "Cancel"));
      return;
    }
    const button = el("button", { type: "button", class: "primary", onclick: begin },
      state.state === "done" ? "Check again" : "Check the store");
    if (state.state === "none") {
      show(check, state.isCancelled ? el("p", { role: "status" }, "The check was cancelled.") : null,
        el("p", {}, "Verifies every page, record, index entry and link. Other processes are not blocked."), button);
    } else if (state.error) show(check, failure(state.error), button);
    else {
      show(check, el("p", { class: state.problems.length ? "verdict bad" : "verdict good", role: "status" },
        state.problems.length ? plural(state.problems.length, "problem") : "No problems"),
      el("p", { class: "faint" }, `${plural(state.records, "record")}, ${plural(state.indexEntries, "index entry", "index entries")}, `
        + `${plural(state.links, "link")} in ${milliseconds(state.milliseconds)}`),
      el("ul", {}, state.problems.map((problem) => el("li", {}, problem))), button);
    }
  }

  async function follow() {
    try {
      const state = await get("check");
      if (isOver) return;
      showCheck(state);
      if (state.state === "running") timer = setTimeout(follow, 200);
    } catch (error) {
      show(check, failure(error));
    }
  }

  async function begin() {
    showCheck(await post("check", {}));
    follow();
  }

  async function cancel(event) {
    event.target.disabled = true;
    await post("check", { cancel: true });
  }

  show(main,
    card("Space", el("p", { class: "big" }, bytes(health.file)), spaceBar(health),
      el("p", { class: "faint" }, `Pages of ${bytes(health.pageSize)}. Compacting would free ${bytes(health.reclaimable)}.`,
        health.pinned ? ` Readers pin ${bytes(health.pinned)}.` : "")),
    el("div", { class: "column" }, card("Check", check),
    card("Readers", health.readers.length ? table(["Process", "Name", "Since about", "Transactions behind", "Pinned"],
      health.readers.map((each) => [
        each.process, each.name || "unknown", each.since ? time(each.since) : "the newest commit",
        count(each.behind), bytes(each.pinnedBytes),
      ])) : el("p", { class: "empty" }, "No active readers"))),
    card("Databases", treemap(health),
      table(["Database", "Entries", "Size", "Fill", "Queries served"], health.databases.map((each) => [
        each.title, count(each.entries), about(each) + bytes(each.bytes),
        each.fill === null ? "–" : `${Math.round(each.fill * 100)} %`,
        each.uses === null ? "" : each.uses === 1 ? "once" : `${count(each.uses)} times`,
      ]))));
  await follow();
  return { end: () => { isOver = true; clearTimeout(timer); } };
}

/** Returns the prefix of an estimated size. */
function about(each) {
  return each.isEstimated ? "about " : "";
}

function table(names, rows) {
  const isText = (name, index) => index === 0 || name === "Name" || name === "Since about";
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": names[0] },
    el("table", {}, el("thead", {}, el("tr", {}, names.map((name, index) => el("th", { scope: "col", class: isText(name, index) ? null : "end" }, name)))),
      el("tbody", {}, rows.map((row) => el("tr", {}, row.map((value, index) => el("td", { class: isText(names[index], index) ? null : "end" }, String(value))))))));
}

/** The kinds of databases in the order of the palette, which `space --svg` shares. */
const legend = ["records", "indexes", "relationships", "large binaries", "history", "other", "free"];
const parts = { records: 0, index: 1, relationship: 2, order: 2, largeBinaries: 3, history: 4, store: 5, free: 6 };

/** A treemap of the databases by size. */
function treemap(health) {
  const free = health.kinds.find((each) => each.name === "free");
  const all = [...health.databases, { title: "free", kind: "free", bytes: free ? free.bytes : 0 }]
    .filter((each) => each.bytes > 0).sort((a, b) => b.bytes - a.bytes);
  const [width, height] = [1000, 170];
  const total = all.reduce((sum, each) => sum + each.bytes, 0);
  const areas = squarify(all.map((each) => ({ ...each, area: each.bytes / total * width * height })), { x: 0, y: 0, width, height });
  const percent = (part, whole) => `${part / whole * 100}%`;
  return el("figure", { class: "treemap" }, el("div", {
    class: "areas", role: "img", "aria-label": all.slice(0, 20).map((each) => `${each.title} ${bytes(each.bytes)}`).join(", "),
  }, areas.map((each) => el("div", {
    class: `area part-${parts[each.kind]}`, title: `${each.title}: ${about(each)}${bytes(each.bytes)}`, style: {
      left: percent(each.x, width), top: percent(each.y, height), width: percent(each.width, width), height: percent(each.height, height),
    },
  }, el("span", {}, each.title), el("span", { class: "bytes" }, bytes(each.bytes))))),
  el("figcaption", {}, el("ul", { class: "legend keys" }, legend.map((name, index) => el("li", {},
    el("span", { class: `key part-${index}`, "aria-hidden": "true" }), el("span", {}, name))))));
}

/**
 * Divides a rectangle into areas, the largest first, each of which is approximately square (squarified
 * treemaps by Bruls, Huizing and van Wijk).
 */
function squarify(items, box) {
  const placed = [];
  let row = [];
  const worst = (list, side) => {
    const sum = list.reduce((all, each) => all + each.area, 0);
    return Math.max(...list.map((each) => Math.max(side * side * each.area / (sum * sum), sum * sum / (side * side * each.area))));
  };
  const lay = () => {
    const sum = row.reduce((all, each) => all + each.area, 0);
    const isTall = box.width >= box.height;
    const depth = sum / (isTall ? box.height : box.width);
    let along = isTall ? box.y : box.x;
    for (const each of row) {
      const length = each.area / depth;
      placed.push(isTall ? { ...each, x: box.x, y: along, width: depth, height: length }
        : { ...each, x: along, y: box.y, width: length, height: depth });
      along += length;
    }
    box = isTall ? { x: box.x + depth, y: box.y, width: box.width - depth, height: box.height }
      : { x: box.x, y: box.y + depth, width: box.width, height: box.height - depth };
    row = [];
  };
  for (const item of items) {
    const side = Math.min(box.width, box.height);
    if (row.length && worst([...row, item], side) > worst(row, side)) lay();
    row.push(item);
  }
  if (row.length) lay();
  return placed;
}

/** The file as a bar with a part for each kind of page. */
function spaceBar(health) {
  const all = Math.max(1, health.kinds.reduce((sum, each) => sum + each.bytes, 0));
  let x = 0;
  const parts = health.kinds.map((each, index) => {
    const width = each.bytes / all * 1000;
    const part = svg("rect", { x, y: 0, width, height: 40, class: `part part-${index}` },
      svg("title", {}, `${each.name}: ${about(each)}${bytes(each.bytes)}`));
    x += width;
    return part;
  });
  const words = health.kinds.map((each) => `${each.name} ${about(each)}${bytes(each.bytes)}`).join(", ");
  return el("figure", { class: "space-map" },
    svg("svg", { viewBox: "0 0 1000 40", preserveAspectRatio: "none", role: "img", "aria-label": words }, parts),
    el("figcaption", {}, el("ul", { class: "legend" }, health.kinds.map((each, index) =>
      el("li", {}, el("span", { class: `key part-${index}`, "aria-hidden": "true" }), el("span", {}, each.name),
        el("span", { class: "faint" }, `${about(each)}${bytes(each.bytes)} · ${Math.round(each.bytes / all * 100)} %`))))));
}
