// One entity of two models, with what differs.
import { el } from "./dom.js";
import { sign } from "./diagram.js";

/** The properties of an entity that differ, each with its changes in words. */
export function differenceView(entity, close) {
  const parts = [...entity.attributes, ...entity.relationships].filter((each) => each.mark);
  return [
    el("header", {}, el("div", {}, el("p", { class: "faint" }, entity.mark ? `${entity.mark} entity` : "equal in both models"), el("h2", {}, entity.name)),
      el("button", { type: "button", class: "close quiet", "aria-label": "Close", onclick: close }, "✕")),
    entity.notes.map((note) => el("p", {}, note)),
    parts.length ? el("h3", {}, "Properties") : null,
    el("dl", { class: "values" }, parts.map((each) => [
      el("dt", { class: each.mark }, sign(each.mark) + each.name), el("dd", {}, [each.mark, each.type, ...each.notes].join(", ")),
    ])),
  ];
}
