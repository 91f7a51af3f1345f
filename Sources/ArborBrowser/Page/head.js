// The column headers of a table: click to sort, drag to move, drag the edge to resize.
import { el } from "./dom.js";

/** Creates the row of headers. `menu` is called with a column and its menu button. */
export function makeHead({ columns, layout, order, sort, menu }) {
  const cells = columns.map((column, index) => headCell(column, index, { layout, order, sort, menu }));
  return el("div", { class: "row head", role: "row", "aria-rowindex": 1 }, cells);
}

function headCell(column, index, { layout, order, sort, menu }) {
  const direction = order === column.name ? "ascending"
    : order === `-${column.name}` ? "descending" : null;
  const next = direction === "ascending" ? `-${column.name}` : direction ? "" : column.name;
  const arrow = el("span", { class: "arrow", "aria-hidden": "true" },
    direction === "ascending" ? "▲" : direction ? "▼" : "");
  const name = column.canSort ? el("button", {
    type: "button", class: "name", tabindex: -1, title: `Sort by ${column.name}`, onclick: () => sort(next),
  }, column.name, arrow) : el("span", { class: "name", title: column.name }, column.name);
  const cell = el("div", {
    class: `cell${column.isNumber ? " end" : ""}${column.isPinned ? " pinned" : ""}`, role: "columnheader",
    id: `head-${index}`, "aria-colindex": index + 1, "aria-sort": direction || (column.canSort ? "none" : null),
    draggable: "true", style: column.isPinned ? { left: column.left } : null,
  }, name, el("button", {
    type: "button", class: "more", tabindex: -1, "aria-label": `Menu of ${column.name}`,
    onclick: (event) => menu(column, event.currentTarget),
  }, "⋮"), grip(column, layout));
  canBeMoved(cell, column, layout);
  return cell;
}

/** The name of the column that is being dragged. */
let moving = null;
/** The initial position of the column edge that is being dragged. */
let pulled = null;

function canBeMoved(cell, column, layout) {
  cell.addEventListener("dragstart", (event) => {
    // The edge is being dragged, not the column.
    if (pulled) return event.preventDefault();
    moving = column.name;
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", column.name);
  });
  cell.addEventListener("dragover", (event) => { if (moving !== null) event.preventDefault(); });
  cell.addEventListener("drop", (event) => {
    event.preventDefault();
    if (moving !== null) layout.move(moving, column.name);
  });
  cell.addEventListener("dragend", () => { moving = null; });
}

/** The edge of a column. */
function grip(column, layout) {
  const pull = (event) => layout.resize(column.name, pulled.width + event.clientX - pulled.x);
  const end = () => {
    pulled = null;
    window.removeEventListener("pointermove", pull);
    window.removeEventListener("pointerup", end);
  };
  return el("span", {
    class: "grip", "aria-hidden": "true",
    onpointerdown: (event) => {
      event.preventDefault();
      pulled = { x: event.clientX, width: event.target.parentElement.getBoundingClientRect().width };
      // On the window, because the row of headers is recreated meanwhile.
      window.addEventListener("pointermove", pull);
      window.addEventListener("pointerup", end);
    },
  });
}
