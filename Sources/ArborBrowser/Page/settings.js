// Persistent display settings of tables, times and diagrams. They never contain data or the token.

/** Returns the setting stored under a name, or the default if it is missing or unreadable. */
export function kept(name, fallback) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? fallback;
  } catch {
    return fallback;
  }
}

/** Stores a setting if the web browser allows it. */
export function keep(name, value) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // The setting applies until the page is closed.
  }
}
