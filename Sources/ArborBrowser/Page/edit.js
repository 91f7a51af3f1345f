// The forms that stage edits. The server validates input against the model.
import { post } from "./api.js";
import { debounce, el, notify, show } from "./dom.js";
import { attributeField, relationshipField, tellProblem } from "./fields.js";
import { nextReference, stage, stagedEdits, stagedFor, unstage, wire } from "./staged.js";

function fieldsOf(schema, entity, object, edit) {
  const staged = (name) => edit && edit.values && edit.values[name];
  // A new object begins with the default values of its entity.
  const stored = (attribute) => object ? object.attributes[attribute.name] : attribute.default;
  return [
    ...entity.attributes.map((each) =>
      attributeField(each, stored(each), staged(each.name))),
    ...entity.relationships.map((each) =>
      relationshipField(schema, each, object && object.relationships[each.name], staged(each.name))),
  ];
}

/** Returns all fields, including the parts of composites. */
function leaves(fields) {
  return fields.flatMap((field) => [field, ...leaves(field.parts || [])]);
}

function valuesOf(fields) {
  return Object.fromEntries(fields.map((field) => [field.property, field.read()]).filter(([, value]) => value !== undefined));
}

/**
 * Creates a form for `edit`, to which it adds the values of its fields.
 *
 * The edit is validated together with all other staged edits, because they may refer to each other.
 */
function formView(title, fields, edit, close, ...extra) {
  const others = el("p", { class: "problem", "aria-live": "polite" });
  const current = () => ({ ...edit, values: valuesOf(fields) });
  let turn = 0;

  async function check() {
    const own = ++turn;
    const now = current();
    const edits = stagedEdits().filter((each) => (each.id || each.ref) !== (now.id || now.ref));
    let violations = [];
    if (now.op === "insert" || Object.keys(now.values).length) {
      try {
        ({ violations } = await post("validate", { edits: [...edits, now].map(wire) }));
      } catch (error) {
        violations = [{ edit: edits.length, property: null, message: error.message }];
      }
    }
    if (own === turn) tell(violations.filter((each) => each.edit === edits.length));
  }

  /** Shows each violation at its field, and those without a field below all fields. */
  function tell(violations) {
    const all = leaves(fields);
    const placed = new Set();
    for (const field of all) {
      const own = violations.filter((each) => each.property && each.property.split(",").includes(field.property));
      own.forEach((each) => placed.add(each));
      tellProblem(field, own.map((each) => each.message).join(" "));
    }
    show(others, violations.filter((each) => !placed.has(each)).map((each) => each.message).join(" "));
  }

  const soon = debounce(200, check);
  return el("form", {
    class: "edit", "aria-label": title, oninput: soon, onchange: soon,
    onsubmit: (event) => {
      event.preventDefault();
      stage(current());
      notify("Staged for the next commit. Review it above.");
      close();
    },
  }, el("header", {}, el("h2", {}, title), el("button", {
    type: "button", class: "close quiet", "aria-label": "Close", onclick: close,
  }, "✕")), fields.map((field) => field.element), others, el("div", { class: "actions" },
    el("button", { type: "submit", class: "primary" }, "Stage change"), extra));
}

/** Creates a form for an existing object. */
export function editForm(schema, entity, object, close) {
  const edit = stagedFor(object.id);
  const fields = fieldsOf(schema, entity, object, edit);
  return formView(object.id, fields, { op: "update", id: object.id, entity: entity.name }, close, el("button", {
    type: "button", class: "danger", onclick: () => {
      stage({ op: "delete", id: object.id, entity: entity.name });
      notify("Staged for the next commit. Review it above.");
      close();
    },
  }, "Delete"));
}

/** Creates a form for a new object, or for one whose insertion is staged. */
export function insertForm(schema, entity, close, edit = null) {
  const ref = edit ? edit.ref : nextReference(entity.name);
  const fields = fieldsOf(schema, entity, null, edit);
  return formView(edit ? ref : `New ${entity.name}`, fields, { op: "insert", entity: entity.name, ref }, close,
    edit ? el("button", { type: "button", class: "danger", onclick: () => { unstage(edit); close(); } }, "Remove") : null);
}
