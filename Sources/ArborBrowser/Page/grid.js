// A table with any number of rows, of which only the visible ones are in the document.
import { debounce, el, show } from "./dom.js";
import { cell, text } from "./values.js";

const rowHeight = 32;
const pageSize = 100;
/** Web browsers give up on elements that are higher; longer tables scroll in proportion. */
const tallest = 8_000_000;
const mostPages = 60;

/**
 * Makes a table.
 *
 * `columns` are `{name, width, isNumber, canSort}`; `load` gives `{rows, next}` for an offset and,
 * where the page before is known, its token; the first value of a row is its name.
 *
 * The table is one stop of the Tab key, and arrow keys move among its cells, the names of the columns
 * included. `place` is the cell to begin with, as `place` of a former table gives it.
 */
export function makeGrid({ label, columns, load, open, sort, order, failed, place }) {
  let total = 0;
  let pages = new Map();
  let tokens = new Map();
  let waiting = new Map();
  /** The row that is marked; -1 for none, or for the names of the columns. */
  let selected = place ? place.row : -1;
  let chosen = place ? Math.min(place.column, columns.length - 1) : 0;
  let isInHead = Boolean(place && place.isInHead);
  /** How far the rows are scrolled, in pixels of all of them. */
  let top = 0;
  let lastScroll = 0;
  let isSettling = false;

  const template = columns.map((column) => `minmax(${column.width}px, ${column.width}fr)`).join(" ");
  const width = columns.reduce((sum, column) => sum + column.width, 0);
  const head = el("div", { class: "row head", role: "row", "aria-rowindex": 1 },
    columns.map((column, index) => headCell(column, index)));
  const body = el("div", { class: "rows", role: "rowgroup" });
  const space = el("div", { class: "space", role: "presentation" }, body);
  const heads = [...head.children];
  const element = el("div", {
    class: "grid", role: "grid", "aria-label": `${label}. Arrow keys move, Enter opens, and sorts in the first row.`, "aria-colcount": columns.length, tabindex: 0,
    style: { "--columns": template, "--width": `${width}px` },
  }, el("div", { class: "heads", role: "rowgroup" }, head), space);

  function headCell(column, index) {
    const direction = order === column.name ? "ascending"
      : order === `-${column.name}` ? "descending" : null;
    const attributes = {
      class: column.isNumber ? "cell end" : "cell", role: "columnheader", "aria-colindex": index + 1,
      id: `head-${index}`,
      "aria-sort": direction || (column.canSort ? "none" : null),
    };
    if (!column.canSort) return el("div", attributes, el("span", {}, column.name));
    const next = direction === "ascending" ? `-${column.name}` : direction ? "" : column.name;
    return el("div", attributes, el("button", {
      type: "button", tabindex: -1, title: `Sort by ${column.name}`, onclick: () => sort(next),
    }, column.name, el("span", { class: "arrow", "aria-hidden": "true" },
      direction === "ascending" ? "▲" : direction ? "▼" : "")));
  }

  const height = () => Math.max(0, element.clientHeight - rowHeight);
  const full = () => total * rowHeight;
  const spaceHeight = () => Math.min(full(), tallest);

  function setTotal(number) {
    total = number;
    element.setAttribute("aria-rowcount", total + 1);
    space.style.setProperty("height", `${spaceHeight()}px`);
    draw();
  }

  /** Small steps move by what they are, large ones to the part of the whole that they stand for. */
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

  /** Brings the scroll bar to where the rows are. */
  const settle = debounce(150, () => {
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

  function draw() {
    const first = Math.max(0, Math.floor(top / rowHeight) - 4);
    const last = Math.min(total, Math.ceil((top + height()) / rowHeight) + 4);
    const shown = [];
    for (let index = first; index < last; index++) shown.push(row(index));
    const shift = element.scrollTop - top + first * rowHeight;
    body.style.setProperty("transform", `translateY(${shift}px)`);
    show(body, shown);
    for (const [index, each] of heads.entries()) each.classList.toggle("current", isInHead && index === chosen);
    const current = isInHead ? `head-${chosen}` : `cell-${selected}-${chosen}`;
    if (isInHead || selected >= first && selected < last) element.setAttribute("aria-activedescendant", current);
    else element.removeAttribute("aria-activedescendant");
    want(first, last);
  }

  function row(index) {
    const page = pages.get(Math.floor(index / pageSize));
    const values = page && page[index % pageSize];
    const attributes = {
      class: `row${index === selected ? " selected" : ""}${values ? "" : " waiting"}`, role: "row",
      id: `row-${index}`, "aria-rowindex": index + 2, "aria-selected": index === selected,
      "data-index": index,
    };
    const cellOf = (column, place, title, content) => el("div", {
      class: `cell${column.isNumber ? " end" : ""}${index === selected && place === chosen && !isInHead ? " current" : ""}`,
      role: "gridcell", id: `cell-${index}-${place}`, "aria-colindex": place + 1, title,
    }, content);
    if (!values) {
      return el("div", attributes, columns.map((column, place) =>
        cellOf(column, place, null, el("span", { class: "bone" }))));
    }
    const made = el("div", attributes, columns.map((column, place) => cellOf(column, place,
      typeof values[place] === "string" && values[place].length > 20 ? text(values[place]) : null,
      place === 0 ? el("span", { class: "code" }, values[0]) : cell(values[place]))));
    // Links are reached with the arrow keys. As tab stops, they would be endless.
    for (const each of made.querySelectorAll("a")) each.tabIndex = -1;
    return made;
  }

  /** Loads the pages in sight; by the token of the page before where it is known. */
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
      else if (page * pageSize + answer.rows.length < total) total = page * pageSize + answer.rows.length;
      forget(page);
      draw();
    } catch (error) {
      if (error.name !== "AbortError" && store === pages) failed(error);
    } finally {
      if (waiting.get(page) === abort) waiting.delete(page);
    }
  }

  /** Keeps the pages near the one that was loaded last. */
  function forget(near) {
    if (pages.size <= mostPages) return;
    const far = [...pages.keys()].sort((a, b) => Math.abs(b - near) - Math.abs(a - near));
    for (const page of far.slice(0, pages.size - mostPages)) pages.delete(page);
  }

  function select(index, isShown = true) {
    if (!total) return;
    isInHead = false;
    selected = Math.min(Math.max(0, index), total - 1);
    if (isShown) {
      const y = selected * rowHeight;
      if (y < top) go(y);
      else if (y + rowHeight > top + height()) go(y + rowHeight - height());
    }
    draw();
  }

  /** Scrolls the rows to where `y` of all of them is. */
  function go(y) {
    top = Math.min(Math.max(0, y), Math.max(0, full() - height()));
    const most = Math.max(1, full() - height());
    element.scrollTop = full() === spaceHeight() ? top
      : Math.round(top / most * (spaceHeight() - height()));
    isSettling = element.scrollTop !== lastScroll;
    lastScroll = element.scrollTop;
  }

  /** Brings the current column into sight. */
  function showColumn() {
    const cells = element.querySelectorAll(".current");
    if (cells.length) cells[0].scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  function moveAside(step) {
    chosen = Math.min(Math.max(0, chosen + step), columns.length - 1);
    draw();
    showColumn();
  }

  function opened(index) {
    const page = pages.get(Math.floor(index / pageSize));
    const values = page && page[index % pageSize];
    if (values) open(values[0]);
  }

  element.addEventListener("scroll", scrolled);
  element.addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor(height() / rowHeight) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -total, End: total };
    if (event.target !== element || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowUp" && selected <= 0) {
      isInHead = true;
      selected = -1;
      draw();
    } else if (event.key in steps) {
      select((selected < 0 && steps[event.key] > 0 ? -1 : selected) + steps[event.key]);
    } else if (event.key === "ArrowLeft") moveAside(-1);
    else if (event.key === "ArrowRight") moveAside(1);
    else if ((event.key === "Enter" || event.key === " ") && isInHead) {
      const button = heads[chosen].querySelector("button");
      if (button) button.click();
    } else if (event.key === "Enter" && selected >= 0) {
      const current = document.getElementById(`cell-${selected}-${chosen}`);
      const link = current && current.querySelector("a");
      if (link) link.click();
      else opened(selected);
    } else return;
    event.preventDefault();
  });
  body.addEventListener("click", (event) => {
    const found = event.target.closest("[data-index]");
    if (!found || event.target.closest("a")) return;
    const place = [...found.children].findIndex((each) => each.contains(event.target));
    chosen = Math.max(0, place);
    select(Number(found.dataset.index), false);
    opened(selected);
  });
  const observer = new ResizeObserver(() => draw());
  observer.observe(element);

  return {
    element, setTotal, select,
    get total() { return total; },
    get place() { return { row: selected, column: chosen, isInHead }; },
    /** Forgets what was loaded. */
    reload(number) {
      for (const abort of waiting.values()) abort.abort();
      [pages, tokens, waiting] = [new Map(), new Map(), new Map()];
      setTotal(number);
    },
    end() {
      observer.disconnect();
      for (const abort of waiting.values()) abort.abort();
    },
  };
}
