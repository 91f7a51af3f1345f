// The result table shared by the views: a grid with menus for its columns and rows.
import { chooseColumns, columnMenu } from "./columnmenu.js";
import { copyCell, copyMenu, copyRows, sources } from "./copy.js";
import { el, notify } from "./dom.js";
import { exportButton } from "./export.js";
import { makeGrid } from "./grid.js";
import { makeLayout } from "./layout.js";
import { openMenu } from "./menu.js";

const widths = {
  boolean: 90, integer16: 90, integer32: 110, integer64: 130, float: 110, double: 120,
  decimal: 140, date: 210, uuid: 320, binary: 130, uri: 240, string: 220,
};
const numbers = ["integer16", "integer32", "integer64", "float", "double", "decimal"];

/** Returns the column of objects' names. */
export function identityColumn(href) {
  return { name: "@id", index: 0, width: 170, canSort: false, href };
}

/** Returns the column of an attribute or relationship. */
export function propertyColumn(property, index) {
  const isRelationship = "isToMany" in property;
  const { type } = property;
  return {
    name: property.name, index, property,
    width: isRelationship ? (property.isToMany ? 130 : 190) : widths[type] || 180,
    isNumber: numbers.includes(type),
    canSort: !isRelationship && !["binary", "json", "undefined"].includes(type) && !type.includes("("),
  };
}

/**
 * Creates a table.
 *
 * In addition to the options of a grid, `columns` are the columns, and `key` is the name under which their
 * layout is stored. `filter` is called with a condition created by a menu; `values` returns the frequent
 * values of a property. `entity` is the entity of the rows' objects, or `null` if they aren't objects.
 * `exported` returns the name and the parameters of an export of all rows with the visible columns.
 */
export function makeTable({ columns, key, entity, filter, values, exported, ...options }) {
  const layout = makeLayout(columns, key);
  const maximumCopiedRows = 1000;

  /** Returns the content to copy: the current cell and the selected rows. */
  async function marked() {
    const rows = await grid.markedRows(maximumCopiedRows);
    if (grid.markedCount > maximumCopiedRows) notify(`Only the first ${maximumCopiedRows} rows are copied. Export saves all of them.`);
    return { rows, columns: layout.columns, entity, column: grid.column };
  }

  function menu({ column, anchor }) {
    const back = grid.element;
    if (column) {
      columnMenu({ column, layout, anchor, back, sort: options.sort, filter, values });
    } else {
      openMenu({
        label: "Copy", anchor, back,
        content: (close) => copyMenu({ marked, count: grid.markedCount, hasObjects: Boolean(entity), column: grid.column, close }),
      });
    }
  }

  const grid = makeGrid({
    ...options, layout, menu,
    copy: async () => (grid.markedCount > 1 ? copyRows("csv", await marked()) : copyCell("text", await marked())),
  });
  return Object.assign(grid, {
    /** The button that opens the menu of columns. */
    columnsButton: el("button", {
      type: "button", class: "quiet", "aria-haspopup": "dialog",
      onclick: (event) => chooseColumns({ layout, anchor: event.currentTarget, back: event.currentTarget }),
    }, "Columns"),
    /** The button that exports all rows. */
    exportButton: exported ? exportButton(() => exported(sources(layout.columns))) : null,
  });
}
