// Edits: collected, shown with all of their effects, and committed together.
import { post } from "./api.js";
import { count, el, failure, notify, plural, show } from "./dom.js";
import { changeTable } from "./history.js";
import { text } from "./values.js";

let pending = [];
let reload = async () => {};
let canWrite = false;
let inserted = 0;

const review = document.getElementById("review");
const undo = document.getElementById("undo");
const dialog = document.getElementById("dialog");

/** Shows the buttons where the store may be changed; `changed` is called after commits. */
export function setUpEditing(schema, changed) {
  canWrite = schema.canWrite;
  reload = changed;
  undo.hidden = !canWrite;
  if (!canWrite) return;
  review.addEventListener("click", () => showReview());
  undo.addEventListener("click", () => showUndo());
  window.addEventListener("beforeunload", (event) => { if (pending.length) event.preventDefault(); });
  tell();
}

function tell() {
  review.hidden = !pending.length;
  review.textContent = `Review ${plural(pending.length, "change")}`;
}

function keep(edit) {
  const earlier = pending.find((each) => edit.op !== "insert" && each.id === edit.id && each.op !== "insert");
  if (!earlier) pending.push(edit);
  else if (edit.op === "delete") pending[pending.indexOf(earlier)] = edit;
  else Object.assign(earlier.values ||= {}, edit.values);
  tell();
  notify("Staged for the next commit. Review it above.");
}

/** The text of a value in a form. */
function editable(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "object") {
    if ("date" in value) return value.date;
    if ("object" in value) return value.object;
    if ("members" in value) return value.members.map((each) => each.object).join(", ");
    return String(Object.values(value)[0]);
  }
  return String(value);
}

function input(attribute, value, id) {
  const shared = { id, name: attribute.name };
  if (attribute.type === "boolean") {
    return el("select", shared, [["", "nil"], ["true", "yes"], ["false", "no"]].filter(([key]) => key || attribute.isOptional)
      .map(([key, word]) => el("option", { value: key, selected: key === (value === null ? "" : String(value)) }, word)));
  }
  if (attribute.type === "binary") return el("input", { ...shared, type: "file" });
  const shown = editable(value);
  if (attribute.type === "string" && (shown.length > 60 || shown.includes("\n"))) {
    const area = el("textarea", { ...shared, rows: 5 });
    area.value = shown;
    return area;
  }
  const field = el("input", {
    ...shared, type: "text", spellcheck: "false", autocomplete: "off",
    placeholder: { date: "2026-01-31T12:00:00Z", uuid: "00000000-0000-…" }[attribute.type] || null,
  });
  field.value = shown;
  return field;
}

/** Whether a person can write a value of an attribute. */
function canWriteText(attribute, value) {
  return !attribute.derivation && !["undefined"].includes(attribute.type) && !attribute.type.includes("(")
    && !(value && typeof value === "object" && "text" in value);
}

let forms = 0;

function fields(entity, object) {
  const form = `form-${++forms}`;
  const found = [];
  for (const attribute of entity.attributes) {
    const value = object ? object.attributes[attribute.name] : attribute.default;
    if (!canWriteText(attribute, value)) continue;
    const id = `${form}-${found.length}`;
    const isNil = el("input", { type: "checkbox", checked: value === null, "aria-label": `${attribute.name} is nil` });
    const field = input(attribute, value, id);
    // As returned by the field, which normalizes line breaks.
    const first = field.value;
    field.addEventListener("input", () => { isNil.checked = false; });
    found.push({
      property: attribute.name, before: value, field,
      element: el("div", { class: "labelled" }, el("label", { for: id }, attribute.name,
        el("span", { class: "faint" }, ` ${attribute.type}`)), el("div", { class: "pair" }, field,
        attribute.isOptional && attribute.type !== "boolean" ? el("label", { class: "nil-box" }, isNil, "nil") : null)),
      async read() {
        if (attribute.type === "boolean") return field.value === "" ? null : field.value === "true";
        if (isNil.checked && attribute.isOptional) return null;
        if (attribute.type !== "binary") return field.value;
        return field.files.length ? { base64: await base64(field.files[0]) } : undefined;
      },
      isChanged: (now) => now !== undefined && (now === null ? value !== null
        : typeof now === "object" || field.value !== first || value === null),
    });
  }
  for (const relationship of entity.relationships) {
    const value = object ? object.relationships[relationship.name] : null;
    if (relationship.isToMany && value && value.count > value.members.length) continue;
    const id = `${form}-${found.length}`;
    const field = el("input", { id, type: "text", spellcheck: "false", autocomplete: "off", placeholder: `${relationship.destination}/1` });
    field.value = editable(value);
    const first = field.value;
    const read = () => relationship.isToMany ? field.value.split(",").map((each) => each.trim()).filter((each) => each)
      : field.value.trim() || null;
    found.push({
      property: relationship.name, field, read: async () => read(),
      element: el("div", { class: "labelled" }, el("label", { for: id }, relationship.name,
        el("span", { class: "faint" }, ` ${relationship.isToMany ? "many " : ""}${relationship.destination}`)), field),
      isChanged: () => field.value.trim() !== first.trim(),
    });
  }
  return found;
}

