// Where the user was in a table. It belongs to an entry of the web browser's history, so that Back
// returns to the row.

/** Notes a place in the current entry. */
export function keepPlace(place) {
  history.replaceState({ ...history.state, place }, "");
}

/** The place that was noted in the current entry, or `null`. */
export function keptPlace() {
  const place = history.state && history.state.place;
  return place && Number.isFinite(place.row) && Number.isFinite(place.top) ? place : null;
}
