// The columns of a table: visibility, order, width and pinning.
import { keep, kept } from "./settings.js";

const narrowest = 60;
const widest = 1200;

/** Reads the stored layout, ignoring invalid parts. */
function read(name) {
  const found = kept(name, {});
  const names = (list) => Array.isArray(list) ? list.filter((each) => typeof each === "string") : [];
  const widths = Array.isArray(found.widths) ? found.widths : [];
  return {
    order: names(found.order), hidden: new Set(names(found.hidden)), pinned: new Set(names(found.pinned)),
    widths: new Map(widths.filter((each) => Array.isArray(each) && Number.isFinite(each[1]))),
  };
}

/**
 * Creates the layout of columns, `{name, width, …}`, which is stored under a name.
 *
 * `changed` is called after each change.
 */
export function makeLayout(all, name) {
  let { order, hidden, pinned, widths } = read(name);
  function tell() {
    keep(name, { order, hidden: [...hidden], pinned: [...pinned], widths: [...widths] });
    layout.changed();
  }

  /** Returns all columns in order. New columns have the position that they have in the model. */
  function ordered() {
    const place = (column) => order.indexOf(column.name);
    const known = all.filter((column) => place(column) >= 0).sort((a, b) => place(a) - place(b));
    return all.map((column) => place(column) >= 0 ? known.shift() : column);
  }

  function columns() {
    const shown = ordered().filter((column) => !hidden.has(column.name));
    const list = shown.length ? shown : ordered().slice(0, 1);
    return [...list.filter((each) => pinned.has(each.name)), ...list.filter((each) => !pinned.has(each.name))]
      .map((column) => ({
        ...column, width: widths.get(column.name) ?? column.width,
        isPinned: pinned.has(column.name), isFixed: pinned.has(column.name) || widths.has(column.name),
      }));
  }

  function toggle(set, column, isIn) {
    if (isIn) set.add(column);
    else set.delete(column);
    tell();
  }

  const layout = {
    changed: () => {},
    get columns() { return columns(); },
    get all() { return ordered().map((column) => ({ name: column.name, isHidden: hidden.has(column.name) })); },
    hide: (column, isHidden) => toggle(hidden, column, isHidden),
    pin: (column, isPinned) => toggle(pinned, column, isPinned),
    resize(column, width) {
      widths.set(column, Math.round(Math.min(Math.max(narrowest, width), widest)));
      tell();
    },
    /** Moves a column to the position of another one. */
    move(column, target) {
      const names = columns().map((each) => each.name);
      const [from, to] = [names.indexOf(column), names.indexOf(target)];
      if (from < 0 || to < 0 || from === to) return;
      names.splice(from, 1);
      names.splice(to, 0, column);
      order = [...names, ...ordered().map((each) => each.name).filter((each) => !names.includes(each))];
      tell();
    },
    reset() {
      [order, hidden, pinned, widths] = [[], new Set(), new Set(), new Map()];
      tell();
    },
  };
  return layout;
}
