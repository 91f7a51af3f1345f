// Detects commits that the page doesn't show yet, and the removal of the file.
import { get } from "./api.js";
import { count, el, show } from "./dom.js";

const pause = 1500;

/**
 * Polls for commits while the page is visible.
 *
 * `shown` returns the last commit that the page shows; `refresh` shows the newest one.
 */
export function watchCommits({ shown, refresh }) {
  const place = document.getElementById("news");

  function tell(after, { sequence }) {
    const number = sequence - after;
    if (number <= 0 || after !== shown()) return show(place);
    const words = `${count(number)} newer ${number === 1 ? "commit" : "commits"} – refresh`;
    if (place.textContent === words) return;
    show(place, el("button", { type: "button", class: "primary", onclick: async () => { show(place); await refresh(); } }, words));
  }

  async function look() {
    let isOver = false;
    if (document.visibilityState === "visible") {
      const after = shown();
      try {
        tell(after, await get("news"));
      } catch (error) {
        if (place.textContent !== error.message) show(place, el("p", { class: "notice error" }, error.message));
        isOver = error.status === 0 || error.status === 401;
      }
    }
    if (!isOver) setTimeout(look, pause);
  }

  setTimeout(look, pause);
}