async function base64(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let letters = "";
  for (let offset = 0; offset < bytes.length; offset += 32768) {
    letters += String.fromCharCode(...bytes.subarray(offset, offset + 32768));
  }
  return btoa(letters);
}

async function changed(found) {
  const values = {};
  for (const each of found) {
    const now = await each.read();
    if (each.isChanged(now)) values[each.property] = now;
  }
  return values;
}

function formView(title, found, save, close, extra) {
  return el("form", {
    class: "edit", "aria-label": title, onsubmit: (event) => { event.preventDefault(); save(); },
  }, el("header", {}, el("h2", {}, title), el("button", {
    type: "button", class: "close quiet", "aria-label": "Close", onclick: close,
  }, "✕")), found.map((each) => each.element), el("div", { class: "actions" },
    el("button", { type: "submit", class: "primary" }, "Stage change"), extra));
}

/** A form for an object that is there. */
export function editForm(schema, entity, object, close) {
  const found = fields(entity, object);
  return formView(object.id, found, async () => {
    const values = await changed(found);
    if (Object.keys(values).length) keep({ op: "update", id: object.id, values });
    close();
  }, close, el("button", {
    type: "button", class: "danger", onclick: () => { keep({ op: "delete", id: object.id }); close(); },
  }, "Delete"));
}

/** A form for a new object. */
export function insertForm(schema, entity, close) {
  const found = fields(entity, null);
  return formView(`New ${entity.name}`, found, async () => {
    keep({ op: "insert", entity: entity.name, ref: `new ${entity.name} ${++inserted}`, values: await changed(found) });
    close();
  }, close);
}

function changeList(changes) {
  if (!changes.length) return el("p", { class: "empty" }, "Nothing changes.");
  const kinds = { insert: "inserted", update: "updated", delete: "deleted" };
  const figures = Object.entries(kinds).map(([kind, word]) => [word, changes.filter((each) => each.kind === kind).length])
    .filter(([, number]) => number);
  return [
    el("p", { class: "figures" }, figures.map(([word, number]) => el("span", { class: `figure ${word}` }, `${count(number)} ${word}`))),
    el("div", { class: "list", tabindex: 0, role: "region", "aria-label": "Changes" }, changes.slice(0, 500).map((each) =>
      el("div", { class: "object-change" }, el("p", {}, el("span", { class: `figure ${kinds[each.kind]}` }, kinds[each.kind]), " ",
        el("span", { class: "code" }, each.object)),
      each.properties.length ? changeTable(each.properties.map((change) => members(change, each.kind))) : null)),
    changes.length > 500 ? el("p", { class: "faint" }, `… and ${plural(changes.length - 500, "object")} more`) : null),
  ];
}

/** Who leaves and who joins, as one line each. */
function members(change, kind) {
  if (!("added" in change)) {
    return kind === "insert" ? { property: change.property, new: change.new } : change;
  }
  const names = (list, sign) => list.slice(0, 20).map((each) => `${sign}${text(each)}`).join(", ") + (list.length > 20 ? " …" : "");
  return {
    property: change.property, ...(change.removed.length ? { old: names(change.removed, "−") } : {}),
    ...(change.added.length ? { new: names(change.added, "+") } : {}),
  };
}

/** Shows what an answer would change, and commits it where that is wanted. */
async function propose(title, path, body, done) {
  let shown;
  const problem = el("div", {});
  const list = el("div", {});
  const commit = el("button", { type: "button", class: "primary", onclick: () => send() }, "Commit");
  const buttons = el("div", { class: "actions" }, commit, el("button", {
    type: "button", onclick: () => dialog.close(),
  }, "Cancel"), path === "edit" ? el("button", {
    type: "button", class: "danger", onclick: () => { pending = []; tell(); dialog.close(); },
  }, "Discard") : null);

  async function send() {
    commit.disabled = true;
    try {
      await post(path, { ...body, digest: shown.digest });
      dialog.close();
      done();
      notify("Committed.");
      await reload();
    } catch (error) {
      commit.disabled = false;
      if (error.document && error.document.changes) {
        shown = error.document;
        show(list, changeList(shown.changes));
        show(problem, el("div", { class: "failure", role: "alert" }, el("strong", {},
          "The store has changed, and so has the effect of these changes. Review them again.")));
      } else show(problem, failure(error));
    }
  }

  show(dialog, el("h2", { id: "dialog-title" }, title), problem, list, buttons);
  dialog.showModal();
  try {
    shown = await post(path, body);
    show(list, changeList(shown.changes));
    commit.focus();
  } catch (error) {
    commit.disabled = true;
    show(problem, failure(error));
  }
}

function showReview() {
  return propose("Changes of the next commit", "edit", { edits: pending }, () => { pending = []; tell(); });
}

function showUndo() {
  return propose("Undo the last commit made here", "undo", {}, () => {});
}
