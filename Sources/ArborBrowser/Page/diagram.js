// The contents of a schema diagram: the lines of boxes, the links between them, and their export.
import { svg } from "./dom.js";

export const lineHeight = 20;
export const headHeight = 46;
const maximumLines = 14;

/** Returns the lines of a box: the entity's own properties, truncated if there are many. */
export function lines(entity) {
  const all = [
    ...entity.attributes.filter((each) => each.isOwn).map((each) => ({
      name: each.name, type: each.type + (each.isOptional ? "?" : ""), kind: "attribute", mark: each.mark,
    })),
    ...entity.relationships.filter((each) => each.isOwn).map((each) => ({
      name: each.name, type: each.isToMany ? `[${each.destination}]` : each.destination, kind: "relationship", mark: each.mark,
    })),
  ];
  if (all.length <= maximumLines) return all;
  return [...all.slice(0, maximumLines - 1), { name: `… ${all.length - maximumLines + 1} more`, type: "", kind: "more" }];
}

/** The sign of a difference, before a name; empty for what is equal. */
export function sign(mark) {
  return { added: "+ ", removed: "− ", changed: "~ " }[mark] || "";
}

/** What the signs mean. */
export const legend = ["added", "removed", "changed"].map((mark) => ({ mark, text: sign(mark) + mark }));

export function heightOf(entity) {
  return headHeight + lines(entity).length * lineHeight + 12;
}

/** Returns the height at which a line meets a box: that of the property it represents. */
export function lineTop(entity, property) {
  const index = lines(entity).findIndex((each) => each.kind === "relationship" && each.name === property);
  return index < 0 ? 24 : headHeight + 10 + index * lineHeight;
}

/** Returns the links: pairs of relationships and their inverses, and inheritance. */
export function edges(entities) {
  const byName = new Map(entities.map((each) => [each.name, each]));
  const seen = new Map();
  const found = [];
  for (const entity of entities) {
    if (byName.has(entity.parent)) found.push({ from: entity.name, to: entity.parent, kind: "inherits", label: "is a", mark: entity.mark === "changed" ? null : entity.mark });
    for (const each of entity.relationships.filter((relationship) => relationship.isOwn)) {
      const names = [`${entity.name}.${each.name}`, `${each.destination}.${each.inverse}`];
      const key = each.inverse ? names.sort().join(" ") : names[0];
      // A line is marked if either direction is.
      if (seen.has(key) && each.mark) seen.get(key).mark ??= each.mark;
      if (seen.has(key) || !byName.has(each.destination)) continue;
      const inverse = byName.get(each.destination).relationships.find((one) => one.name === each.inverse);
      found.push({
        from: entity.name, to: each.destination, kind: "relationship", property: each.name, inverse: each.inverse,
        label: sign(each.mark) + (each.inverse ? `${each.name} / ${each.inverse}` : each.name), mark: each.mark,
        fromMany: Boolean(inverse && inverse.isToMany), toMany: each.isToMany,
      });
      seen.set(key, found.at(-1));
    }
  }
  return found;
}

const style = `
svg { background: #fff }
text { font: 12.5px system-ui, sans-serif; fill: #17201b }
.name { font-weight: 650; font-size: 14px } .size { font-size: 11px; fill: #56635b }
.type { font: 11.5px ui-monospace, monospace; fill: #56635b } .relationship { fill: #145a86 } .more { font-style: italic }
.frame { fill: #fff; stroke: #b9c4bc } .band { fill: #e1f1e7 } .abstract .frame { stroke-dasharray: 5 4 }
.edge path { fill: none; stroke: #7d8c82; stroke-width: 1.6 } .edge .arrow { fill: #fff }
.edge text, .far-name { display: none }
.added > .frame { stroke: #17673f; stroke-width: 2 } .removed > .frame { stroke: #a3231b; stroke-dasharray: 5 4 } .changed > .frame { stroke: #7a4b00; stroke-width: 2 }
text.added { fill: #17673f } text.removed { fill: #a3231b } text.changed { fill: #7a4b00 }
.edge.added path { stroke: #17673f } .edge.removed path { stroke: #a3231b; stroke-dasharray: 3 3 } .edge.changed path { stroke: #7a4b00 }
`;

/** Returns a scene as a standalone SVG document, with a legend of the signs of differences if `hasLegend`. */
export function standalone(scene, extent, hasLegend) {
  const space = 40;
  const root = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const size = [extent.right - extent.left + 2 * space, extent.bottom - extent.top + 2 * space];
  root.setAttribute("viewBox", `${extent.left - space} ${extent.top - space} ${size.join(" ")}`);
  root.setAttribute("width", size[0]);
  root.setAttribute("height", size[1]);
  const copy = scene.cloneNode(true);
  copy.removeAttribute("transform");
  copy.removeAttribute("class");
  for (const each of copy.querySelectorAll("[tabindex]")) {
    for (const name of ["tabindex", "role"]) each.removeAttribute(name);
    each.classList.remove("dim", "chosen");
  }
  if (hasLegend) {
    copy.append(...legend.map(({ mark, text }, index) =>
      svg("text", { class: `legend ${mark}`, x: extent.left + index * 110, y: extent.top - space / 2 }, text)));
  }
  root.append(copy);
  const text = new XMLSerializer().serializeToString(root);
  // The style is added as text, because this page's policy forbids style elements in its document.
  return text.replace(">", `><style>${style}</style>`);
}
