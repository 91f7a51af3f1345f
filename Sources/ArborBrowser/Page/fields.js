// The fields of a form: one for each kind of property.
//
// A field is `{property, element, read}`. `read` returns the staged value, or `undefined` if the value
// is unchanged. The element has a place for the message of a violation.
import { el, plural, show } from "./dom.js";
import { makeFinder } from "./finder.js";
import { stagedObjects } from "./staged.js";
import { editableTime, timeInZone, zone } from "./time.js";
import { cell } from "./values.js";

let fields = 0;

/** Returns the text of a value in a form. */
function editable(value) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "object") return String(value);
  return "date" in value ? editableTime(value.date) : String(Object.values(value)[0]);
}

/** Returns the reason why a form cannot edit an attribute, or an empty string if it can. */
function lockOf(attribute, value) {
  const { type } = attribute;
  if (attribute.derivation) return `The store derives this attribute: ${attribute.derivation}.`;
  if (type.startsWith("transformable")) {
    return "The application's transformer decodes this attribute, so only the application can change it.";
  }
  if (type === "undefined") return "This attribute has no type, so only an application can change it.";
  if (type.includes("(") && !attribute.parts) return "The attribute's type is not in the model, so only an application can change it.";
  if (value && typeof value === "object" && ("text" in value || "json" in value && "length" in value)) {
    return `The value has ${plural(value.length, "character")} and is too long to edit here. Only an application can change it.`;
  }
  return "";
}

/** A field that cannot be edited, with the reason. */
function lockedField({ attribute, stored, id }, reason) {
  return {
    element: el("div", { class: "labelled locked" }, el("span", { class: "label" }, attribute.name, el("span", { class: "faint" }, ` ${attribute.type}`)),
      el("p", { class: "value" }, cell(stored)), el("p", { class: "faint" }, reason), messageOf(id)),
    read: () => undefined,
  };
}

/** A control with its label, further elements, and a place for a message. */
function labelled(id, name, type, control, ...more) {
  return el("div", { class: "labelled" }, el("label", { for: id }, name, el("span", { class: "faint" }, ` ${type}`)),
    control, ...more, messageOf(id));
}

function messageOf(id) {
  return el("p", { class: "problem", id: `${id}-problem`, "aria-live": "polite" });
}

/** Shows the message of a violation at a field, or removes it. */
export function tellProblem(field, message) {
  const place = field.element.querySelector(`#${CSS.escape(field.id)}-problem`);
  show(place, message);
  const control = document.getElementById(field.id) || field.element.querySelector(`#${CSS.escape(field.id)}`);
  if (!control) return;
  if (message) control.setAttribute("aria-invalid", "true");
  else control.removeAttribute("aria-invalid");
}

/** The field of an attribute. `staged` is the value that is already staged. */
export function attributeField(attribute, stored, staged, path = attribute.name) {
  const id = `field-${++fields}`;
  const reason = lockOf(attribute, stored);
  if (reason) return { id, property: path, ...lockedField({ attribute, stored, id }, reason) };
  const make = attribute.parts ? compositeField : attribute.type === "boolean" ? booleanField
    : attribute.type === "binary" ? binaryField : attribute.type === "json" ? jsonField : textField;
  return { id, property: path, ...make({ attribute, stored, staged, id, path }) };
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

/** The checkbox for nil. */
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
    element: labelled(id, attribute.name, attribute.type === "date" ? `date, ${zone()}` : attribute.type, el("div", { class: "pair" }, field,
      attribute.isOptional ? el("label", { class: "nil-box" }, isNil, "nil") : null)),
    read() {
      const wasNil = stored === null || stored === undefined;
      if (attribute.isOptional && isNil.checked) return wasNil ? undefined : { sent: null, shown: null };
      if (wasNil ? !isTouched && !(attribute.isOptional && !isNil.checked) : field.value === first) return undefined;
      const sent = attribute.type === "date" ? timeInZone(field.value) : field.value;
      return { sent, shown: attribute.type === "date" ? { date: sent } : sent };
    },
  };
}

