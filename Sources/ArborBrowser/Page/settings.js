// Settings that outlive the page: how tables and times are shown, never data or the token.

/** The setting stored under a name, or the default if it is missing or unreadable. */
export function kept(name, fallback) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? fallback;
  } catch {
    return fallback;
  }
}

/** Keeps a value, unless the web browser doesn't allow it. */
export function keep(name, value) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // The setting lasts as long as the page.
  }
}
