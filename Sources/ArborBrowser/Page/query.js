// Queries for rows of values, with grouping, aggregates and the plan.
import { get } from "./api.js";
import { el, failure, milliseconds, plural, show } from "./dom.js";
import { planView } from "./explain.js";
import { keepPlace, keptPlace } from "./place.js";
import { conjunction, predicateBox } from "./predicate.js";
import { openQueries, rememberQuery, saveQuery } from "./queries.js";
import { identityColumn, makeTable, propertyColumn } from "./table.js";
import { objectAddress } from "./values.js";

/** Splits a list at commas, except in parentheses and quotes. */
export function split(text) {
  const parts = [""];
  let depth = 0;
  let quote = "";
  for (const letter of text) {
    if (quote) quote = letter === quote ? "" : quote;
    else if (letter === "'" || letter === '"') quote = letter;
    else if ("([{".includes(letter)) depth++;
    else if (")]}".includes(letter)) depth--;
    else if (letter === "," && depth === 0) { parts.push(""); continue; }
    parts[parts.length - 1] += letter;
  }
  return parts.map((part) => part.trim()).filter((part) => part);
}

const maximumRows = 1000;
const usualLimit = 100;

/** The view of queries. The query is part of the address. */
export async function queryView(main, schema, rest, parameters) {
  const names = schema.entities.map((each) => each.name);
  let asked = parameters.get("entity");
  if (!names.includes(asked)) asked = (schema.entities.find((each) => each.ownCount) || schema.entities[0] || {}).name;
  const entity = el("select", { "aria-label": "Entity" },
    names.map((name) => el("option", { value: name, selected: name === asked }, name)));
  const box = (key, label, placeholder, isColumn) => predicateBox({
    schema, entity: () => entity.value, label, placeholder, value: parameters.get(key) || "",
    take: go, isColumn,
  });
  const boxes = {
    where: box("where", "Where", "all objects", false),
    column: box("column", "Columns", "all attributes", true),
    group: box("group", "Group by", "for example office.city", true),
    having: box("having", "Having", "@count > 10", true),
    sort: box("sort", "Sort by", "prefix - for descending", true),
  };
  boxes.where.input.dataset.search = "";
  const limit = el("input", {
    type: "number", min: 1, max: maximumRows, value: limitOf(parameters), "aria-label": "Limit",
  });
  const distinct = el("input", { type: "checkbox", checked: parameters.get("distinct") === "true" });
  const result = el("section", { class: "result", "aria-label": "Result", "aria-live": "polite" });

  function question() {
    const query = new URLSearchParams({ entity: entity.value });
    for (const [name, each] of Object.entries(boxes)) if (each.value.trim()) query.set(name, each.value.trim());
    query.set("limit", limit.value);
    if (distinct.checked) query.set("distinct", "true");
    return query;
  }

  /** The query as it is saved; the usual limit is that of the page, not of the query. */
  function query() {
    const parts = Object.fromEntries(question());
    if (Number(parts.limit) === usualLimit) delete parts.limit;
    return parts;
  }

  function fill(parts) {
    if (names.includes(parts.get("entity"))) entity.value = parts.get("entity");
    for (const [name, each] of Object.entries(boxes)) each.value = parts.get(name) || "";
    limit.value = limitOf(parts);
    distinct.checked = parts.get("distinct") === "true";
  }

  let table = null;
  let runs = 0;
  /** Whether the next run is one that the user asks for, and not a return to a former address. */
  let isAsked = false;

  /** Runs the query and adds it to the address, so that Back returns to the previous one. */
  function go() {
    isAsked = true;
    const address = `#/query?${question()}`;
    if (location.hash === address) run();
    else location.hash = address;
  }

  function makeRows(answer, place, asked) {
    const described = schema.entities.find((each) => each.name === entity.value);
    const texts = split(boxes.column.value);
    const properties = [...described.attributes, ...described.relationships];
    const isObjects = answer.ids !== null;
    const shift = isObjects ? 1 : 0;
    const columns = answer.columns.map((name, index) => {
      const property = properties.find((each) => each.name === name);
      return {
        ...(property ? propertyColumn(property, index + shift) : { name, index: index + shift, width: 180 }),
        canSort: !isObjects || !property || propertyColumn(property, 0).canSort, source: property ? name : texts[index],
        isNumber: answer.rows.some((row) => isNumber(row[index])),
      };
    });
    if (isObjects) columns.unshift(identityColumn(objectAddress));
    const rows = isObjects ? answer.rows.map((row, index) => [answer.ids[index], ...row]) : answer.rows;
    const made = makeTable({
      label: "Rows", columns, entity: isObjects ? entity.value : null, moved: keepPlace, place,
      key: `query ${schema.id} ${entity.value}`,
      order: boxes.sort.value.trim(), load: async ({ offset, limit }) => ({ rows: rows.slice(offset, offset + limit), next: null }),
      sort: (key) => { boxes.sort.value = key; go(); },
      filter: async (condition) => { boxes.where.value = await conjunction(asked.where.trim(), condition); go(); },
      values: (property) => get("values", { entity: entity.value, where: boxes.where.value, property }),
      exported: () => ({ name: `${asked.entity} query`, parameters: { ...asked, of: "query", limit: "" } }),
      open: isObjects ? (id) => { location.hash = objectAddress(id); } : null,
    });
    made.element.style.setProperty("--rows", String(rows.length + 1));
    return made;
  }

  /** Returns the parameters of the request. */
  const parts = () => ({
    entity: entity.value, where: boxes.where.value, having: boxes.having.value,
    column: split(boxes.column.value), group: split(boxes.group.value),
    sort: split(boxes.sort.value), limit: limit.value,
    distinct: distinct.checked ? "true" : "",
  });

  async function run() {
    for (const each of Object.values(boxes)) each.clear();
    const own = ++runs;
    const isNew = isAsked;
    isAsked = false;
    try {
      const asked = parts();
      const answer = await get("query", asked);
      if (own !== runs) return;
      const hadFocus = table !== null && table.element === document.activeElement;
      const place = keptPlace() || (hadFocus ? { ...table.place, top: 0 } : null);
      if (table) table.end();
      table = makeRows(answer, place, asked);
      const trial = predicateBox({
        schema, entity: () => entity.value, label: "Properties of a proposed index", placeholder: "name, -age, city[cd]",
        isColumn: true, take: () => trial.form.requestSubmit(),
      });
      show(result, answerView(answer, table, { box: trial, ask: (index) => get("effect", { ...asked, index: split(index) }) }));
      table.setTotal(answer.rows.length);
      if (isNew && schema.keepsQueries) rememberQuery(query());
      if (hadFocus) table.element.focus();
    } catch (error) {
      if (own !== runs) return;
      show(result);
      const { field } = error.document || {};
      if (!boxes[field]) return show(result, failure(error));
      // In a list, the error is in one of its elements.
      const isList = ["column", "group", "sort"].includes(field) && split(boxes[field].value).length > 1;
      boxes[field].fail(isList ? { message: error.message } : error);
    }
  }

  const field = (label, each) => el("div", { class: "labelled" }, el("span", { class: "label", "aria-hidden": "true" }, label), each.element || each);
  show(main, el("form", {
    class: "question", "aria-label": "Query",
    onsubmit: (event) => { event.preventDefault(); go(); },
    onkeydown: (event) => { if (event.key === "Enter" && event.ctrlKey) { event.preventDefault(); go(); } },
  },
  el("div", { class: "shelf" },
    el("button", { type: "button", "aria-haspopup": "dialog", onclick: (event) => openQueries(event.currentTarget, (parts) => { fill(new URLSearchParams(parts)); go(); }) }, "Queries"),
    schema.keepsQueries ? el("button", { type: "button", "aria-haspopup": "dialog", onclick: (event) => saveQuery(event.currentTarget, query()) }, "Save") : null),
  field("Entity", entity), field("Where", boxes.where), field("Columns", boxes.column),
  field("Group by", boxes.group), field("Having", boxes.having), field("Sort by", boxes.sort),
  el("div", { class: "last" }, el("label", {}, "Limit ", limit),
    el("label", {}, distinct, " Distinct"),
    el("button", { type: "submit", class: "primary" }, "Run"))), result);
  if (parameters.size) await run();
  else show(result, el("p", { class: "empty" }, "Press Ctrl Enter to run the query."));
  return {
    end() {
      runs++;
      if (table) table.end();
    },
    update(nextRest, next) {
      if (!next.size) return false;
      fill(next);
      run();
      return true;
    },
    refresh: run,
  };
}

/** The limit in an address, as far as the page shows so many rows. */
function limitOf(parameters) {
  return Math.min(maximumRows, Number(parameters.get("limit")) || usualLimit);
}

function isNumber(value) {
  return typeof value === "number" || Boolean(value && value.number);
}

function answerView(answer, table, whatIf) {
  const number = answer.rows.length;
  return [
    el("p", { class: "summary" }, el("strong", {}, answer.hasMore ? `The first ${plural(number, "row")}` : plural(number, "row")),
      el("span", { class: "faint" }, ` · ${milliseconds(answer.milliseconds)}`),
      el("span", { class: "table-tools" }, table.columnsButton, table.exportButton)),
    planView(answer.plan, whatIf), table.element,
  ];
}
