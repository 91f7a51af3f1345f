// How the file is: what it is made of, who reads it, and whether it is whole.
import { get, post } from "./api.js";
import { bytes, count, el, failure, milliseconds, plural, show, svg } from "./dom.js";

/** The view of the file's health. */
export async function healthView(main) {
  const health = await get("health");
  let timer = 0;
  let isOver = false;
  const check = el("div", { class: "check" });
  const card = (title, ...children) => el("section", { class: title === "Indexes" ? "card wide" : "card", "aria-label": title }, el("h2", {}, title), ...children);

  function showCheck(state) {
    if (state.state === "running") {
      const part = state.total ? state.done / state.total : 0;
      show(check, el("p", { role: "status" }, state.stage, state.total > 1 ? ` · ${count(state.done)} of ${count(state.total)}` : "…"),
        el("progress", { max: 1, value: state.total > 1 ? part : null, "aria-label": "Progress of the check" }));
      return;
    }
    const button = el("button", { type: "button", class: "primary", onclick: begin },
      state.state === "done" ? "Check again" : "Check the store");
    if (state.state === "none") {
      show(check, el("p", {}, "Compares every page, record, index entry and link. Others go on meanwhile."), button);
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

  show(main,
    card("Space", el("p", { class: "big" }, bytes(health.file)), spaceBar(health),
      el("p", { class: "faint" }, `Pages of ${bytes(health.pageSize)}. Compacting would give back ${bytes(health.reclaimable)}.`)),
    card("Check", check),
    card("Readers", health.readers.length ? table(["Process", "Transactions behind", "Pinned"],
      health.readers.map((each) => [each.process, count(each.behind), bytes(each.pinnedBytes)]))
      : el("p", { class: "empty" }, "Nobody holds a snapshot.")),
    card("Indexes", health.indexes.length ? table(["Index", "Columns", "Entries", "Size", "Uses"],
      health.indexes.map((each) => [
        each.isUnique ? `${each.name} (unique)` : each.name, each.columns.join(", "), count(each.entries),
        bytes(each.bytes), count(each.uses),
      ])) : el("p", { class: "empty" }, "The model has no indexes.")));
  await follow();
  return { end: () => { isOver = true; clearTimeout(timer); } };
}

function table(names, rows) {
  const isText = (name, index) => index === 0 || name === "Columns";
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": names[0] },
    el("table", {}, el("thead", {}, el("tr", {}, names.map((name, index) => el("th", { scope: "col", class: isText(name, index) ? null : "end" }, name)))),
      el("tbody", {}, rows.map((row) => el("tr", {}, row.map((value, index) => el("td", { class: isText(names[index], index) ? null : "end" }, String(value))))))));
}

/** The file as one bar, a part for each kind of page. */
function spaceBar(health) {
  const all = Math.max(1, health.kinds.reduce((sum, each) => sum + each.bytes, 0));
  let x = 0;
  const parts = health.kinds.map((each, index) => {
    const width = each.bytes / all * 1000;
    const part = svg("rect", { x, y: 0, width, height: 40, class: `part part-${index}` },
      svg("title", {}, `${each.name}: ${bytes(each.bytes)}`));
    x += width;
    return part;
  });
  const words = health.kinds.map((each) => `${each.name} ${bytes(each.bytes)}`).join(", ");
  return el("figure", { class: "space-map" },
    svg("svg", { viewBox: "0 0 1000 40", preserveAspectRatio: "none", role: "img", "aria-label": words }, parts),
    el("figcaption", {}, el("ul", { class: "legend" }, health.kinds.map((each, index) =>
      el("li", {}, el("span", { class: `key part-${index}`, "aria-hidden": "true" }), el("span", {}, each.name),
        el("span", { class: "faint" }, `${bytes(each.bytes)} · ${Math.round(each.bytes / all * 100)} %`))))));
}
