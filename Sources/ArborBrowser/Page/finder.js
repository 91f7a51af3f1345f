// A field that finds entities and objects while the user types.
import { get } from "./api.js";
import { debounce, el, plural, show } from "./dom.js";
import { objectAddress, text } from "./values.js";

const groups = [
  ["entity", "Entities"], ["object", "Objects"], ["unique", "Unique values"], ["text", "Text"],
];
let finders = 0;

/** Returns the address of a result's view. */
export function addressOf(result) {
  return result.kind === "entity" ? `#/objects/${encodeURIComponent(result.entity)}` : objectAddress(result.object);
}

function words(result) {
  if (result.kind === "entity") return el("span", { class: "found" }, el("strong", {}, result.entity));
  const name = el("strong", {}, result.label || result.object);
  const id = result.label ? el("span", { class: "code faint" }, result.object) : null;
  if (result.snippet) {
    return el("span", { class: "found" }, name, " ", id, el("span", { class: "snippet" },
      result.snippet.map((part, index) => index % 2 ? el("mark", {}, part) : part)));
  }
  const value = result.property && text(result.value) !== result.label
    ? el("span", { class: "snippet" }, `${result.property}: ${text(result.value)}`) : null;
  return el("span", { class: "found" }, name, " ", id, value);
}

/**
 * Creates a field with a list of results. If `entity` is given, only its objects are found.
 *
 * `others` returns further results. `pick` is called with the result that the user selects by Enter or a
 * click. With `staysOpen`, the list is always visible; otherwise it pops up while there are results.
 */
export function makeFinder({ label, placeholder, entity, pick, staysOpen, others = () => [], id = `finder-${++finders}` }) {
  const list = el("div", { role: "listbox", id: `${id}-list`, "aria-label": `Results for ${label}`, hidden: !staysOpen, tabindex: -1 });
  const status = el("p", { class: staysOpen ? "faint" : "hidden", role: "status" });
  const input = el("input", {
    id, type: "text", role: "combobox", autocomplete: "off", autocapitalize: "off", spellcheck: "false", placeholder,
    "aria-label": label, "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": `${id}-list`,
  });
  let results = [];
  let chosen = -1;
  /** The text that the results belong to; `null` while new ones are awaited. */
  let shownFor = "";
  let picksFirst = false;
  let request = null;

  const options = () => [...list.querySelectorAll("[role=option]")];

  function close() {
    if (request) request.abort();
    results = [];
    chosen = -1;
    show(list);
    show(status);
    list.hidden = !staysOpen;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function choose(index) {
    const all = options();
    if (!all.length) return;
    chosen = (index + all.length) % all.length;
    all.forEach((option, place) => option.setAttribute("aria-selected", place === chosen ? "true" : "false"));
    all[chosen].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", all[chosen].id);
  }

  function take(result) {
    close();
    pick(result);
  }

  function showAnswer(answer) {
    results = groups.flatMap(([kind]) => answer.results.filter((each) => each.kind === kind));
    const option = (result) => {
      const index = results.indexOf(result);
      return el("a", {
        role: "option", id: `${id}-${index}`, href: result.isNew ? null : addressOf(result), tabindex: -1, "aria-selected": "false",
        onmousedown: (event) => event.preventDefault(),
        onclick: (event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return;
          event.preventDefault();
          take(result);
        },
      }, words(result));
    };
    show(list, groups.map(([kind, title]) => {
      const found = results.filter((each) => each.kind === kind);
      return found.length ? el("div", { role: "group", "aria-label": title },
        el("div", { class: "title", "aria-hidden": "true" }, title), found.map(option)) : null;
    }));
    chosen = -1;
    list.hidden = !staysOpen && !results.length;
    input.setAttribute("aria-expanded", results.length ? "true" : "false");
    input.removeAttribute("aria-activedescendant");
    show(status, results.length || input.value.trim() ? plural(results.length, "result") : "",
      answer.problems.map((problem) => el("span", { class: "trouble" }, ` ${problem}`)));
    if (picksFirst && results.length) take(results[0]);
    picksFirst = false;
  }

  async function load() {
    const asked = input.value;
    if (request) request.abort();
    if (!asked.trim() && !entity) return close();
    const own = request = new AbortController();
    try {
      const answer = await get("search", { text: asked, entity }, own.signal);
      if (own !== request || own.signal.aborted) return;
      shownFor = asked;
      const wanted = asked.trim().toLowerCase();
      const further = others().filter((each) => each.object.toLowerCase().includes(wanted));
      showAnswer({ ...answer, results: [...further, ...answer.results] });
    } catch (error) {
      if (error.name === "AbortError" || own !== request) return;
      close();
      show(status, el("span", { class: "trouble" }, error.message));
    }
  }

  const soon = debounce(120, () => { if (document.activeElement === input) load(); });

  input.addEventListener("input", () => { picksFirst = false; soon(); });
  input.addEventListener("blur", () => { if (!staysOpen) close(); });
  input.addEventListener("keydown", (event) => {
    const isOpen = results.length > 0;
    if (event.key === "ArrowDown" && !isOpen) load();
    else if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp" && isOpen) choose(chosen < 0 ? -1 : chosen - 1);
    else if (event.key === "Enter" && chosen >= 0) take(results[chosen]);
    else if (event.key === "Enter" && input.value.trim()) {
      if (isOpen && shownFor === input.value) take(results[0]);
      else { picksFirst = true; load(); }
    } else if (event.key === "Escape" && isOpen && !staysOpen) close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  return { element: el("div", { class: staysOpen ? "finder" : "finder popup" }, input, list, status), input, close };
}
