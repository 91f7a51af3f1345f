// The menu of a column: sorting, position and filters. Filters are written as conditions.
import { count, el, failure, show } from "./dom.js";
import { item, openMenu } from "./menu.js";
import { zone } from "./time.js";
import { text } from "./values.js";

/** Returns text as a string literal of the predicate language. */
export function quoted(text) {
  const escapes = { "\"": "\\\"", "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };
  const inner = text.replace(/["\\\u0000-\u001f\u007f]/g, (each) =>
    escapes[each] || `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return `"${inner}"`;
}

/** Returns a date or time as a literal in the chosen time zone. */
export function dateConstant(text) {
  return zone() === "UTC" ? `date(${quoted(text)})` : `date(${quoted(text)}, ${quoted(zone())})`;
}

/** Returns typed text as a literal of an attribute's type. The predicate field reports errors. */
function literal(type, typed) {
  switch (type) {
    case "string": return quoted(typed);
    case "date": return dateConstant(typed.trim());
    case "uuid": case "uri": return `${type}(${quoted(typed.trim())})`;
    default: return typed.trim();
  }
}

const operators = {
  string: [["CONTAINS[cd]", "contains"], ["==", "equals"], ["!=", "is not"], ["BEGINSWITH[cd]", "begins with"], ["<", "is less than"], [">", "is greater than"]],
  boolean: [["==", "equals"]], uuid: [["==", "equals"], ["!=", "is not"]], uri: [["==", "equals"], ["!=", "is not"]],
  number: [["==", "equals"], ["!=", "is not"], ["<", "is less than"], [">", "is greater than"]],
};
const hints = { date: "2026-01-31 or 2026-01-31T12:00:00", boolean: "TRUE or FALSE", uuid: "00000000-0000-0000-0000-000000000000" };

/** Creates a form for a filter by comparison. */
function comparison(property, apply) {
  const { type, written } = property;
  const list = operators[type] || operators.number;
  const operator = el("select", { "aria-label": "Comparison" }, list.map(([sign, name]) => el("option", { value: sign }, name)));
  const value = el("input", {
    type: "text", "aria-label": `Value of ${property.name}`, autocomplete: "off", spellcheck: "false", placeholder: hints[type] || "value",
  });
  return el("form", {
    class: "comparison",
    onsubmit: (event) => {
      event.preventDefault();
      if (value.value.trim() || type === "string") apply(`${written} ${operator.value} ${literal(type, value.value)}`);
    },
  }, operator, value, el("button", { type: "submit" }, "Filter"));
}

/** Creates a list of the most frequent values, which are counted on the server. */
function frequent(property, values, apply) {
  const list = el("div", { class: "frequent", role: "group", "aria-label": "Frequent values", "aria-busy": "true" },
    el("p", { class: "faint" }, "Counting…"));
  values(property.name).then((answer) => {
    show(list, answer.values.map((each) =>
      item(each.value === "" ? "empty" : text(each.value), () => apply(each.predicate), count(each.count))),
    answer.values.length ? null : el("p", { class: "empty" }, "No values"),
    answer.hasMore ? el("p", { class: "faint" }, "… and more values") : null);
  }, (error) => show(list, failure(error))).finally(() => list.setAttribute("aria-busy", "false"));
  return list;
}

function filters(property, filter, values, close) {
  const apply = (condition) => { close(); filter(condition); };
  const isAttribute = !("isToMany" in property);
  const isPlain = isAttribute && !["binary", "json", "undefined"].includes(property.type) && !property.type.includes("(");
  const canBeNil = property.isOptional && !property.isToMany;
  const isCounted = isPlain || property.isToMany === false;
  return [
    isPlain ? comparison(property, apply) : null,
    canBeNil ? item("Is nil", () => apply(`${property.written} == NIL`)) : null,
    canBeNil ? item("Is not nil", () => apply(`${property.written} != NIL`)) : null,
    property.isToMany ? item("Is empty", () => apply(`${property.written}.@count == 0`)) : null,
    property.isToMany ? item("Is not empty", () => apply(`${property.written}.@count > 0`)) : null,
    isCounted ? frequent(property, values, apply) : null,
  ];
}

/** Shows the menu of a column. */
export function columnMenu({ column, layout, anchor, back, sort, filter, values }) {
  const { name } = column;
  const step = (by) => () => {
    const names = layout.columns.map((each) => each.name);
    const next = names[names.indexOf(name) + by];
    if (next !== undefined) layout.move(name, next);
  };
  const width = (by) => () => layout.resize(name, layout.columns.find((each) => each.name === name).width + by);
  openMenu({
    label: `Column ${name}`, anchor, back,
    content: (close) => {
      const closing = (run) => () => { close(); run(); };
      return [
        column.canSort ? [item("Sort ascending", closing(() => sort(name)), "▲"),
          item("Sort descending", closing(() => sort(`-${name}`)), "▼")] : null,
        column.property && filter ? filters(column.property, filter, values, close) : null,
        item(column.isPinned ? "Unpin" : "Pin", closing(() => layout.pin(name, !column.isPinned))),
        item("Hide", closing(() => layout.hide(name, true))),
        item("Move left", step(-1), "Ctrl ←"), item("Move right", step(1), "Ctrl →"),
        item("Narrower", width(-20), "Shift ←"), item("Wider", width(20), "Shift →"),
      ];
    },
  });
}

/** Shows a menu in which columns are shown or hidden. */
export function chooseColumns({ layout, anchor, back }) {
  openMenu({
    label: "Columns", anchor, back,
    content: (close) => [
      layout.all.map(({ name, isHidden }) => el("label", { class: "item" },
        el("input", { type: "checkbox", checked: !isHidden, onchange: (event) => layout.hide(name, !event.target.checked) }),
        el("span", {}, name))),
      item("Reset columns", () => { close(); layout.reset(); }),
    ],
  });
}
