// Values in human-readable form.
import { binary } from "./api.js";
import { bytes, count, el, notify, plural, show } from "./dom.js";
import { time } from "./time.js";

/** Returns the address of an object's view. */
export function objectAddress(id) {
  return `#/objects/${encodeURIComponent(id.split("/")[0])}?id=${encodeURIComponent(id)}`;
}

/** A link to an object, with its label if it has one. */
export function link(value) {
  const name = value.label || value.object;
  // A staged new object has no ID yet.
  if (!value.object.includes("/")) return el("span", { class: "code" }, name);
  return el("a", { class: "object", href: objectAddress(value.object), title: value.object }, name);
}

/** Returns a value as text on one line. */
export function text(value) {
  if (value === null || value === undefined) return "nil";
  if (typeof value === "string") return value;
  if (typeof value !== "object") return String(value);
  if ("staged" in value) return text(value.staged);
  if ("object" in value) return value.label ? `${value.label} (${value.object})` : value.object;
  if ("members" in value) return plural(value.members, "object");
  if ("binary" in value) return `${value.kind || "binary"}, ${bytes(value.binary)}`;
  if ("text" in value) return value.text + "…";
  if ("json" in value) return value.json + ("length" in value ? "…" : "");
  if ("date" in value) return time(value.date);
  if ("list" in value) return `[${value.list.map(text).join(", ")}]`;
  if ("parts" in value) {
    return `{${Object.entries(value.parts).map(([name, part]) => `${name}: ${text(part)}`).join(", ")}}`;
  }
  return String(Object.values(value)[0]);
}

/** A value that is staged for the next commit, instead of the stored one. */
function stagedCell(value) {
  const title = value.isDeleted ? "Staged for deletion" : `Staged. Stored: ${text(value.old)}`;
  return el("span", { class: value.isDeleted ? "staged deleted" : "staged", title },
    el("span", { class: "hidden" }, value.isDeleted ? "staged for deletion: " : "staged: "), cell(value.staged));
}

/** A value in a cell of a table. */
export function cell(value) {
  if (value === null || value === undefined) return el("span", { class: "nil" }, "nil");
  if (typeof value === "boolean") {
    return el("span", { class: value ? "flag on" : "flag" }, value ? "yes" : "no");
  }
  if (typeof value === "number") return el("span", { class: "number" }, String(value));
  if (typeof value === "object") {
    if ("staged" in value) return stagedCell(value);
    if ("object" in value) return link(value);
    if ("members" in value) {
      return el("span", { class: value.members ? "chip" : "chip empty" }, count(value.members));
    }
    if ("binary" in value) return el("span", { class: "chip" }, text(value));
    if ("number" in value) return el("span", { class: "number" }, value.number);
    if ("uuid" in value) return el("span", { class: "code" }, value.uuid);
  }
  const shown = text(value);
  return shown === "" ? el("span", { class: "nil" }, "empty") : shown.replace(/\s*\n\s*/g, " ⏎ ");
}

/** Returns JSON with line breaks, unless that would change its numbers. */
function indented(text) {
  try {
    const value = JSON.parse(text);
    return JSON.stringify(value) === text ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}

/** A complete value outside a table. */
export function whole(value, object, attribute) {
  if (value && typeof value === "object" && "binary" in value) {
    return binaryView(value, object, attribute);
  }
  if (value && typeof value === "object" && "text" in value) {
    return el("div", { class: "long" }, value.text,
      el("p", { class: "faint" }, `… ${plural(value.length, "character")} in total`));
  }
  if (value && typeof value === "object" && "json" in value) {
    return el("div", {}, el("pre", { tabindex: 0, "aria-label": `${attribute} of ${object}` }, indented(value.json)),
      "length" in value ? el("p", { class: "faint" }, `… ${plural(value.length, "character")} in total`) : null);
  }
  if (typeof value === "string" && (value.length > 80 || value.includes("\n"))) {
    return el("div", { class: "long" }, value);
  }
  return cell(value);
}

const pictures = { png: "image/png", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp" };
const maximumHexSize = 4096;

/** A binary value, loaded on demand; images and short values are loaded immediately. */
function binaryView(value, object, attribute) {
  const box = el("div", { class: "binary" });
  const load = async () => {
    try {
      const data = await binary(object, attribute);
      const type = pictures[value.kind];
      const address = URL.createObjectURL(new Blob([data], { type: type || "application/octet-stream" }));
      show(box,
        type ? el("img", { src: address, alt: `${attribute} of ${object}` })
          : el("pre", { tabindex: 0, "aria-label": `${attribute} of ${object}` },
            value.kind === "text" ? new TextDecoder().decode(data) : hex(new Uint8Array(data))),
        el("p", { class: "faint" }, `${value.kind || "binary"} · ${bytes(value.binary)} · `,
          el("a", { href: address, download: `${object.replace("/", "-")}-${attribute}` }, "Save")));
    } catch (error) {
      notify(error.message, "error");
    }
  };
  if (pictures[value.kind] && value.binary < 4 << 20 || value.binary <= maximumHexSize) {
    box.classList.add("loading");
    load().then(() => box.classList.remove("loading"));
  } else {
    show(box, el("button", { type: "button", onclick: load }, `Show ${bytes(value.binary)}`));
  }
  return box;
}

/** Returns a hex dump of bytes, sixteen per line. */
export function hex(data) {
  const lines = [];
  for (let offset = 0; offset < Math.min(data.length, maximumHexSize); offset += 16) {
    const row = [...data.subarray(offset, offset + 16)];
    const digits = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const letters = row.map((byte) => byte > 31 && byte < 127 ? String.fromCharCode(byte) : "·");
    lines.push(`${offset.toString(16).padStart(6, "0")}  ${digits.padEnd(47)}  ${letters.join("")}`);
  }
  if (data.length > maximumHexSize) lines.push(`… ${bytes(data.length - maximumHexSize)} more`);
  return lines.join("\n");
}
