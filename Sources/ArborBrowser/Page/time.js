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

/** A time in the chosen zone, from ISO 8601. Times beyond the calendar of web browsers stay as they are. */
export function time(iso) {
  const moment = new Date(iso);
  const year = moment.getUTCFullYear();
  if (!(year > 0 && year < 9999)) return iso;
  const parts = Object.fromEntries(shown.formatToParts(moment).map((each) => [each.type, each.value]));
  const fraction = parts.fractionalSecond === "000" ? "" : `.${parts.fractionalSecond.replace(/0+$/, "")}`;
  const offset = parts.timeZoneName.replace("GMT", "UTC").replace(/\+0$/, "");
  return `${parts.year.padStart(4, "0")}-${parts.month}-${parts.day} ${parts.hour}:${parts.minute}:${parts.second}${fraction} ${offset}`;
}

/** Makes the choice of the zone. */
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
