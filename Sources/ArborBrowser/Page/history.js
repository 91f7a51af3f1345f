// Commits as they happen, newest first.
import { events } from "./api.js";
import { count, el, plural, show } from "./dom.js";
import { time } from "./time.js";
import { cell, objectAddress } from "./values.js";

const longest = 400;

/** The view of commits. */
export async function historyView(main, schema, rest, parameters, { commits }) {
  const list = el("ol", { class: "commits", "aria-label": "Commits", reversed: true });
  const state = el("span", { class: "live", role: "status" }, "Live");
  let total = commits.length;
  const summary = el("span", {});
  const tell = () => { summary.textContent = total ? plural(total, "commit") : "No commits yet"; };
  list.append(...commits.slice().reverse().map((commit) => commitView(schema, commit)));
  tell();
  show(main, el("div", { class: "bar" }, el("h2", {}, summary), state), list);

  const abort = new AbortController();
  let last = commits.length ? commits[commits.length - 1].sequence : 0;
  const take = (commit) => {
    last = commit.sequence;
    total++;
    tell();
    const view = commitView(schema, commit);
    view.classList.add("new");
    list.prepend(view);
    if (list.children.length > longest) list.lastElementChild.remove();
  };
  (async () => {
    while (!abort.signal.aborted) {
      try {
        await events("changes", { after: last }, abort.signal, take);
      } catch (error) {
        if (error.name === "AbortError" || error.status === 401) return;
      }
      state.textContent = "Waiting for the server";
      state.classList.add("off");
      await new Promise((resume) => setTimeout(resume, 1000));
      if (abort.signal.aborted) return;
      state.textContent = "Live";
      state.classList.remove("off");
    }
  })();
  return { end: () => abort.abort() };
}

const signs = { inserted: "+", updated: "~", deleted: "−" };

function commitView(schema, commit) {
  const who = [commit.author, commit.context].filter((each) => each).join(" · ");
  const figures = ["inserted", "updated", "deleted"].filter((kind) => commit[kind])
    .map((kind) => el("span", { class: `figure ${kind}`, title: kind }, `${signs[kind]}${count(commit[kind])}`,
      el("span", { class: "hidden" }, ` ${kind}`)));
  const told = commit.objects.length;
  const all = commit.inserted + commit.updated + commit.deleted;
  const details = el("div", { class: "objects" });
  const box = el("details", {
    ontoggle: () => {
      if (!box.open || details.children.length) return;
      show(details, commit.objects.map((object) => objectView(object)),
        told < all ? el("p", { class: "faint" }, `… and ${plural(all - told, "object")} more`) : null,
        commit.problem ? el("p", { class: "faint" }, `The changes could not be read: ${commit.problem}`) : null,
        commit.isComplete ? null : el("p", { class: "faint" }, "The commit is too large to list."));
    },
  }, el("summary", {}, el("span", { class: "sequence" }, `#${commit.sequence}`),
    el("span", { class: who ? "who" : "who none" }, who || "no author"),
    el("span", { class: "figures" }, figures.length ? figures : commit.isComplete ? "no change" : "many changes"),
    el("time", { datetime: commit.date, title: commit.date },
      commit.date ? time(commit.date) : "")), details);
  return el("li", { class: "commit" }, box);
}

function objectView(object) {
  const name = object.kind === "deleted" ? el("span", { class: "code" }, object.object)
    : el("a", { class: "object", href: objectAddress(object.object) }, object.object);
  return el("div", { class: object.changes.length ? "object-change full" : "object-change" },
    el("p", {}, el("span", { class: `figure ${object.kind}` }, object.kind), " ", name),
    object.changes.length ? changeTable(object.changes) : null);
}

/** A table of properties with their old and new values. Omits unknown values. */
export function changeTable(changes) {
  // Inserted objects have no old values, and deleted objects have no new ones.
  const sides = ["old", "new"].filter((side) => changes.some((change) => side in change));
  if (!sides.length) return el("p", { class: "faint" }, changes.map((change) => change.property).join(", "));
  const names = ["Property", ...sides.map((side) => side === "old" ? "Before" : "After")];
  return el("table", { class: "changes" }, el("thead", { class: "hidden" }, el("tr", {},
    names.map((each) => el("th", { scope: "col" }, each)))),
  el("tbody", {}, changes.map((change) => el("tr", {}, el("th", { scope: "row" }, change.property),
    sides.map((side) => el("td", { class: side },
      side in change ? cell(change[side]) : el("span", { class: "faint" }, "…")))))));
}
