import ArborData
import ArborModel
import Foundation
import TestLength
import TestSupport
import Testing
import ArborBrowser

/// A table of many objects, which appears quickly and is complete to its end.
@Suite("Scrolling a long table in the page", .serialized, .enabled(if: Chromium.executable != nil))
struct PageScrollingTests {
  /// Ten thousand objects, or a million in a long run.
  private static let count = TestLength.of(10_000, long: 1_000_000)

  @Test("A long table can be scrolled to its end without a gap")
  func scrollsToTheEndWithoutAGap() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "Many.arbor")
    let model = try ManagedObjectModel {
      EntityDescription("Item") {
        AttributeDescription("number", .integer64, .indexed)
        AttributeDescription("text", .string)
      }
    }
    let store = try PersistentStore(model: model, at: .file(url))
    for first in stride(from: 0, to: Self.count, by: 50_000) {
      let context = store.makeContext()
      for number in first..<min(first + 50_000, Self.count) {
        let item = try context.insert("Item")
        item["number"] = PropertyValue.integer(Int64(number))
        item["text"] = PropertyValue.string("Item \(number)")
      }
      try context.commit()
    }
    do {
      let browser = try StoreBrowser(store)
      defer {
        browser.stop()
        browser.waitUntilStopped()
      }
      try scroll(try Chromium(), browser)
    }
    store.close()
    try TemporaryStore.check(path: url.path)
  }

  private func scroll(_ page: Chromium, _ browser: StoreBrowser) throws {
    try page.open(browser.url)
    try page.exists(".box")
    let time = try page.evaluate(Self.timeToRows)
    print("first rows of \(Self.count) objects after \(time) ms")
    #expect((time.int64 ?? .max) < TestLength.of(5000, long: 300))
    try page.wait("document.querySelector('.summary')?.innerText.includes('objects')")
    try page.evaluate(Self.rowsInSight)
    // Small steps from the beginning, jumps through the whole table, and the last steps.
    #expect(try page.evaluate("steps(0, \(TestLength.of(40, long: 200)))") == "")
    #expect(try page.evaluate("leaps(\(TestLength.of(30, long: 60)))") == "")
    try page.evaluate("document.querySelector('.grid').focus()")
    try page.press("End")
    try page.wait("missing() === '' && rows().at(-1)?.index === \(Self.count - 1)")
    try page.picture("end-of-\(Self.count)")
    try page.press("PageUp")
    try page.press("PageUp")
    try page.wait("missing() === '' && rows()[0].index < \(Self.count - 30)")
    #expect(try page.evaluate("steps(null, 30)") == "")
    try page.wait("rows().at(-1)?.index === \(Self.count - 1)")
    try page.press("Home")
    try page.wait("missing() === '' && rows()[0]?.index === 0")
    #expect(page.complaints == [])
  }

  private static let timeToRows = """
    new Promise((done) => {
      const began = performance.now();
      const look = () => document.querySelector('.rows .row:not(.waiting)')
        ? done(Math.round(performance.now() - began)) : requestAnimationFrame(look);
      location.hash = '#/objects/Item';
      look();
    })
    """

  /// Functions that report errors in the visible rows. Every row from the top to the bottom edge
  /// must exist, with the values for its position.
  private static let rowsInSight = """
    window.rows = () => {
      const box = document.querySelector('.grid').getBoundingClientRect();
      return [...document.querySelectorAll('.rows .row')].map((row) => {
        const place = row.getBoundingClientRect();
        return { index: Number(row.dataset.index), top: place.top - box.top - 32,
          bottom: place.bottom - box.top - 32, height: box.height - 32,
          number: row.classList.contains('waiting') ? null : row.children[1].innerText };
      }).filter((row) => row.bottom > 0 && row.top < row.height - 20);
    };
    window.missing = () => {
      const seen = rows();
      if (!seen.length) return 'no rows';
      const height = seen[0].height;
      if (seen[0].top > 1) return `a gap above ${seen[0].index}: ${seen[0].top}`;
      if (seen.at(-1).bottom < height - 21) return `a gap below ${seen.at(-1).index}`;
      for (const [place, row] of seen.entries()) {
        if (row.index !== seen[0].index + place) return `row ${row.index} is out of order`;
        if (row.number === null) return `row ${row.index} is not there`;
        if (row.number !== String(row.index)) return `row ${row.index} has ${row.number}`;
      }
      return '';
    };
    window.settled = async () => {
      let wrong = '';
      for (let turn = 0; turn < 1500; turn++) {
        await new Promise(requestAnimationFrame);
        wrong = missing();
        if (!wrong) return '';
      }
      return wrong;
    };
    window.steps = async (from, count) => {
      const grid = document.querySelector('.grid');
      if (from !== null) grid.scrollTop = from;
      let last = (await settled()) || rows().at(-1).index;
      for (let step = 0; step < count; step++) {
        const first = rows()[0].index;
        grid.scrollTop += grid.clientHeight - 96;
        const wrong = await settled();
        if (wrong) return wrong;
        if (rows()[0].index > last + 1) return `rows ${last} to ${rows()[0].index} were skipped`;
        if (rows()[0].index < first) return `back from ${first} to ${rows()[0].index}`;
        last = rows().at(-1).index;
      }
      return '';
    };
    window.leaps = async (count) => {
      const grid = document.querySelector('.grid');
      const height = grid.scrollHeight - grid.clientHeight;
      for (let leap = 0; leap < count; leap++) {
        grid.scrollTop = Math.round((leap * 0.618 % 1) * height);
        await new Promise((next) => setTimeout(next, 5));
        const wrong = await settled();
        if (wrong) return `${wrong} at ${grid.scrollTop} of ${height}`;
      }
      return '';
    };
    0
    """
}
