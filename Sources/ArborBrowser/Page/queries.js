// The queries that can be opened: saved ones, the model's fetch requests, and the last ones.
import { get, post } from "./api.js";
import { el, failure, notify, show } from "./dom.js";
import { item, openMenu } from "./menu.js";

/** The parts of a query that are not empty, as the address has them. */
function partsOf(query) {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value));
}

/** A query in a line. */
function text(query) {
  const parts = [query.entity, query.where, query.column && `columns ${query.column}`, query.group && `group by ${query.group}`,
    query.having && `having ${query.having}`, query.sort && `sort by ${query.sort}`, query.limit && `limit ${query.limit}`,
    query.distinct && "distinct"];
  return parts.filter((part) => part).join(" · ");
}

function section(title, entries) {
  return entries.length ? el("section", { "aria-label": title }, el("h3", {}, title), entries) : null;
}

/** Opens the menu of queries. `take` gets the one that is chosen. */
export async function openQueries(anchor, take) {
  let list = await get("queries");
  const box = el("div", { class: "queries" });
  const choose = (close, query) => { close(); take(partsOf(query)); };

  async function remove(name, close) {
    try {
      list = await post("queries", { remove: name });
      draw(close);
      (box.querySelector("button") || box).focus();
    } catch (error) {
      box.append(failure(error));
    }
  }

  function draw(close) {
    const saved = list.saved.map(({ name, query }) => el("div", { class: "entry" },
      item(name, () => choose(close, query), text(query)),
      el("button", { type: "button", class: "quiet", "aria-label": `Remove ${name}`, onclick: () => remove(name, close) }, "✕")));
    const requests = list.requests.map((request) => item(request.name, () => {
      if (!request.variables.length) return choose(close, request.query);
      const form = variablesForm(request, (query) => choose(close, query));
      show(box, form);
      form.querySelector("input").focus();
    }, text(request.query)));
    const recent = list.recent.map(({ query }) => item(text(query), () => choose(close, query)));
    show(box, list.problems.map((problem) => el("p", { class: "problem" }, `${problem} The file is ignored.`)),
      section("Saved queries", saved), section("Fetch requests of the model", requests), section("Recent queries", recent),
      saved.length + requests.length + recent.length ? null : el("p", { class: "empty" }, "No queries yet."));
  }

  openMenu({ label: "Queries", anchor, back: anchor, content: (close) => { draw(close); return box; } });
}

let forms = 0;

/** A form with a field for each variable of a request. */
function variablesForm(request, take) {
  const id = `variable-${++forms}`;
  const fields = request.variables.map(({ name, type, sample }, index) => ({
    name,
    input: el("input", {
      id: `${id}-${index}`, type: "text", autocomplete: "off", spellcheck: "false", placeholder: sample,
      "aria-describedby": `${id}-${index}-problem`,
    }),
    problem: el("p", { class: "problem", id: `${id}-${index}-problem`, role: "alert" }), type,
  }));
  return el("form", {
    "aria-label": request.name,
    onsubmit: async (event) => {
      event.preventDefault();
      for (const { input, problem } of fields) { show(problem); input.removeAttribute("aria-invalid"); }
      try {
        take((await get("request", { name: request.name, set: fields.map(({ name, input }) => `${name}=${input.value}`) })).query);
      } catch (error) {
        const field = fields.find(({ name }) => name === (error.document || {}).field) || fields[0];
        show(field.problem, error.message);
        field.input.setAttribute("aria-invalid", "true");
        field.input.focus();
      }
    },
  }, el("h3", {}, request.name), el("p", { class: "faint" }, text(request.query)),
  fields.map(({ name, type, input, problem }) => el("div", { class: "labelled" },
    el("label", { for: input.id }, `$${name}`, el("span", { class: "faint" }, ` ${type}`)), input, problem)),
  el("button", { type: "submit", class: "primary" }, "Run"));
}

/** Opens a form that saves a query under a name. */
export function saveQuery(anchor, query) {
  const name = el("input", { id: "query-name", type: "text", autocomplete: "off", maxlength: 100, required: true });
  const problem = el("div", {});
  openMenu({
    label: "Save the query", anchor, back: anchor,
    content: (close) => el("form", {
      class: "queries", "aria-label": "Save the query",
      onsubmit: async (event) => {
        event.preventDefault();
        try {
          await post("queries", { save: name.value.trim(), query });
          close();
          notify(`Saved the query as ${name.value.trim()}.`);
        } catch (error) {
          show(problem, failure(error));
        }
      },
    }, el("div", { class: "labelled" }, el("label", { for: "query-name" }, "Name"), name), problem,
    el("button", { type: "submit", class: "primary" }, "Save")),
  });
  name.focus();
}

/** Adds a query to the recent ones. */
export function rememberQuery(query) {
  post("queries", { remember: query }).catch((error) => notify(error.message, "error"));
}
