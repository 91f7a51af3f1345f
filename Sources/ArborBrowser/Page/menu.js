// Popup menus.
import { el, show } from "./dom.js";

let dialog = null;

function makeDialog() {
  dialog = el("dialog", { class: "menu" });
  document.body.append(dialog);
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    // In a pop-up list, arrow keys select an option.
    if (!step || event.target.closest("select")) return;
    moveFocus(step);
    event.preventDefault();
  });
}

/** Moves the focus to the next item. Skips fields that handle arrow keys; the Tab key reaches them. */
function moveFocus(step) {
  const stops = [...dialog.querySelectorAll("button, input, select")];
  let next = stops.indexOf(document.activeElement);
  do next = (next + step + stops.length) % stops.length;
  while (stops[next].matches("select, [type=text]"));
  stops[next].focus();
}

/**
 * Shows a menu below an element.
 *
 * `content` creates the items. Its argument is a function that closes the menu, which returns the focus
 * to `back`.
 */
export function openMenu({ label, anchor, back, content }) {
  if (!dialog) makeDialog();
  if (dialog.open) return;
  const own = dialog;
  own.setAttribute("aria-label", label);
  const place = anchor.getBoundingClientRect();
  show(own, el("div", { class: "items" }, content(() => own.close())));
  own.style.removeProperty("max-height");
  own.showModal();
  const { width, height } = own.getBoundingClientRect();
  own.style.setProperty("left", `${Math.max(8, Math.min(place.left, innerWidth - width - 8))}px`);
  const top = Math.max(8, Math.min(place.bottom + 2, innerHeight - height - 8));
  own.style.setProperty("top", `${top}px`);
  // A menu that grows, because values were counted, stays in the window.
  own.style.setProperty("max-height", `${innerHeight - top - 8}px`);
  own.onclose = () => {
    show(own);
    if (back) back.focus();
  };
}

/** An item of a menu. */
export function item(name, run, note) {
  return el("button", { type: "button", class: "item", onclick: run }, el("span", {}, name),
    note === undefined ? null : el("span", { class: "faint" }, note));
}