/** The field of a composite, with a field for each part. */
function compositeField({ attribute, stored, staged, id, path }) {
  const before = stored && stored.parts || {};
  const sent = staged && staged.sent ? staged.sent.parts : null;
  const parts = attribute.parts.map((part) => attributeField(
    part, before[part.name] ?? null, sent && part.name in sent ? { sent: sent[part.name] } : null, `${path}.${part.name}`));
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

/** The field of binary data: a file. */
function binaryField({ attribute, stored, staged, id }) {
  const isNil = nilBox(attribute, staged ? staged.sent === null : !stored);
  let chosen = staged;
  const file = el("input", { ...described(id), type: "file" });
  file.addEventListener("change", async () => {
    if (!file.files.length) return;
    isNil.checked = false;
    chosen = { sent: { base64: await base64(file.files[0]) }, shown: { binary: file.files[0].size } };
    file.dispatchEvent(new Event("input", { bubbles: true }));
  });
  return {
    element: labelled(id, attribute.name, attribute.type, el("div", { class: "pair" }, el("div", { class: "grow" }, file),
      attribute.isOptional ? el("label", { class: "nil-box" }, isNil, "nil") : null)),
    read() {
      if (attribute.isOptional && isNil.checked) return stored ? { sent: null, shown: null } : undefined;
      return chosen && chosen.sent !== null ? chosen : undefined;
    },
  };
}

/** The field of a JSON attribute: its text. */
function jsonField({ attribute, stored, staged, id }) {
  const text = stored ? stored.json : "";
  const isNil = nilBox(attribute, staged ? staged.sent === null : !stored);
  const area = el("textarea", { ...described(id), rows: 5, spellcheck: "false", class: "code" });
  area.value = staged && staged.sent ? staged.sent.json : text;
  area.addEventListener("input", () => { isNil.checked = false; });
  return {
    element: labelled(id, attribute.name, "JSON", el("div", { class: "pair" }, el("div", { class: "grow" }, area),
      attribute.isOptional ? el("label", { class: "nil-box" }, isNil, "nil") : null)),
    read() {
      if (attribute.isOptional && isNil.checked) return stored ? { sent: null, shown: null } : undefined;
      return area.value === text ? undefined : { sent: { json: area.value }, shown: { json: area.value } };
    },
  };
}

async function base64(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let letters = "";
  for (let offset = 0; offset < bytes.length; offset += 32768) {
    letters += String.fromCharCode(...bytes.subarray(offset, offset + 32768));
  }
  return btoa(letters);
}

/**
 * The field of a relationship: its members, which can be removed, and a search for further ones. Members
 * of an ordered relationship can be moved if all of them are shown.
 */
export function relationshipField(schema, relationship, stored, staged) {
  const id = `field-${++fields}`;
  const { isToMany } = relationship;
  const before = isToMany ? (stored ? stored.members : []) : stored ? [stored] : [];
  const isComplete = !stored || !isToMany || stored.count <= before.length;
  const isOrdered = isToMany && relationship.isOrdered && isComplete;
  let added = staged ? (isToMany ? staged.add : staged.shown ? [staged.shown] : []) : [];
  let removed = staged ? (isToMany ? staged.remove : before) : [];
  const isRemoved = (each) => removed.some((one) => one.object === each.object);
  /** All members in order, including removed ones. */
  const known = (each) => [...before, ...added].find((one) => one.object === each.object) || each;
  let sequence = staged && staged.list ? [...staged.list.map(known), ...before.filter(isRemoved)] : [...before, ...added];
  const list = el("ul", { class: "members" });
  const kind = [isToMany ? "many" : "", relationship.isOrdered ? "ordered" : "", relationship.destination].filter((word) => word).join(" ");
  const element = labelled(id, relationship.name, kind, list);
  const changed = () => { draw(); element.dispatchEvent(new Event("input", { bubbles: true })); };

  function take(each, isNew, out) {
    if (isNew) {
      added = added.filter((one) => one !== each);
      sequence = sequence.filter((one) => one !== each);
    } else if (!out && isToMany) removed = [...removed, each];
    else if (!out) removed = [each];
    else {
      removed = removed.filter((one) => one.object !== each.object);
      if (!isToMany) added = [];
    }
    changed();
    finder.input.focus();
  }

  /** Moves a member and keeps the focus on its button. */
  function move(each, step) {
    const place = sequence.indexOf(each);
    const next = place + step;
    if (next < 0 || next >= sequence.length) return;
    sequence.splice(place, 1);
    sequence.splice(next, 0, each);
    changed();
    const button = list.children[next].querySelector(step < 0 ? ".up" : ".down");
    (button.disabled ? list.children[next].querySelector(step < 0 ? ".down" : ".up") : button).focus();
  }

  function member(each) {
    const isNew = added.includes(each);
    const name = each.label || each.object;
    const out = isRemoved(each);
    const place = sequence.indexOf(each);
    const mover = (step, word, sign) => el("button", {
      type: "button", class: `quiet ${step < 0 ? "up" : "down"}`, "aria-label": `Move ${name} ${word}`,
      disabled: step < 0 ? place === 0 : place === sequence.length - 1, onclick: () => move(each, step),
    }, sign);
    return el("li", { class: out ? "removed" : isNew ? "added" : null }, el("span", { title: each.object }, name),
      isOrdered ? [mover(-1, "up", "↑"), mover(1, "down", "↓")] : null,
      el("button", {
        type: "button", class: "quiet", "aria-label": out ? `Undo removal of ${name}` : `Remove ${name}`, onclick: () => take(each, isNew, out),
      }, out ? "↶" : "✕"));
  }

  function draw() {
    show(list, sequence.map(member),
      isComplete ? null : el("li", { class: "faint" }, `… and ${plural(stored.count - before.length, "member")} more${relationship.isOrdered ? ". Only a program can reorder this many" : ""}`));
  }

  const finder = makeFinder({
    id, label: relationship.name, placeholder: `Search ${relationship.destination}`, entity: relationship.destination,
    others: () => stagedObjects(schema, relationship.destination),
    pick: ({ object, label }) => {
      finder.input.value = "";
      const link = { object, label };
      if (before.some((each) => each.object === object)) {
        removed = isToMany ? removed.filter((each) => each.object !== object) : [];
        if (!isToMany) added = [];
      } else {
        added = isToMany ? [...added.filter((each) => each.object !== object), link] : [link];
        if (!isToMany) removed = before;
      }
      sequence = [...sequence.filter((each) => before.includes(each) || added.includes(each)), ...added.filter((each) => !sequence.includes(each))];
      changed();
    },
  });
  finder.input.setAttribute("aria-describedby", `${id}-problem`);
  list.after(finder.element);
  draw();
  return {
    id, property: relationship.name, element,
    read() {
      const now = sequence.filter((each) => !isRemoved(each));
      const isMoved = isOrdered && now.filter((each) => !added.includes(each))
        .some((each, place) => each !== before.filter((one) => !isRemoved(one))[place]);
      if (!added.length && !removed.length && !isMoved) return undefined;
      if (isOrdered) return { add: added, remove: removed, list: now, isMoved };
      if (isToMany) return { add: added, remove: removed };
      return added.length ? { sent: added[0].object, shown: added[0] } : { sent: null, shown: null };
    },
  };
}
