// The edits that are staged for the next commit, and the values of objects with them.
//
// An edit is `{op, entity, id or ref, values}`. Each value is `{sent, shown}`, for the server and for the
// user. Members are `{add, remove}`, both lists of links. If their order can be changed, `list` has all
// of them, and `isMoved` whether they were moved.
import { count } from "./dom.js";

let edits = [];
let inserted = 0;
const listeners = new Set();

const keyOf = (edit) => edit.id || edit.ref;

function tell() {
  for (const listener of listeners) listener();
}

/** Calls a function whenever the staged edits change. Returns a function that removes it. */
export function onStaged(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function stagedEdits() {
  return edits;
}

/** Returns the edit of the object with an ID, or of a new object with a reference. */
export function stagedFor(key) {
  return edits.find((edit) => keyOf(edit) === key);
}

/** Returns a reference for another new object. */
export function nextReference(entity) {
  return `new ${entity} ${++inserted}`;
}

/** Stages an edit, which replaces an earlier one of the same object. Without values, removes it. */
export function stage(edit) {
  const place = edits.findIndex((each) => keyOf(each) === keyOf(edit));
  const isNothing = edit.op === "update" && !Object.keys(edit.values).length;
  if (place < 0 && !isNothing) edits.push(edit);
  else if (isNothing) edits = edits.filter((each) => keyOf(each) !== keyOf(edit));
  else edits[place] = edit;
  tell();
}

/** Removes an edit. If it inserts an object, also removes links to it from other edits. */
export function unstage(edit) {
  edits = edits.filter((each) => each !== edit);
  if (edit.ref) for (const each of edits) unlink(each, edit.ref);
  edits = edits.filter((each) => each.op !== "update" || Object.keys(each.values).length);
  tell();
}

function unlink(edit, ref) {
  for (const [property, value] of Object.entries(edit.values || {})) {
    if (value.sent === ref) delete edit.values[property];
    if (!value.add) continue;
    value.add = value.add.filter((each) => each.object !== ref);
    if (value.list) value.list = value.list.filter((each) => each.object !== ref);
    if (!value.add.length && !value.remove.length && !value.isMoved) delete edit.values[property];
  }
}

/** Removes one property of an edit. */
export function unstageProperty(edit, property) {
  const { [property]: removed, ...values } = edit.values;
  stage({ ...edit, values });
}

export function unstageAll() {
  edits = [];
  tell();
}

/** Returns an edit in the form that the server expects. */
export function wire(edit) {
  const { values, ...rest } = edit;
  if (!values) return rest;
  const ids = (links) => links.map((each) => each.object);
  return {
    ...rest,
    values: Object.fromEntries(Object.entries(values).map(([property, value]) =>
      [property, value.list ? ids(value.list) : value.add ? { add: ids(value.add), remove: ids(value.remove) } : value.sent])),
  };
}

/** Returns the staged new objects of an entity and its subentities, as links. */
export function stagedObjects(schema, entity) {
  const isOne = (name) => {
    for (let each = schema.entities.find((one) => one.name === name); each;) {
      if (each.name === entity) return true;
      each = schema.entities.find((one) => one.name === each.parent);
    }
    return false;
  };
  return edits.filter((edit) => edit.op === "insert" && isOne(edit.entity))
    .map((edit) => ({ kind: "object", object: edit.ref, label: "", isNew: true }));
}

function withEdit(edit, property, old) {
  if (!edit) return old;
  if (edit.op === "delete") return { staged: old, old, isDeleted: true };
  const value = edit.values[property];
  if (!value) return old;
  const members = value.add && ((old && (old.count ?? old.members)) || 0) + value.add.length - value.remove.length;
  const shown = value.add
    ? `${count(members)} (${[value.add.length ? `+${value.add.length}` : "", value.remove.length ? `−${value.remove.length}` : "", value.isMoved ? "reordered" : ""].filter((each) => each).join(" ")})`
    : value.shown;
  return { staged: shown, old };
}

/** Returns a row of a table with the staged values of its object. */
export function stagedRow(entity, row) {
  const edit = stagedFor(row[0]);
  if (!edit) return row;
  const names = [...entity.attributes, ...entity.relationships].map((each) => each.name);
  return [row[0], ...row.slice(1).map((old, index) => withEdit(edit, names[index], old))];
}

/** Returns the value of an object's property with its staged value. */
export function stagedValue(object, property, old) {
  return withEdit(stagedFor(object.id), property, old);
}
