// Copies cells and rows. Objects are copied by the server, because the table truncates their values.
import { post } from "./api.js";
import { notify, plural } from "./dom.js";
import { item } from "./menu.js";

/** Returns a value of a row that isn't an object as plain JSON. */
function plain(value) {
  if (value === null || typeof value !== "object") return value;
  if ("text" in value || "binary" in value) throw new Error("A value is too long to copy from here. Select fewer columns.");
  if ("list" in value) return value.list.map(plain);
  if ("parts" in value) return Object.fromEntries(Object.entries(value.parts).map(([name, part]) => [name, plain(part)]));
  return Object.values(value)[0];
}

function csvField(value) {
  if (value === null) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return /^$|^\s|\s$|[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Returns rows of values that aren't objects as text. */
function rowText(format, rows, columns) {
  const values = rows.map((row) => columns.map((column) => plain(row[column.index])));
  const names = columns.map((column) => column.name);
  if (format === "csv") return [names, ...values].map((row) => row.map(csvField).join(",") + "\n").join("");
  const objects = values.map((row) => Object.fromEntries(row.map((value, index) => [names[index], value])));
  return JSON.stringify(objects.length === 1 ? objects[0] : objects, null, 2);
}

async function write(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    notify(`Copied ${what}.`);
  } catch {
    notify("The web browser doesn't allow copying. Allow it for this page, or export the rows.", "error");
  }
}

/** Returns a column's name on the server, or an empty string for the names of objects. */
export const sources = (columns) => columns.filter((column) => !column.href).map((column) => column.source || column.name);

/** Copies the selected rows. */
export async function copyRows(format, { rows, columns, entity }) {
  if (!rows.length) return;
  try {
    const text = entity
      ? (await post("copy", { entity, ids: rows.map((row) => row[0]), columns: sources(columns), format })).text
      : rowText(format, rows, columns);
    await write(text, plural(rows.length, "row"));
  } catch (error) {
    notify(error.message, "error");
  }
}

/** Copies the current cell. */
export async function copyCell(format, { rows, column, entity }) {
  const row = rows[rows.length - 1];
  if (!row) return;
  try {
    let text;
    if (!entity) {
      const value = plain(row[column.index]);
      text = format === "json" ? JSON.stringify(value) : csvField(value);
    } else if (column.href && ["json", "csv", "text"].includes(format)) {
      text = format === "json" ? JSON.stringify(row[0]) : row[0];
    } else {
      text = (await post("copy", { entity, ids: [row[0]], columns: sources([column]), format, isCell: true })).text;
    }
    await write(text, `a value of ${column.name}`);
  } catch (error) {
    notify(error.message, "error");
  }
}

const formats = [["json", "JSON"], ["csv", "CSV"], ["swift", "Swift"], ["predicate", "condition"]];

/** Creates the menu items that copy. */
export function copyMenu({ marked, count, hasObjects, column, close }) {
  const offered = hasObjects ? formats : formats.slice(0, 2);
  const run = (copy, format) => async () => {
    const what = await marked();
    close();
    copy(format, what);
  };
  const rows = count > 1 ? plural(count, "row") : "row";
  return [
    count > 1 ? null : offered.map(([format, name]) => item(`Copy ${column.name} as ${name}`, run(copyCell, format))),
    offered.map(([format, name]) => item(`Copy ${rows} as ${name}`, run(copyRows, format))),
  ];
}
