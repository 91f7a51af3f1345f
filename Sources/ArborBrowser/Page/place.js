// The user's place in a table. It is stored in the current entry of the web browser's history, so that
// Back returns to the row.

/** Stores a place in the current entry. */
export function keepPlace(place) {
  history.replaceState({ ...history.state, place }, "");
}

/** Returns the place stored in the current entry, or `null`. */
export function keptPlace() {
  const place = history.state && history.state.place;
  return place && Number.isFinite(place.row) && Number.isFinite(place.top) ? place : null;
}
