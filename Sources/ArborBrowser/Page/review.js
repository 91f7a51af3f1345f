// The review of staged edits, which shows all of their effects before the commit. Edits can be removed.
import { post } from "./api.js";
import { count, el, failure, notify, plural, show } from "./dom.js";
import { changeTable } from "./history.js";
import { onStaged, stagedEdits, unstage, unstageAll, unstageProperty, wire } from "./staged.js";
import { text } from "./values.js";

let reload = async () => {};

const review = document.getElementById("review");
const undo = document.getElementById("undo");
const dialog = document.getElementById("dialog");

/** Shows the buttons if the store is writable. `changed` is called after commits. */
export function setUpEditing(schema, changed) {
  reload = changed;
  undo.hidden = !schema.canWrite;
  if (!schema.canWrite) return;
  review.addEventListener("click", showReview);
  undo.addEventListener("click", showUndo);
  window.addEventListener("beforeunload", (event) => { if (stagedEdits().length) event.preventDefault(); });
  onStaged(() => {
    review.hidden = !stagedEdits().length;
    review.textContent = `Review ${plural(stagedEdits().length, "change")}`;
  });
}

const kinds = { insert: "inserted", update: "updated", delete: "deleted" };

function changeList(changes) {
  if (!changes.length) return el("p", { class: "empty" }, "No changes.");
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

function names(links, sign) {
  return links.slice(0, 20).map((each) => `${sign}${text(each)}`).join(", ") + (links.length > 20 ? " …" : "");
}

/** Returns the removed and added members as the old and new value of a property. */
function members(change, kind) {
  if (!("added" in change)) {
    return kind === "insert" ? { property: change.property, new: change.new } : change;
  }
  return {
    property: change.property, ...(change.removed.length ? { old: names(change.removed, "−") } : {}),
    ...(change.added.length || change.order ? {
      new: [names(change.added, "+"), change.order ? `in the order ${names(change.order, "")}` : ""].filter((each) => each).join("; "),
    } : {}),
  };
}

function stagedText(value) {
  if (!value.add) return text(value.shown);
  return [names(value.add, "+"), names(value.remove, "−"), value.isMoved ? `in the order ${names(value.list, "")}` : ""]
    .filter((each) => each).join(", ");
}

/** The staged edits, each with its violations. */
function editList(violations, again) {
  const removal = (label, act) => el("button", {
    type: "button", class: "quiet", "aria-label": label, title: label, onclick: () => { act(); again(); },
  }, "✕");
  const problems = (place, property) => violations.filter((each) => each.edit === place
    && (property === null ? !each.property : (each.property || "").split(/[.,]/)[0] === property))
    .map((each) => el("p", { class: "problem" }, each.message));
  return el("ul", { class: "staged-edits", "aria-label": "Staged edits" }, stagedEdits().map((edit, place) => {
    const name = edit.id || edit.ref;
    const values = Object.entries(edit.values || {});
    const others = violations.filter((each) => each.edit === place && each.property
      && !values.some(([property]) => property === each.property.split(/[.,]/)[0]));
    return el("li", {}, el("div", { class: "line" }, el("span", { class: `figure ${kinds[edit.op]}` }, kinds[edit.op]),
      el("span", { class: "code grow" }, name), removal(`Remove the edit of ${name}`, () => unstage(edit))),
    problems(place, null), others.map((each) => el("p", { class: "problem" }, each.message)),
    values.map(([property, value]) => el("div", { class: "property" }, el("div", { class: "line" },
      el("span", { class: "faint" }, property), el("span", { class: "grow" }, stagedText(value)),
      removal(`Remove ${property} of ${name}`, () => unstageProperty(edit, property))), problems(place, property))));
  }));
}

/** Shows the changes that a request would make, and commits them on demand. */
async function propose(title, path, bodyOf, done) {
  let shown;
  let turn = 0;
  const isEdit = path === "edit";
  const problem = el("div", {});
  const edits = el("div", {});
  const list = el("div", {});
  const commit = el("button", { type: "button", class: "primary", onclick: () => send() }, "Commit");
  const buttons = el("div", { class: "actions" }, commit, el("button", {
    type: "button", onclick: () => dialog.close(),
  }, "Cancel"), isEdit ? el("button", {
    type: "button", class: "danger", onclick: () => { unstageAll(); dialog.close(); },
  }, "Discard all") : null);

  function refuse(error) {
    const violations = (error.document && error.document.violations) || [];
    show(edits, isEdit ? editList(violations, load) : null);
    show(problem, failure(violations.length ? { message: error.message } : error));
  }

  async function send() {
    commit.disabled = true;
    try {
      await post(path, { ...bodyOf(), digest: shown.digest });
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
          "The store has changed in the meantime, and so have the effects of these changes. Review them again.")));
      } else refuse(error);
    }
  }

  async function load() {
    const own = ++turn;
    if (isEdit && !stagedEdits().length) return dialog.close();
    commit.disabled = true;
    try {
      const answer = await post(path, bodyOf());
      if (own !== turn) return;
      shown = answer;
      show(problem);
      show(edits, isEdit ? editList([], load) : null);
      show(list, isEdit ? el("h3", {}, "Effects") : null, changeList(shown.changes));
      commit.disabled = false;
      commit.focus();
    } catch (error) {
      if (own !== turn) return;
      show(list);
      refuse(error);
      const first = edits.querySelector("button");
      if (first) first.focus();
    }
  }

  show(dialog, el("h2", { id: "dialog-title" }, title), problem, edits, list, buttons);
  dialog.showModal();
  await load();
}

function showReview() {
  return propose("Changes in the next commit", "edit", () => ({ edits: stagedEdits().map(wire) }), unstageAll);
}

function showUndo() {
  return propose("Undo the last commit made in this page", "undo", () => ({}), () => {});
}
