// The fields of a form: one for each kind of property.
//
// A field is `{property, element, read}`. `read` gives the staged value, or `undefined` if nothing is
// to be changed. The element has a place for the message of a violation.
import { binary } from "./api.js";
import { el, show } from "./dom.js";
import { makeFinder } from "./finder.js";
import { stagedObjects } from "./staged.js";

const longestDocument = 256 << 10;
let fields = 0;

/** The text of a value in a form. */
function editable(value) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "object") return String(value);
  return String(value.date ?? Object.values(value)[0]);
}

/** Whether a form can change an attribute with a value. */
export function canWrite(attribute, value) {
  const isComposite = Boolean(attribute.parts);
  return !attribute.derivation && attribute.type !== "undefined" && (isComposite || !attribute.type.includes("("))
    && !(value && typeof value === "object" && "text" in value);
}

/** A label, a control with the elements beside it, and the place for a message. */
function labelled(id, name, type, control, ...more) {
  return el("div", { class: "labelled" }, el("label", { for: id }, name, el("span", { class: "faint" }, ` ${type}`)),
    control, ...more, messageOf(id));
}

function messageOf(id) {
  return el("p", { class: "problem", id: `${id}-problem`, "aria-live": "polite" });
}

/** Shows the message of a violation at a field, or none. */
export function tellProblem(field, message) {
  const place = field.element.querySelector(`#${CSS.escape(field.id)}-problem`);
  show(place, message);
  const control = document.getElementById(field.id) || field.element.querySelector(`#${CSS.escape(field.id)}`);
  if (!control) return;
  if (message) control.setAttribute("aria-invalid", "true");
  else control.removeAttribute("aria-invalid");
}

/** The field of an attribute. `staged` is the value that is staged already. */
export function attributeField(attribute, stored, staged, objectID, path = attribute.name) {
  const id = `field-${++fields}`;
  const make = attribute.parts ? compositeField : attribute.type === "boolean" ? booleanField
    : attribute.type === "binary" ? binaryField : textField;
  return { id, property: path, ...make({ attribute, stored, staged, objectID, id, path }) };
}

function described(id) {
  return { id, "aria-describedby": `${id}-problem` };
}

function booleanField({ attribute, stored, staged, id }) {
  const now = staged ? staged.sent : stored;
  const choices = [["", "nil"], ["true", "yes"], ["false", "no"]]
    .filter(([key]) => key || attribute.isOptional || stored === null || stored === undefined);
  const field = el("select", described(id), choices.map(([key, word]) =>
    el("option", { value: key, selected: key === (now === null || now === undefined ? "" : String(now)) }, word)));
  return {
    element: labelled(id, attribute.name, attribute.type, field),
    read() {
      const value = field.value === "" ? null : field.value === "true";
      return value === (stored ?? null) ? undefined : { sent: value, shown: value };
    },
  };
}

/** The box that says that a value is nil, where it may be. */
function nilBox(attribute, isNil) {
  return el("input", { type: "checkbox", checked: isNil, "aria-label": `${attribute.name} is nil`, "data-nil": "" });
}

function textField({ attribute, stored, staged, id }) {
  const text = editable(stored);
  const now = staged ? staged.sent ?? "" : text;
  const isLong = attribute.type === "string" && [text, now].some((each) => each.length > 60 || each.includes("\n"));
  const field = isLong ? el("textarea", { ...described(id), rows: 5 }) : el("input", {
    ...described(id), type: "text", spellcheck: "false", autocomplete: "off",
    placeholder: { date: "2026-01-31T12:00:00Z", uuid: "00000000-0000-…" }[attribute.type] || null,
  });
  field.value = text;
  // As returned by the field, which normalizes line breaks.
  const first = field.value;
  if (staged) field.value = now;
  const isNil = nilBox(attribute, staged ? staged.sent === null : stored === null || stored === undefined);
  let isTouched = Boolean(staged);
  field.addEventListener("input", () => { isTouched = true; isNil.checked = false; });
  return {
    element: labelled(id, attribute.name, attribute.type, el("div", { class: "pair" }, field,
      attribute.isOptional ? el("label", { class: "nil-box" }, isNil, "nil") : null)),
    read() {
      const wasNil = stored === null || stored === undefined;
      if (attribute.isOptional && isNil.checked) return wasNil ? undefined : { sent: null, shown: null };
      if (wasNil ? !isTouched && !(attribute.isOptional && !isNil.checked) : field.value === first) return undefined;
      return { sent: field.value, shown: field.value };
    },
  };
}

/** The parts of a composite, each with a field of its own. */
function compositeField({ attribute, stored, staged, objectID, id, path }) {
  const before = stored && stored.parts || {};
  const sent = staged && staged.sent ? staged.sent.parts : null;
  const parts = attribute.parts.filter((part) => canWrite(part, before[part.name])).map((part) => attributeField(
    part, before[part.name] ?? null, sent && part.name in sent ? { sent: sent[part.name] } : null, objectID, `${path}.${part.name}`));
  const isNil = nilBox(attribute, staged ? staged.sent === null : !stored);
  const box = el("div", { class: "parts" }, parts.map((part) => part.element));
  box.addEventListener("input", () => { isNil.checked = false; });
  return {
    parts,
    element: el("fieldset", { ...described(id) }, el("legend", {}, attribute.name, el("span", { class: "faint" }, ` ${attribute.type}`)),
      attribute.isOptional ? el("label", { class: "nil-box" }, isNil, "nil") : null, box, messageOf(id)),
    read() {
      if (attribute.isOptional && isNil.checked) return stored ? { sent: null, shown: null } : undefined;
      const changed = parts.map((part) => [part.property.slice(path.length + 1), part.read()])
        .filter(([, value]) => value !== undefined);
      if (!changed.length) return undefined;
      const those = (side) => Object.fromEntries(changed.map(([name, value]) => [name, value[side]]));
      return { sent: { parts: those("sent") }, shown: { parts: { ...before, ...those("shown") } } };
    },
  };
}

