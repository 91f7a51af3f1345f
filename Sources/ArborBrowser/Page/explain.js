// The plan of a query: the rows, reads and time of each step, wrong estimates, and the effect of a
// proposed index.
import { bytes, count, el, milliseconds, plural, show } from "./dom.js";

/** The minimum factor, and number of rows, by which an estimate must be off to be marked as wrong. */
const muchFactor = 4;
const muchRows = 20;

/**
 * Creates the view of a plan: a tree with the last step at its root.
 *
 * `whatIf` contains the field for a proposed index, and requests its effect from the server.
 */
export function planView(plan, whatIf = null) {
  const most = Math.max(1, ...rowsOf(plan.root));
  const wrong = wrongSteps(plan.root);
  return el("section", { class: "plan", "aria-label": "Plan" }, el("h2", {}, "Plan"),
    el("ul", { class: "tree" }, step(plan.root, most)),
    wrong ? el("p", { class: "advice" }, `${plural(wrong, "estimate")} ${wrong === 1 ? "was" : "were"} wrong by a factor of ${muchFactor} or more. The plan may not be the best one.`) : null,
    (plan.notes ?? []).map((note) => el("p", { class: "advice" }, note)),
    plan.suggestedIndex ? adviceView(plan) : null, whatIf ? whatIfView(plan, whatIf) : null);
}

/** Creates the form for a proposed index, and the element that shows its effect. */
function whatIfView(plan, { box, ask }) {
  const answer = el("div", { class: "effect", role: "status" });
  box.form = el("form", {
    class: "what-if", "aria-label": "What if there were an index",
    onsubmit: async (event) => {
      event.preventDefault();
      box.clear();
      if (!box.value.trim()) return show(answer);
      try {
        show(answer, effectText(plan, await ask(box.value)));
      } catch (error) {
        show(answer);
        box.fail({ message: error.message });
      }
    },
  }, el("span", { class: "label", "aria-hidden": "true" }, "What if there were an index on"), box.element,
  el("button", { type: "submit" }, "Try"));
  return [box.form, answer];
}

/** Describes the effect of a proposed index. */
function effectText(plan, { summary, size, total, effect }) {
  const space = size ? `It would have up to ${plural(size.entries, "entry", "entries")} and take about ${bytes(size.bytes)}, `
    + `estimated from ${plural(size.sample, "object")}. ` : "";
  if (!effect) {
    return el("p", {}, el("code", {}, summary), `: ${space}This query would not use it, because neither a condition nor the order begins with its first property.`);
  }
  const read = recordsOf(plan.root);
  return el("p", {}, el("code", {}, summary), `: ${space}The query would find ${count(effect.rows)} of ${plural(total, "object")}`,
    effect.conditions ? [" by ", el("code", {}, effect.conditions)] : "",
    effect.givesOrder ? ", already sorted" : "", read === null ? "." : `. It currently reads ${plural(read, "record")}.`);
}

/** Returns the number of records read by the step that finds the rows. */
function recordsOf(step) {
  if (step.records !== null && step.records !== undefined) return step.records;
  return step.inputs.map(recordsOf).find((each) => each !== null) ?? null;
}

/** Describes the suggested index and its estimated size. */
function adviceView({ suggestedIndex, indexSize }) {
  return el("p", { class: "advice" }, el("strong", {}, "An index would help: "), el("code", {}, suggestedIndex),
    indexSize ? `. It would have up to ${plural(indexSize.entries, "entry", "entries")} and take about ${bytes(indexSize.bytes)}, `
      + `estimated from ${plural(indexSize.sample, "object")}.` : null);
}

function rowsOf(step) {
  return [step.actual || step.estimated || 0, ...step.inputs.flatMap(rowsOf)];
}

/** Returns the factor by which a step returned more or fewer rows than estimated, if it is large. */
function error({ actual, estimated }) {
  if (actual === null || estimated === null || Math.abs(actual - estimated) < muchRows) return null;
  const [low, high] = [Math.max(1, Math.min(actual, estimated)), Math.max(actual, estimated)];
  return high / low >= muchFactor ? { factor: high / low, isMore: actual > estimated } : null;
}

function wrongSteps(each) {
  return (error(each) ? 1 : 0) + each.inputs.reduce((sum, input) => sum + wrongSteps(input), 0);
}

/** Returns the measured costs of a step. */
function costs(each) {
  const known = (value) => value !== null && value !== undefined;
  return [
    known(each.keys) ? plural(each.keys, "key") : "", known(each.records) ? plural(each.records, "record") : "",
    known(each.milliseconds) ? milliseconds(each.milliseconds) : "",
  ].filter((cost) => cost);
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
      costs(each).map((cost) => el("span", { class: "cost" }, cost)),
      wrong ? el("span", { class: "wrong" }, `${count(Math.round(wrong.factor))} × ${wrong.isMore ? "more" : "fewer"}`) : null),
    el("span", { class: "meter", "aria-hidden": "true" },
      el("span", { style: { width: `${Math.max(1, (rows || 0) / most * 100)}%` } }))),
  each.inputs.length ? el("ul", {}, each.inputs.map((input) => step(input, most))) : null);
}
