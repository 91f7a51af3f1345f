import Foundation
import Testing

private let address = ProcessInfo.processInfo.environment["ARBOR_PAGE"].flatMap { URL(string: $0) }

/// How soon the page of a large store is there. `tools/benchmarks/page` runs this with the variable
/// `ARBOR_PAGE`, the address of a server with a store of workload W, and prints the figures.
@Suite(
  "Figures of the page of a large store",
  .enabled(if: Chromium.executable != nil && address != nil, "needs ARBOR_PAGE"))
struct PageFiguresTests {
  @Test("First paint, the schema, the first rows, and a sort to the end")
  func figures() throws {
    let page = try Chromium()
    try page.open(try #require(address))
    try page.exists(".box")
    let schema = try page.evaluate("Math.round(performance.now())")
    let entries = "performance.getEntriesByName('first-contentful-paint')"
    try page.wait("\(entries).length")
    let paint = try page.evaluate("Math.round(\(entries)[0].startTime)")
    let rows = try page.evaluate(
      """
      window.milliseconds = (address, isThere) => new Promise((done) => {
        const began = performance.now();
        location.hash = address;
        const look = () => isThere() ? done(Math.round(performance.now() - began))
          : requestAnimationFrame(look);
        requestAnimationFrame(look);
      });
      window.shown = (index) => document.querySelector(
        `.rows .row[data-index="${index}"]:not(.waiting)`);
      milliseconds('#/objects/Employee', () => shown(0));
      """)
    try page.wait("document.querySelector('.grid').getAttribute('aria-rowcount') > 1")
    let sorted = try page.evaluate(
      """
      (() => {
        const last = document.querySelector('.grid').getAttribute('aria-rowcount') - 2;
        const former = document.querySelector('.grid');
        return milliseconds('#/objects/Employee?sort=name', () => {
          const grid = document.querySelector('.grid');
          if (grid !== former) grid.scrollTop = grid.scrollHeight;
          return grid !== former && shown(last);
        });
      })()
      """)
    for (name, value) in [
      ("first paint", paint), ("schema drawn", schema), ("first rows", rows),
      ("sorted by name, to the end", sorted),
    ] {
      print("\(name): \(value) ms")
    }
    #expect(page.complaints == [])
  }
}
