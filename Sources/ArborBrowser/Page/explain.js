// The plan of a query: what each step returned, and where its estimate was wrong.
import { bytes, count, el, plural } from "./dom.js";

/** An estimate is wrong by much if the fact is as many times higher or lower, and by so many rows. */
const muchFactor = 4;
const muchRows = 20;

/** The plan as a tree, the last step at its root. */
export function planView(plan) {
  const most = Math.max(1, ...rowsOf(plan.root));
  const wrong = wrongSteps(plan.root);
  return el("section", { class: "plan", "aria-label": "Plan" }, el("h2", {}, "Plan"),
    el("ul", { class: "tree" }, step(plan.root, most)),
    wrong ? el("p", { class: "advice" }, `${plural(wrong, "estimate")} ${wrong === 1 ? "was" : "were"} wrong by a factor of ${muchFactor} or more. The plan may not be the best one.`) : null,
    plan.suggestedIndex ? adviceView(plan) : null);
}

/** The index that would help, with the space that it would take. */
function adviceView({ suggestedIndex, indexSize }) {
  return el("p", { class: "advice" }, el("strong", {}, "An index would help: "), el("code", {}, suggestedIndex),
    indexSize ? `. It would have up to ${plural(indexSize.entries, "entry", "entries")} and take about ${bytes(indexSize.bytes)}, `
      + `estimated from ${plural(indexSize.sample, "object")}.` : null);
}

function rowsOf(step) {
  return [step.actual || step.estimated || 0, ...step.inputs.flatMap(rowsOf)];
}

/** The factor by which a step returned more (or fewer) rows than estimated, if it is large. */
function error({ actual, estimated }) {
  if (actual === null || estimated === null || Math.abs(actual - estimated) < muchRows) return null;
  const [low, high] = [Math.max(1, Math.min(actual, estimated)), Math.max(actual, estimated)];
  return high / low >= muchFactor ? { factor: high / low, isMore: actual > estimated } : null;
}

function wrongSteps(each) {
  return (error(each) ? 1 : 0) + each.inputs.reduce((sum, input) => sum + wrongSteps(input), 0);
}

function step(each, most) {
  const rows = each.actual ?? each.estimated;
  const wrong = error(each);
  return el("li", {}, el("div", { class: "step" },
    el("span", { class: `kind ${each.kind}` }, each.kind),
    el("span", { class: "what" }, each.name ? el("code", {}, each.name) : null,
      each.name && each.detail ? " " : null, each.detail),
    el("span", { class: "figures" },
      el("span", {}, each.actual === null ? "– rows" : plural(each.actual, "row")),
      each.estimated === null ? null : el("span", { class: "faint" }, ` estimated ${count(each.estimated)}`),
      wrong ? el("span", { class: "wrong" }, `${count(Math.round(wrong.factor))} × ${wrong.isMore ? "more" : "fewer"}`) : null),
    el("span", { class: "meter", "aria-hidden": "true" },
      el("span", { style: { width: `${Math.max(1, (rows || 0) / most * 100)}%` } }))),
  each.inputs.length ? el("ul", {}, each.inputs.map((input) => step(input, most))) : null);
}
