import ArborData
import ArborModel
import Foundation
import Testing
import ArborBrowser

/// Exports from the page.
@Suite(.serialized, .enabled(if: Chromium.executable != nil)) struct PageExportTests {
  /// Keeps the files that the page offers, by name.
  private static let files = """
    window.blobs = new Map();
    const make = URL.createObjectURL;
    URL.createObjectURL = (blob) => { const address = make(blob); blobs.set(address, blob); return address; };
    window.files = {};
    HTMLAnchorElement.prototype.click = function () {
      if (this.download) blobs.get(this.href).text().then((text) => { files[this.download] = text; });
    };
    """

  private func choose(_ page: Chromium, _ format: String) throws {
    try page.click(".table-tools button[title='Save all rows as a file']")
    try page.exists("dialog.menu .item")
    #expect(try PageAudit.problems(in: page) == [])
    try page.picture("export")
    try page.evaluate(
      "[...document.querySelectorAll('dialog.menu .item')].find((each) => each.innerText.startsWith('All rows as \(format)')).click()"
    )
  }

  @Test func allRowsAreSaved() throws {
    try ServedStore.use(employees: 500) { served in
      let page = try Chromium(showing: served.browser.url)
      try page.evaluate(Self.files)
      try page.evaluate("location.hash = '#/objects/Employee?where=age%20%3E%2040&sort=-age'")
      try page.exists(".rows .row:not(.waiting)")
      try choose(page, "CSV")
      try page.wait("files['Employee.csv']")
      try page.wait("document.querySelector('#notice').innerText.startsWith('Exported Employee, ')")
      let lines = try #require(try page.evaluate("files['Employee.csv']").string)
        .split(separator: "\n")
      #expect(lines.count == 291)
      #expect(lines[0].hasPrefix("@id,name,age,salary,"))
      #expect(lines[1].contains("Employee 49,69,"))

      try page.evaluate(
        "location.hash = '#/query?entity=Employee&column=age%20*%202%20AS%20twice&sort=-twice&limit=10'"
      )
      try page.wait("document.querySelectorAll('.result .rows .row:not(.waiting)').length === 10")
      try choose(page, "JSON")
      try page.wait("files['Employee-query.json']")
      #expect(
        try page.evaluate("JSON.parse(files['Employee-query.json']).length") == 500)
      #expect(
        try page.evaluate("JSON.parse(files['Employee-query.json'])[0].twice") == 138)
      #expect(page.complaints == [])
    }
  }

  /// An export that is cut saves no file and says why.
  @Test func aCutExportIsNoFile() throws {
    try ServedStore.use(employees: 3000) { served in
      let url = try #require(served.store.url)
      let places = try Data(contentsOf: url).ranges(of: Data("Employee 2500".utf8))
      let file = try FileHandle(forUpdating: url)
      func write(_ letter: String) throws {
        for place in places {
          try file.seek(toOffset: UInt64(place.lowerBound))
          try file.write(contentsOf: Data(letter.utf8))
        }
      }
      let page = try Chromium(showing: served.browser.url)
      try page.evaluate(Self.files)
      try page.evaluate("location.hash = '#/objects/Employee'")
      try page.exists(".rows .row:not(.waiting)")
      try write("X")
      defer { try? write("E") }
      try choose(page, "NDJSON")
      try page.wait(
        "/^The export stopped after 2\u{202F}\\d{3} rows. No file was saved. /.test(document.querySelector('.notice.error')?.innerText)"
      )
      #expect(try page.evaluate("Object.keys(files).length") == 0)
      try page.picture("export-cut")
      #expect(page.complaints == [])
    }
  }

  /// Computed columns are sorted by a click, like any other.
  @Test func computedColumnsAreSorted() throws {
    try ServedStore.use { served in
      let page = try Chromium(showing: served.browser.url)
      try page.evaluate(
        "location.hash = '#/query?entity=Employee&column=name,age%20*%202%20AS%20twice,age%20%2B%201'"
      )
      try page.exists(".result .rows .row:not(.waiting)")
      for (place, greatest) in [(3, "98"), (4, "50")] {
        let column = ".result .head .cell:nth-child(\(place))"
        for order in ["ascending", "descending"] {
          try page.click("\(column) button.name")
          try page.wait(
            "document.querySelector('\(column)')?.getAttribute('aria-sort') === '\(order)'")
        }
        try page.wait(
          "document.querySelector('.result .rows .row .cell:nth-child(\(place))')?.innerText === '\(greatest)'"
        )
      }
      #expect(page.complaints == [])
    }
  }
}
