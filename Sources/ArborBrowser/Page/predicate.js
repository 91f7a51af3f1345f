// An input for predicates and expressions that completes names and marks errors.
import { get } from "./api.js";
import { dateConstant } from "./columnmenu.js";
import { el, show, visible } from "./dom.js";
import { today } from "./time.js";

const words = [
  "AND", "OR", "NOT", "IN", "BETWEEN", "CONTAINS", "CONTAINS[cd]", "BEGINSWITH", "BEGINSWITH[cd]",
  "ENDSWITH", "LIKE", "ANY", "ALL", "NONE", "SUBQUERY(", "TRUE", "FALSE", "nil", "now()",
];
const sets = ["@count", "@sum", "@avg", "@min", "@max"];
const functions = ["@count", "count(", "sum(", "average(", "min(", "max(", "median("];

/** The syntax of values of a type. */
const literals = {
  boolean: ["TRUE", "FALSE"], uuid: ['uuid("")'], uri: ['uri("")'], string: ['""'], binary: ['data("")'],
};

/** Returns the literals of a type. For dates, one is the current day in the chosen time zone. */
function literalsOf(type) {
  return type === "date" ? ["now()", dateConstant(today())] : literals[type] || [];
}

/** Returns literals for the attribute before the operator that ends the text. */
function literalsFor(schema, entityName, before) {
  const found = before.match(/([#\p{L}\p{N}_.]+)\s*(?:[=!<>]=?|==|<>|=<|=>)\s*([\p{L}"]*)$/u);
  if (!found) return null;
  const path = found[1].replaceAll("#", "").split(".");
  const last = path.pop();
  let entity = schema.entities.find((each) => each.name === entityName);
  for (const name of path) {
    const next = entity && entity.relationships.find((each) => each.name === name);
    entity = next && schema.entities.find((each) => each.name === next.destination);
  }
  const attribute = entity && entity.attributes.find((each) => each.name === last);
  if (!attribute) return null;
  const names = [...literalsOf(attribute.type), "nil"].filter((each) =>
    each.toLowerCase().startsWith(found[2].toLowerCase()) && each !== found[2]);
  return { typed: found[2], found: names.map((name) => ({ name, what: attribute.type })), isLiteral: true };
}

/** Returns the names that can complete the end of a text, each with its kind. */
function completions(schema, entityName, before, isColumn) {
  const literal = literalsFor(schema, entityName, before);
  if (literal && literal.found.length) return literal;
  const start = before.match(/[#\p{L}\p{N}_.@]*$/u)[0];
  if ((before.match(/'/g) || []).length % 2 || (before.match(/"/g) || []).length % 2) return null;
  const path = start.split(".");
  const typed = path.pop();
  let entity = schema.entities.find((each) => each.name === entityName);
  let isMany = false;
  for (const name of path) {
    const next = entity && entity.relationships.find((each) => each.written === name || each.name === name);
    if (!next) return null;
    isMany = isMany || next.isToMany;
    entity = schema.entities.find((each) => each.name === next.destination);
  }
  if (!entity) return null;
  // After a dot, every word is a name.
  const written = (each) => (path.length ? each.name : each.written);
  const names = [
    ...entity.attributes.map((each) => ({ name: written(each), what: each.type })),
    ...entity.relationships.map((each) => ({
      name: written(each), what: each.isToMany ? `many ${each.destination}` : each.destination,
    })),
    ...(isMany ? sets.map((name) => ({ name, what: "of all" })) : []),
    ...(path.length ? [] : (isColumn ? functions : words).map((name) => ({ name, what: "" }))),
  ];
  const wanted = typed.toLowerCase();
  const found = names.filter((each) => each.name !== typed
    && (each.name.toLowerCase().startsWith(wanted) || each.name.toLowerCase().startsWith(`#${wanted}`)));
  return { typed, found: found.slice(0, 12) };
}

/** Returns the text that connects a condition with a further one by AND. The server parses both. */
export async function conjunction(where, and) {
  return (await get("conditions", { where, and })).where;
}

/**
 * Shows the conditions that a text connects by AND, each with a button that removes it.
 *
 * `take` is called with the text that connects the others.
 */
export async function showConditions(list, where, take) {
  list.dataset.where = where;
  const { conditions } = where ? await get("conditions", { where }) : { conditions: [] };
  if (list.dataset.where !== where) return;
  const remove = async (position) => take((await get("conditions", { where, without: position })).where);
  list.hidden = conditions.length === 0;
  show(list, conditions.map((condition, position) => el("li", {},
    el("span", { class: "code" }, condition),
    el("button", {
      type: "button", class: "quiet", "aria-label": `Remove ${condition}`, onclick: () => remove(position),
    }, "✕"))));
}

let boxes = 0;

/**
 * Creates a predicate field.
 *
 * `take` is called with the text when the user enters it. `entity` returns the entity whose names are
 * completed.
 */
export function predicateBox({ schema, entity, label, placeholder, value, take, isColumn }) {
  const id = `box-${++boxes}`;
  const list = el("ul", { role: "listbox", id: `${id}-list`, "aria-label": "Names", hidden: true });
  const mark = el("div", { class: "mark", hidden: true, "aria-hidden": "true" }, "▲");
  const message = el("p", { class: "problem", id: `${id}-problem`, role: "alert" });
  const input = el("input", {
    id, type: "text", role: "combobox", autocomplete: "off", autocapitalize: "off",
    spellcheck: "false", placeholder, value: value || null, "aria-label": label,
    "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": `${id}-list`,
    "aria-describedby": `${id}-problem`,
  });
  let shown = null;
  let chosen = -1;

  function close() {
    shown = null;
    chosen = -1;
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function open() {
    shown = completions(schema, entity(), input.value.slice(0, input.selectionStart), isColumn);
    if (!shown || !shown.found.length || !shown.typed && !shown.isLiteral && input.value.trim()) return close();
    chosen = -1;
    show(list, shown.found.map((each, index) => el("li", {
      role: "option", id: `${id}-${index}`, "aria-selected": "false",
      onmousedown: (event) => { event.preventDefault(); complete(index); },
    }, el("span", { class: "code" }, each.name), el("span", { class: "faint" }, each.what))));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
  }

  function choose(index) {
    const options = [...list.children];
    chosen = (index + options.length) % options.length;
    options.forEach((option, position) => {
      option.setAttribute("aria-selected", position === chosen ? "true" : "false");
    });
    options[chosen].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", options[chosen].id);
  }

  function complete(index) {
    const start = input.selectionStart - shown.typed.length;
    const { name } = shown.found[index];
    input.setRangeText(name, start, input.selectionStart, "end");
    // Places the caret between the quotes of a literal.
    const inner = name.indexOf('""');
    if (inner >= 0) input.setSelectionRange(start + inner + 1, start + inner + 1);
    close();
    input.focus();
  }

  function clear() {
    mark.hidden = true;
    message.textContent = "";
    input.removeAttribute("aria-invalid");
  }

  input.addEventListener("input", () => { clear(); open(); });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (shown && event.key === "ArrowDown") choose(chosen + 1);
    else if (shown && event.key === "ArrowUp") choose(chosen - 1);
    else if (shown && (event.key === "Tab" || event.key === "Enter") && chosen >= 0) complete(chosen);
    else if (event.key === "ArrowDown") open();
    else if (event.key === "Escape" && shown) close();
    else if (event.key === "Escape") input.blur();
    else if (event.key === "Enter" && !event.ctrlKey) { close(); take(input.value); }
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  return {
    element: el("div", { class: "predicate" },
      el("div", { class: "field" }, input, mark, list), message),
    input,
    get value() { return input.value; },
    set value(text) { input.value = text; clear(); },
    clear,
    /** Marks the character at which an error was found. */
    fail(error) {
      message.textContent = visible(error.message);
      input.setAttribute("aria-invalid", "true");
      mark.hidden = !error.column;
      mark.style.setProperty("--column", String((error.column || 1) - 1));
      mark.style.setProperty("--scroll", `${input.scrollLeft}px`);
    },
  };
}
