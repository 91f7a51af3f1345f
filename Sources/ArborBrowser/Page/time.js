// The time zone in which the page shows times, chosen by the user.
import { el } from "./dom.js";
import { keep, kept } from "./settings.js";

const local = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
const zones = ["UTC", ...new Set([local, ...Intl.supportedValuesOf("timeZone")])].filter((each, index) => index === 0 || each !== "UTC");
let chosen = kept("zone", "UTC");
if (!zones.includes(chosen)) chosen = "UTC";

export function zone() {
  return chosen;
}

function form() {
  return new Intl.DateTimeFormat("en", {
    timeZone: chosen, hourCycle: "h23", year: "numeric", month: "2-digit", day: "2-digit",
    hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3,
    timeZoneName: "shortOffset",
  });
}

let shown = form();

/** Formats an ISO 8601 time in the chosen zone. Times out of range of `Date` are returned unchanged. */
export function time(iso) {
  const moment = new Date(iso);
  const year = moment.getUTCFullYear();
  if (!(year > 0 && year < 9999)) return iso;
  const parts = Object.fromEntries(shown.formatToParts(moment).map((each) => [each.type, each.value]));
  const fraction = parts.fractionalSecond === "000" ? "" : `.${parts.fractionalSecond.replace(/0+$/, "")}`;
  const offset = parts.timeZoneName.replace("GMT", "UTC").replace(/\+0$/, "");
  return `${parts.year.padStart(4, "0")}-${parts.month}-${parts.day} ${parts.hour}:${parts.minute}:${parts.second}${fraction} ${offset}`;
}

/** Returns the current day in the chosen time zone, as `2026-01-31`. */
export function today() {
  return time(new Date().toISOString()).slice(0, 10);
}

/** Returns the offset of the chosen zone at a moment, in minutes. */
function offsetAt(moment) {
  const parts = new Intl.DateTimeFormat("en", { timeZone: chosen, timeZoneName: "longOffset" }).formatToParts(moment);
  const found = parts.find((each) => each.type === "timeZoneName").value.match(/([+-])(\d\d):(\d\d)/);
  return found ? (found[1] === "-" ? -1 : 1) * (60 * Number(found[2]) + Number(found[3])) : 0;
}

function offsetText(minutes) {
  const two = (number) => String(number).padStart(2, "0");
  return `${minutes < 0 ? "-" : "+"}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
}

const isUsual = (moment) => moment.getUTCFullYear() > 0 && moment.getUTCFullYear() < 9999;

/** Converts an ISO 8601 time in UTC to the chosen zone, with its offset. */
export function editableTime(iso) {
  const moment = new Date(iso);
  if (chosen === "UTC" || !isUsual(moment)) return iso;
  const minutes = offsetAt(moment);
  return new Date(moment.getTime() + minutes * 60_000).toISOString().replace(/(\.000)?Z$/, "") + offsetText(minutes);
}

/** Returns a typed time with the offset of the chosen zone if it has none. */
export function timeInZone(text) {
  const wall = text.trim().match(/^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?$/);
  if (chosen === "UTC" || !wall) return text;
  const asUTC = new Date(`${wall[1]}T${wall[2] || "00:00"}Z`);
  if (Number.isNaN(asUTC.getTime()) || !isUsual(asUTC)) return text;
  // The offset may change between the two moments, at the start or end of daylight saving time.
  const first = new Date(asUTC.getTime() - offsetAt(asUTC) * 60_000);
  return `${wall[1]}T${wall[2] || "00:00"}${offsetText(offsetAt(first))}`;
}

/** Creates the list for choosing the zone. */
export function zoneChoice(changed) {
  return el("select", {
    id: "zone", "aria-label": "Time zone", title: "Time zone",
    onchange: (event) => {
      chosen = event.target.value;
      shown = form();
      keep("zone", chosen);
      changed();
    },
  }, zones.map((each) => el("option", { value: each, selected: each === chosen }, each.replaceAll("_", " "))));
}