/** Bytes from a file, or a JSON document as text, as values of Codable types are stored. */
function binaryField({ attribute, stored, staged, objectID, id }) {
  const place = el("div", { class: "grow" });
  const isNil = nilBox(attribute, staged ? staged.sent === null : !stored);
  let chosen = staged;
  let original = null;

  function showDocument(text, now = text) {
    original = text;
    const area = el("textarea", { ...described(id), rows: 5, spellcheck: "false", class: "code" });
    area.value = now;
    area.addEventListener("input", () => {
      isNil.checked = false;
      chosen = area.value === text ? undefined : { sent: { json: area.value }, shown: area.value };
    });
    show(place, area);
    return area;
  }

  function showFile() {
    const file = el("input", { ...described(id), type: "file" });
    file.addEventListener("change", async () => {
      if (!file.files.length) return;
      isNil.checked = false;
      chosen = { sent: { base64: await base64(file.files[0]) }, shown: { binary: file.files[0].size } };
      file.dispatchEvent(new Event("input", { bubbles: true }));
    });
    show(place, file, stored ? null : el("button", {
      type: "button", class: "quiet", onclick: () => showDocument("").focus(),
    }, "Enter JSON"));
  }

  const stagedText = staged && staged.sent && staged.sent.json;
  if (stagedText !== undefined && stagedText !== null) showDocument(original, stagedText);
  else if (attribute.isCodable && !stored) showDocument("");
  else showFile();
  if (objectID && stored && stored.kind === "text" && stored.binary <= longestDocument) {
    binary(objectID, attribute.name).then((data) => {
      const text = new TextDecoder().decode(data);
      if (!isDocument(text)) return;
      showDocument(text, stagedText ?? text);
    }).catch(() => {});
  }
  return {
    element: labelled(id, attribute.name, attribute.isCodable ? "JSON" : attribute.type, el("div", { class: "pair" }, place,
      attribute.isOptional ? el("label", { class: "nil-box" }, isNil, "nil") : null)),
    read() {
      if (attribute.isOptional && isNil.checked) return stored ? { sent: null, shown: null } : undefined;
      return chosen && chosen.sent !== null ? chosen : undefined;
    },
  };
}

function isDocument(text) {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}

async function base64(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let letters = "";
  for (let offset = 0; offset < bytes.length; offset += 32768) {
    letters += String.fromCharCode(...bytes.subarray(offset, offset + 32768));
  }
  return btoa(letters);
}

/** The field of a relationship: its members, which can be taken out, and a search for others. */
export function relationshipField(schema, relationship, stored, staged) {
  const id = `field-${++fields}`;
  const before = relationship.isToMany ? (stored ? stored.members : []) : stored ? [stored] : [];
  let added = staged ? (relationship.isToMany ? staged.add : staged.shown ? [staged.shown] : []) : [];
  let removed = staged ? (relationship.isToMany ? staged.remove : before) : [];
  const list = el("ul", { class: "members" });
  const element = labelled(id, relationship.name, `${relationship.isToMany ? "many " : ""}${relationship.destination}`, list);
  const isRemoved = (each) => removed.some((one) => one.object === each.object);
  const changed = () => { draw(); element.dispatchEvent(new Event("input", { bubbles: true })); };

  function member(each, isNew) {
    const name = each.label || each.object;
    const out = isRemoved(each);
    return el("li", { class: out ? "removed" : isNew ? "added" : null }, el("span", { title: each.object }, name), el("button", {
      type: "button", class: "quiet", "aria-label": out ? `Keep ${name}` : `Remove ${name}`, onclick: () => {
        if (isNew) added = added.filter((one) => one !== each);
        else if (!out && relationship.isToMany) removed = [...removed, each];
        else if (!out) removed = [each];
        else { removed = removed.filter((one) => one.object !== each.object); if (!relationship.isToMany) added = []; }
        changed();
        finder.input.focus();
      },
    }, out ? "↶" : "✕"));
  }

  function draw() {
    show(list, before.map((each) => member(each, false)), added.map((each) => member(each, true)),
      stored && stored.count > before.length ? el("li", { class: "faint" }, `… and ${stored.count - before.length} more`) : null);
  }

  const finder = makeFinder({
    id, label: relationship.name, placeholder: `Search ${relationship.destination}`, entity: relationship.destination,
    others: () => stagedObjects(schema, relationship.destination),
    pick: ({ object, label }) => {
      finder.input.value = "";
      const link = { object, label };
      if (before.some((each) => each.object === object)) {
        removed = relationship.isToMany ? removed.filter((each) => each.object !== object) : [];
        if (!relationship.isToMany) added = [];
      } else {
        added = relationship.isToMany ? [...added.filter((each) => each.object !== object), link] : [link];
        if (!relationship.isToMany) removed = before;
      }
      changed();
    },
  });
  finder.input.setAttribute("aria-describedby", `${id}-problem`);
  list.after(finder.element);
  draw();
  return {
    id, property: relationship.name, element,
    read() {
      if (!added.length && !removed.length) return undefined;
      if (relationship.isToMany) return { add: added, remove: removed };
      return added.length ? { sent: added[0].object, shown: added[0] } : { sent: null, shown: null };
    },
  };
}
