// Elements consist of nodes and text only. Text from a store never becomes markup, and cannot hide
// adjacent text or change its order.

// Control characters except line breaks and tabs, characters that change the writing direction, and
// invisible characters. The same as in TerminalText of the command line.
const hidden = new RegExp("[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u180e"
  + "\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}]", "gu");

/** Escapes the invisible characters of text, such as `\u{202E}`. */
export function visible(text) {
  return String(text).replace(hidden, (each) => each === "\r" ? "\\r" : `\\u{${each.codePointAt(0).toString(16).toUpperCase()}}`);
}

function node(child) {
  return child instanceof Node ? child : visible(child);
}

const spoken = new Set(["title", "aria-label", "alt", "placeholder", "label"]);

/** Creates an element. `on…` attributes are listeners; `style` is an object of properties. */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Creates an SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") {
      for (const [property, setting] of Object.entries(value)) {
        element.style.setProperty(property, setting);
      }
    } else element.setAttribute(name, value === true ? "" : spoken.has(name) ? visible(value) : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined).map(node));
  return element;
}

/** Replaces an element's children. */
export function show(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child).map(node));
}

/** Replaces an outdated list, keeping its scroll position. Returns the new list. */
export function replaceList(former, list) {
  const { scrollTop } = former;
  former.replaceWith(list);
  list.scrollTop = scrollTop;
  return list;
}

/** Formats an integer with thin spaces between groups of digits. */
export function count(number) {
  return Number(number).toLocaleString("en").replaceAll(",", "\u202f");
}

export function plural(number, one, many = one + "s") {
  return `${count(number)} ${Number(number) === 1 ? one : many}`;
}

export function bytes(number) {
  let size = Number(number);
  for (const unit of ["bytes", "KiB", "MiB", "GiB"]) {
    if (size < 1000 || unit === "GiB") {
      return `${unit === "bytes" || size >= 100 ? Math.round(size) : size.toFixed(1)} ${unit}`;
    }
    size /= 1024;
  }
}

export function milliseconds(time) {
  return time < 1 ? `${Math.max(1, Math.round(time * 1000))} µs`
    : time < 1000 ? `${time < 10 ? time.toFixed(1) : Math.round(time)} ms`
    : `${(time / 1000).toFixed(1)} s`;
}

/** Returns a function that delays its calls until they have stopped for a while. */
export function debounce(wait, run) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...values), wait);
  };
}

let noticeTimer = 0;

/** Shows a notice for a few seconds. */
export function notify(text, kind = "info") {
  const notice = document.getElementById("notice");
  clearTimeout(noticeTimer);
  show(notice, el("div", { class: `notice ${kind}` }, text));
  noticeTimer = setTimeout(() => show(notice), kind === "error" ? 9000 : 4000);
}

/** Shows the progress of an operation that can be cancelled. */
export function progress(text, cancel) {
  const notice = document.getElementById("notice");
  const words = el("span", {}, text);
  const box = el("div", { class: "notice" }, words, el("button", { type: "button", class: "cancel", onclick: cancel }, "Cancel"));
  clearTimeout(noticeTimer);
  show(notice, box);
  return {
    update(now) {
      words.textContent = visible(now);
      // Another notice has replaced it.
      if (!box.isConnected && !notice.children.length) show(notice, box);
    },
    end() { box.remove(); },
  };
}

/** Creates an element that shows an error. */
export function failure(error) {
  return el("div", { class: "failure", role: "alert" },
    el("strong", {}, error.message || "The request failed. Reload the page."),
    (error.violations || []).map((each) => el("p", {}, each.message)));
}
