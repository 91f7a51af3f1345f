import ArborJSON
import Testing

/// A walk through a page by the Tab key.
enum PageKeys {
  /// Expects that the Tab key reaches every control of the page once and then leaves it. Elements
  /// without a tab stop are reached with the arrow keys.
  static func expectTabReachesAll(_ page: Chromium, _ name: String) throws {
    try page.evaluate(stops)
    let expected = try #require(try page.evaluate("window.stops.length").int64)
    #expect(expected > 8, "\(name)")
    var count: Int64 = 0
    repeat {
      try page.press("Tab")
      count += 1
    } while try count < 400 && page.evaluate("noteStop()") == false
    #expect(try page.evaluate("window.missed()") == [], "\(name)")
    #expect(count < 400, "\(name): the Tab key does not leave")
  }

  /// A script that lists the elements with a tab stop and records the focused ones. `noteStop`
  /// returns true once one repeats.
  private static let stops = """
    document.activeElement?.blur();
    window.seen = new Set();
    window.stops = [...document.querySelectorAll(
      "a[href], button, input, select, textarea, summary, [tabindex='0']")].filter((each) =>
        each.tabIndex >= 0 && !each.disabled && !each.closest("[hidden]")
        && getComputedStyle(each).visibility !== "hidden" && each.getClientRects().length);
    window.noteStop = () => {
      const now = document.activeElement;
      if (seen.has(now)) return true;
      seen.add(now);
      return false;
    };
    window.missed = () => stops.filter((each) => !seen.has(each)).map((each) => each.outerHTML.slice(0, 120));
    """
}
