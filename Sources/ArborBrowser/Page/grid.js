// A table with any number of rows. Only the visible rows are in the document.
import { debounce, el, show } from "./dom.js";
import { makeHead } from "./head.js";
import { cell, text } from "./values.js";

const rowHeight = 32;
const pageSize = 100;
/** Web browsers limit the height of elements, so longer tables scroll proportionally. */
const tallest = 8_000_000;
const maximumPages = 60;

/**
 * Creates a table.
 *
 * `layout` contains the columns, `{name, index, width, isNumber, canSort, href}`, where `index` is the
 * position of the value in a row. `load` returns `{rows, next}` for an offset and, if the preceding page
 * is known, its token. The first value of a row is the row's name.
 *
 * The table is a single tab stop. Arrow keys move between its cells, including the column headers.
 * `place` is the initial cell, as returned by `place` of a former table; `moved` is called with each new
 * one. `menu` shows the menu of a column, or without a column that of the rows.
 */
export function makeGrid({ label, layout, load, open, sort, order, failed, place, moved, menu, copy }) {
  let total = 0;
  let pages = new Map();
  let tokens = new Map();
  let waiting = new Map();
  let columns = layout.columns;
  /** The selected row; -1 for none, or if the current cell is a column header. */
  let selected = place ? place.row : -1;
  /** The other end of the selected rows, which end with `selected`. */
  let anchor = selected;
  let chosen = place ? Math.min(place.column, columns.length - 1) : 0;
  let isInHead = Boolean(place && place.isInHead);
  /** The object in the address. */
  let named = "";
  /** The scroll offset in pixels, as if all rows were in the document. */
  let top = 0;
  let lastScroll = 0;
  let isSettling = false;
  let wantedTop = place ? place.top : 0;

  const body = el("div", { class: "rows", role: "rowgroup" });
  const space = el("div", { class: "space", role: "presentation" }, body);
  const heads = el("div", { class: "heads", role: "rowgroup" });
  const element = el("div", {
    class: "grid", role: "grid", tabindex: 0, "aria-multiselectable": "true",
    "aria-label": `${label}. Arrow keys move, Enter opens a cell or sorts by a column header, Shift F10 opens a menu.`,
  }, heads, space);

  function arrange() {
    const current = columns[chosen] && columns[chosen].name;
    columns = layout.columns;
    chosen = Math.max(0, columns.findIndex((column) => column.name === current));
    element.setAttribute("aria-colcount", columns.length);
    element.style.setProperty("--columns", columns.map((column) =>
      column.isFixed ? `${column.width}px` : `minmax(${column.width}px, ${column.width}fr)`).join(" "));
    element.style.setProperty("--width", `${columns.reduce((sum, column) => sum + column.width, 0)}px`);
    let left = 0;
    for (const column of columns.filter((each) => each.isPinned)) {
      column.left = `${left}px`;
      left += column.width;
    }
    show(heads, makeHead({
      columns, layout, order, sort, menu: (column, place) => menu({ column, anchor: place }),
    }));
    draw();
  }
  layout.changed = arrange;

  const height = () => Math.max(0, element.clientHeight - rowHeight);
  const full = () => total * rowHeight;
  const spaceHeight = () => Math.min(full(), tallest);

  function setTotal(number) {
    total = number;
    element.setAttribute("aria-rowcount", total + 1);
    space.style.setProperty("height", `${spaceHeight()}px`);
    if (wantedTop && total) {
      go(wantedTop);
      wantedTop = 0;
    }
    draw();
  }

  /** Small steps scroll by their distance in pixels, large ones to the proportional position. */
  function scrolled() {
    if (isSettling) { isSettling = false; return; }
    const now = element.scrollTop;
    const most = Math.max(1, spaceHeight() - height());
    if (full() === spaceHeight()) top = now;
    else if (now <= 0) top = 0;
    else if (now >= most) top = full() - height();
    else if (Math.abs(now - lastScroll) < height()) {
      top = Math.min(Math.max(0, top + now - lastScroll), full() - height());
    } else top = now / most * (full() - height());
    lastScroll = now;
    draw();
    settle();
  }

  /** Moves the scroll bar to the position of the rows. */
  const settle = debounce(150, () => {
    if (!element.isConnected) return;
    tell();
    if (full() === spaceHeight()) return;
    const most = spaceHeight() - height();
    let wanted = Math.round(top / Math.max(1, full() - height()) * most);
    if (top > 0 && top < full() - height()) wanted = Math.min(Math.max(1, wanted), most - 1);
    if (Math.abs(wanted - element.scrollTop) >= 1) {
      isSettling = true;
      element.scrollTop = wanted;
      lastScroll = element.scrollTop;
    }
    draw();
  });

  const here = () => ({ row: selected, column: chosen, isInHead, top });

  function tell() {
    if (moved) moved(here());
  }

  const isMarked = (index) => selected >= 0 && index >= Math.min(anchor, selected) && index <= Math.max(anchor, selected);

  function draw() {
    const first = Math.max(0, Math.floor(top / rowHeight) - 4);
    const last = Math.min(total, Math.ceil((top + height()) / rowHeight) + 4);
    const shown = [];
    for (let index = first; index < last; index++) shown.push(row(index));
    const shift = element.scrollTop - top + first * rowHeight;
    body.style.setProperty("transform", `translateY(${shift}px)`);
    show(body, shown);
    const names = [...heads.querySelectorAll(".cell")];
    for (const [index, each] of names.entries()) each.classList.toggle("current", isInHead && index === chosen);
    const current = isInHead ? `head-${chosen}` : `cell-${selected}-${chosen}`;
    if (isInHead || selected >= first && selected < last) element.setAttribute("aria-activedescendant", current);
    else element.removeAttribute("aria-activedescendant");
    want(first, last);
  }

  const valuesAt = (index) => (pages.get(Math.floor(index / pageSize)) || [])[index % pageSize];

  function row(index) {
    const values = valuesAt(index);
    const isNamed = Boolean(values && named && values[0] === named);
    const attributes = {
      class: `row${isMarked(index) ? " selected" : ""}${isNamed ? " named" : ""}${values ? "" : " waiting"}`, role: "row",
      id: `row-${index}`, "aria-rowindex": index + 2, "aria-selected": String(isMarked(index)),
      "aria-current": isNamed ? "true" : null, "data-index": index,
    };
    const made = el("div", attributes, columns.map((column, place) => {
      const value = values && values[column.index];
      const isCurrent = index === selected && place === chosen && !isInHead;
      return el("div", {
        class: `cell${column.isNumber ? " end" : ""}${column.isPinned ? " pinned" : ""}${isCurrent ? " current" : ""}`,
        role: "gridcell", id: `cell-${index}-${place}`, "aria-colindex": place + 1,
        title: typeof value === "string" && value.length > 20 ? text(value) : null,
        style: column.isPinned ? { left: column.left } : null,
      }, values ? content(column, value) : el("span", { class: "bone" }));
    }));
    // Links are reached with the arrow keys. There are too many of them to be tab stops.
    for (const each of made.querySelectorAll("a")) each.tabIndex = -1;
    return made;
  }

  function content(column, value) {
    if (!column.href || typeof value !== "string") return cell(value);
    return el("a", { class: "code object", href: column.href(value) }, value);
  }

  /** Loads the visible pages, by the token of the preceding page if it is known. */
  function want(first, last) {
    if (last <= first) return;
    const from = Math.floor(first / pageSize);
    const to = Math.floor((last - 1) / pageSize);
    for (const [page, abort] of waiting) {
      if (page < from - 1 || page > to + 1) { abort.abort(); waiting.delete(page); }
    }
    for (let page = from; page <= to; page++) {
      if (!pages.has(page) && !waiting.has(page)) fetchPage(page);
    }
  }

  async function fetchPage(page) {
    const abort = new AbortController();
    waiting.set(page, abort);
    const store = pages;
    try {
      const answer = await load({
        offset: tokens.has(page) ? 0 : page * pageSize, limit: pageSize, token: tokens.get(page),
        signal: abort.signal,
      });
      if (store !== pages) return;
      pages.set(page, answer.rows);
      if (answer.next) tokens.set(page + 1, answer.next);
      else if (answer.rows.length < pageSize) total = Math.min(total, page * pageSize + answer.rows.length);
      forget(page);
      draw();
    } catch (error) {
      if (error.name !== "AbortError" && store === pages) failed(error);
    } finally {
      if (waiting.get(page) === abort) waiting.delete(page);
    }
  }

  /** If too many pages are loaded, discards those farthest from the most recent one. */
  function forget(near) {
    if (pages.size <= maximumPages) return;
    const far = [...pages.keys()].sort((a, b) => Math.abs(b - near) - Math.abs(a - near));
    for (const page of far.slice(0, pages.size - maximumPages)) pages.delete(page);
  }

  function select(index, { isShown = true, extends: isExtended = false } = {}) {
    if (!total) return;
    isInHead = false;
    selected = Math.min(Math.max(0, index), total - 1);
    if (!isExtended || anchor < 0) anchor = selected;
    if (isShown) {
      const y = selected * rowHeight;
      if (y < top) go(y);
      else if (y + rowHeight > top + height()) go(y + rowHeight - height());
    }
    draw();
    tell();
  }

  /** Scrolls the rows to the offset `y`. */
  function go(y) {
    top = Math.min(Math.max(0, y), Math.max(0, full() - height()));
    const most = Math.max(1, full() - height());
    element.scrollTop = full() === spaceHeight() ? top
      : Math.round(top / most * (spaceHeight() - height()));
    isSettling = element.scrollTop !== lastScroll;
    lastScroll = element.scrollTop;
  }

  /** Scrolls to the current column. */
  function showColumn() {
    const cells = element.querySelectorAll(".current");
    if (cells.length) cells[0].scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  function moveAside(step) {
    chosen = Math.min(Math.max(0, chosen + step), columns.length - 1);
    draw();
    showColumn();
  }

  /** Returns the selected rows. Reloads those that have been discarded. */
  async function markedRows(most) {
    if (selected < 0) return [];
    const [first, last] = [Math.min(anchor, selected), Math.max(anchor, selected)];
    const rows = [];
    for (let index = first; index <= Math.min(last, first + most - 1); index++) {
      if (!valuesAt(index)) {
        const page = Math.floor(index / pageSize);
        pages.set(page, (await load({ offset: page * pageSize, limit: pageSize })).rows);
      }
      if (valuesAt(index)) rows.push(valuesAt(index));
    }
    return rows;
  }

  function showMenu() {
    const current = element.querySelector(".current") || element;
    if (isInHead) menu({ column: columns[chosen], anchor: current });
    else if (selected >= 0) menu({ anchor: current });
  }

  /** Handles the keys of column headers. Returns whether the key was one of them. */
  function answersInHead(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const column = columns[chosen];
    if (step && event.shiftKey) layout.resize(column.name, column.width + step * 20);
    else if (step && event.ctrlKey) {
      const next = columns[chosen + step];
      if (next) layout.move(column.name, next.name);
    } else if (event.key === "ArrowDown" && event.altKey) showMenu();
    else if (event.key === "Enter" || event.key === " ") {
      const button = heads.querySelectorAll(".cell")[chosen].querySelector("button.name");
      if (button) button.click();
    } else return false;
    showColumn();
    return true;
  }

  function answers(event) {
    if (event.key === "ContextMenu" || event.key === "F10" && event.shiftKey) {
      showMenu();
      return true;
    }
    const page = Math.max(1, Math.floor(height() / rowHeight) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -total, End: total };
    if (isInHead && answersInHead(event)) return true;
    if (event.ctrlKey || event.metaKey || event.altKey) return answersWithControl(event);
    if (event.key === "ArrowUp" && selected <= 0 && !event.shiftKey) {
      isInHead = true;
      selected = anchor = -1;
      draw();
    } else if (event.key in steps) {
      select((selected < 0 && steps[event.key] > 0 ? -1 : selected) + steps[event.key], { extends: event.shiftKey });
    } else if (event.key === "ArrowLeft") moveAside(-1);
    else if (event.key === "ArrowRight") moveAside(1);
    else if (event.key === "Enter" && selected >= 0) {
      const link = currentLink();
      if (link) link.click();
      else opened(selected);
    } else return false;
    return true;
  }

  function answersWithControl(event) {
    if (event.altKey) return false;
    if (event.key === "a" && total) {
      anchor = 0;
      selected = total - 1;
      draw();
    } else if (event.key === "c" && selected >= 0 && !String(getSelection())) copy();
    else if (event.key === "Enter" && currentLink()) window.open(currentLink().href, "_blank", "noopener");
    else return false;
    return true;
  }

  function currentLink() {
    const current = document.getElementById(`cell-${selected}-${chosen}`);
    return current && current.querySelector("a");
  }

  function opened(index) {
    const values = valuesAt(index);
    if (values && open) open(values[0]);
  }

  element.addEventListener("scroll", scrolled);
  element.addEventListener("keydown", (event) => {
    if (event.target === element && answers(event)) event.preventDefault();
  });
  element.addEventListener("contextmenu", (event) => {
    const found = event.target.closest("[data-index], .head .cell");
    if (found) point(event, found);
    else if (event.target !== element) return;
    event.preventDefault();
    showMenu();
  });
  body.addEventListener("click", (event) => {
    const found = event.target.closest("[data-index]");
    if (!found) return;
    const isLink = event.target.closest("a");
    if (isLink && (event.ctrlKey || event.metaKey || event.shiftKey)) return;
    point(event, found);
    if (!isLink && !event.shiftKey) opened(selected);
  });

  /** Selects the cell under the pointer. */
  function point(event, found) {
    const cells = [...found.parentElement.children];
    if (!found.dataset.index) {
      [chosen, isInHead, selected, anchor] = [cells.indexOf(found), true, -1, -1];
      return draw();
    }
    const index = Number(found.dataset.index);
    chosen = Math.max(0, [...found.children].findIndex((each) => each.contains(event.target)));
    if (event.type === "contextmenu" && isMarked(index)) {
      isInHead = false;
      return draw();
    }
    select(index, { isShown: false, extends: event.shiftKey });
  }

  const observer = new ResizeObserver(() => draw());
  observer.observe(element);
  arrange();

  return {
    element, setTotal, select, markedRows,
    get total() { return total; },
    /** Discards all pages and loads the visible ones. */
    reload() {
      for (const abort of waiting.values()) abort.abort();
      [pages, tokens, waiting] = [new Map(), new Map(), new Map()];
      draw();
    },
    get place() { return here(); },
    get column() { return columns[chosen]; },
    get markedCount() { return selected < 0 ? 0 : Math.abs(selected - anchor) + 1; },
    /** Returns to an earlier place. */
    restore(former) {
      [selected, anchor, isInHead] = [former.row, former.row, former.isInHead];
      go(former.top);
      draw();
    },
    /** Highlights the row of an object, which is at `index`. */
    name(id, index) {
      named = id;
      if (index === undefined) return draw();
      select(index, { isShown: false });
      const y = index * rowHeight;
      if (y < top || y + rowHeight > top + height()) go(y - height() / 2);
      draw();
      tell();
    },
    nameAt: (index) => (valuesAt(index) || [])[0],
    end() {
      observer.disconnect();
      for (const abort of waiting.values()) abort.abort();
    },
  };
}
