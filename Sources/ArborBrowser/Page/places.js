// The positions of the boxes of a schema: columns by default, or where the user has moved them.

import { keep, kept } from "./settings.js";

/** Returns the stored positions for a store, by entity name. */
export function keptPlaces(store) {
  const places = Object.entries(kept(`schema ${store}`, {}));
  return new Map(places.filter(([, place]) => Number.isFinite(place?.x) && Number.isFinite(place?.y)));
}

/** Stores the positions for a store. An empty map removes them. */
export function keepPlaces(store, places) { keep(`schema ${store}`, Object.fromEntries(places)); }

export const boxWidth = 250;
const gap = { x: 110, y: 56 };
/** The minimum distance between boxes, which leaves space for lines. */
const apart = 40;

/** Returns the entities in breadth-first order of their links, from the one with the most links. */
function ordered(names, links) {
  const near = new Map(names.map((each) => [each, []]));
  for (const link of links) {
    if (link.from === link.to || !near.has(link.from) || !near.has(link.to)) continue;
    near.get(link.from).push(link.to);
    near.get(link.to).push(link.from);
  }
  const order = new Set();
  for (const root of [...names].sort((a, b) => near.get(b).length - near.get(a).length)) {
    const queue = [root];
    while (queue.length) {
      const name = queue.shift();
      if (order.has(name)) continue;
      order.add(name);
      queue.push(...near.get(name));
    }
  }
  return [...order];
}

/** Lays out an entity above its subentities as a block of boxes, at most `most` columns wide. */
function tree(name, children, heights, most) {
  const boxes = new Map();
  let top = heights.get(name) + gap.y;
  let width = 1;
  let row = { columns: 0, height: 0 };
  for (const block of (children.get(name) || []).map((child) => tree(child, children, heights, most))) {
    if (row.columns && row.columns + block.columns > most) {
      top += row.height + gap.y;
      row = { columns: 0, height: 0 };
    }
    for (const [child, place] of block.boxes) {
      boxes.set(child, { x: place.x + row.columns * (boxWidth + gap.x), y: place.y + top });
    }
    row = { columns: row.columns + block.columns, height: Math.max(row.height, block.height) };
    width = Math.max(width, row.columns);
  }
  boxes.set(name, { x: (width - 1) * (boxWidth + gap.x) / 2, y: 0 });
  return { boxes, columns: width, height: children.has(name) ? top + row.height : heights.get(name) };
}

/**
 * Places boxes in columns, each inheritance tree as one block, so that related entities are adjacent.
 * `heights` is a map by name; links have `from`, `to` and `kind`.
 */
export function layOut(heights, links, width) {
  const names = [...heights.keys()];
  const children = new Map();
  const inherits = links.filter((link) => link.kind === "inherits" && heights.has(link.from) && heights.has(link.to));
  for (const link of inherits) children.set(link.to, [...(children.get(link.to) || []), link.from]);
  const below = new Set(inherits.map((link) => link.from));
  const sum = [...heights.values()].reduce((all, each) => all + each + gap.y, 0);
  const fitting = Math.max(1, Math.floor((width + gap.x) / (boxWidth + gap.x)));
  const square = Math.max(1, Math.round(Math.sqrt(sum / (boxWidth + gap.x) * (width > 700 ? 1.6 : 0.6))));
  const number = Math.min(names.length, Math.max(square, Math.min(fitting, 2)));
  const tops = new Array(number).fill(0);
  const boxes = new Map();
  for (const name of ordered(names, links).filter((each) => !below.has(each))) {
    const block = tree(name, children, heights, number);
    const span = Math.min(block.columns, number);
    let [column, top] = [0, Infinity];
    for (let first = 0; first + span <= number; first++) {
      const needed = Math.max(...tops.slice(first, first + span));
      if (needed < top) [column, top] = [first, needed];
    }
    for (const [each, place] of block.boxes) {
      boxes.set(each, { x: column * (boxWidth + gap.x) + place.x, y: top + place.y, width: boxWidth, height: heights.get(each) });
    }
    tops.fill(top + block.height + gap.y, column, column + span);
  }
  return boxes;
}

function overlaps(one, other) {
  return one.x < other.x + other.width + apart && other.x < one.x + one.width + apart
    && one.y < other.y + other.height + apart && other.y < one.y + one.height + apart;
}

/** Moves a box to the nearest position at the minimum distance from all others. */
export function settle(box, others) {
  const isFree = (x, y) => !others.some((each) => overlaps({ ...box, x, y }, each));
  for (let reach = 0; reach < 400; reach++) {
    const step = reach * 20;
    for (const [dx, dy] of [[0, step], [step, 0], [0, -step], [-step, 0], [step, step], [-step, step], [step, -step], [-step, -step]]) {
      if (!isFree(box.x + dx, box.y + dy)) continue;
      box.x += dx;
      box.y += dy;
      return;
    }
  }
}
