// The search dialog for the entire store, which Ctrl K opens in every view.
import { el, show } from "./dom.js";
import { addressOf, makeFinder } from "./finder.js";

/** Sets up the dialog, its button and its shortcut. */
export function setUpSearch() {
  const dialog = document.getElementById("search");
  const finder = makeFinder({
    id: "search-text", label: "Search the store", placeholder: "Entity, object ID, unique value or text",
    staysOpen: true,
    pick: (result) => {
      dialog.close();
      location.hash = addressOf(result);
    },
  });
  show(dialog, el("h2", { id: "search-title" }, "Search"), finder.element,
    el("p", { class: "faint hint" }, "↑ ↓ choose, Enter opens. Text: all words, \"a phrase\", pre*, -without."));

  function open() {
    if (document.querySelector("dialog[open]")) return;
    finder.input.value = "";
    finder.close();
    dialog.showModal();
    finder.input.focus();
  }

  const button = document.getElementById("find");
  button.hidden = false;
  button.addEventListener("click", open);
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    open();
  });
}
