// Exports of all rows of a table or query as a file.
import { streamed } from "./api.js";
import { bytes, el, notify, plural, progress } from "./dom.js";
import { item, openMenu } from "./menu.js";

const formats = [["csv", "CSV"], ["json", "JSON"], ["ndjson", "NDJSON, one document per line"]];

/** Saves a file as a download. */
export function save(name, blob) {
  const address = URL.createObjectURL(blob);
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

async function run(format, { name, parameters }) {
  const abort = new AbortController();
  const shown = progress(`Exporting ${name}…`, () => abort.abort());
  try {
    const file = await streamed("export", { ...parameters, format }, abort.signal,
      (size) => shown.update(`Exporting ${name}… ${bytes(size)}`));
    shown.end();
    save(`${name.replace(/[^\p{L}\p{N}_-]+/gu, "-")}.${format}`, file);
    notify(`Exported ${name}, ${bytes(file.size)}.`);
  } catch (error) {
    shown.end();
    if (abort.signal.aborted) return notify("The export was cancelled. No file was saved.");
    const after = error.rows === undefined ? "" : ` after ${plural(error.rows, "row")}`;
    notify(`The export stopped${after}. No file was saved. ${error.message}`, "error");
  }
}

/**
 * Creates a button that opens a menu of export formats. `source` returns the name of the file and the
 * parameters of the request.
 */
export function exportButton(source) {
  return el("button", {
    type: "button", class: "quiet", "aria-haspopup": "dialog", title: "Save all rows as a file",
    onclick: (event) => openMenu({
      label: "Export all rows", anchor: event.currentTarget, back: event.currentTarget,
      content: (close) => formats.map(([format, name]) => item(`All rows as ${name}`, () => { close(); run(format, source()); })),
    }),
  }, "Export");
}
