import ArborData
import ArborModel
import Foundation
import TestSupport
import Testing
import ArborBrowser

/// Pictures of every view, for whoever wants to look: with light and dark colors, 1400 and 390 pixels
/// wide, of a usual, a hostile, an empty, an edited and a damaged store, and of a file of another
/// program.
///
/// They are written into the folder that the variable `ARBOR_SCREENSHOTS` specifies.
@Suite(
  "Pictures of the page", .serialized,
  .enabled(if: Chromium.executable != nil && Chromium.pictures != nil))
struct ScreenshotTests {
  private struct View {
    let name: String
    let address: String
    /// The elements that the view has before the steps of the user.
    let before: String
    /// What the user does in the view: scripts, each with an element that it leads to.
    let steps: [(script: String, mark: String)]

    init(
      _ name: String, _ address: String, _ before: String,
      then steps: (script: String, mark: String)...
    ) {
      self.name = name
      self.address = address
      self.before = before
      self.steps = steps
    }
  }

  private static let views = [
    View("schema", "schema", ".box, .empty, .stage"),
    View("objects", "objects", ".rows .row:not(.waiting), .summary strong, .failure"),
    View("object", "objects/Employee?id=Employee/1", ".detail h2, .detail .failure"),
    View(
      "query",
      "query?entity=Employee&where=age%20%3C%2045&column=office.city%20AS%20city,@count&group=office.city",
      ".plan, .failure"),
    View("history", "history", ".commit, .bar h2, .failure"),
    View("health", "health", ".space-map svg, .failure"),
  ]

  /// Edits of a shop, from the form to the review. They are discarded by the last view.
  private static let edits = [
    View("edit", "objects/Shop?id=Shop/2", editButton, then: (edit, ".edit textarea")),
    View(
      "staged", "objects/Shop?id=Shop/1", editButton, then: (edit, ".edit textarea"),
      (
        type(["floor": "3", "city": "Oslo", "settings": #"{"open": false, "days": [1, 2]}"#])
          + "document.querySelector('.edit [type=submit]').click()",
        ".detail .values .staged"
      )),
    View("staged-table", "objects/Shop", ".rows .staged"),
    View("review", "objects/Shop", ".rows .staged", then: (review, "dialog .object-change")),
    View(
      "violations", "objects/Shop?id=Shop/1", editButton, then: (edit, ".edit textarea"),
      (
        type(["name": "South", "code": "abc", "floor": "12", "city": "", "settings": "{"]),
        ".edit fieldset .problem:not(:empty)"
      )),
    View(
      "review-violations", "objects/Shop?id=Shop/1", ".edit",
      then: ("document.querySelector('.edit [type=submit]').click()", ".detail .values .staged"),
      (review, "dialog .staged-edits .problem")),
    View(
      "discarded", "objects/Shop", ".rows .staged", then: (review, "dialog .danger"),
      ("document.querySelector('dialog .danger').click()", "#review[hidden]")),
  ]

  private static let editButton = ".detail > .actions button"
  private static let edit = "document.querySelector('\(editButton)').click()"
  private static let review = "document.getElementById('review').click()"

  /// Returns a script that types texts into the fields with the labels.
  private static func type(_ texts: [String: String]) -> String {
    texts.sorted { $0.key < $1.key }.map { label, text in
      """
      {
        const label = [...document.querySelectorAll('.edit label')]
          .find((each) => each.textContent.startsWith('\(label)'));
        const control = document.getElementById(label.htmlFor);
        control.value = '\(text)';
        control.dispatchEvent(new Event('input', { bubbles: true }));
      };

      """
    }.joined()
  }

  private func take(_ url: URL, _ name: String, _ views: [View]) throws {
    let page = try Chromium()
    try page.open(url)
    try page.wait("document.getElementById('main')?.getAttribute('aria-busy') === 'false'")
    for (width, isDark) in [(1400, false), (1400, true), (390, false), (390, true)] {
      try page.resize(width, width > 500 ? 900 : 780, isDark: isDark)
      for view in views {
        try page.evaluate("document.querySelector('dialog[open]')?.close()")
        try page.evaluate("location.hash = '#/\(view.address)'")
        try page.exists(view.before)
        for step in view.steps {
          try page.evaluate(step.script)
          try page.exists(step.mark)
        }
        try page.wait("document.getElementById('main')?.getAttribute('aria-busy') === 'false'")
        try page.picture("\(name)-\(view.name)-\(width)-\(isDark ? "dark" : "light")")
      }
    }
    #expect(page.complaints == [])
  }

  @Test("A usual store") func aUsualStore() throws {
    try ServedStore.use(employees: 300, writing: true) { served in
      let tables = [
        View("search", "objects/Employee?where=age%20%3E%2060&sort=-age", ".rows .row"),
        View(
          "column-menu", "objects/Employee", ".head .cell:nth-child(3) .more",
          then: (
            "document.querySelector('.head .cell:nth-child(3) .more').click()",
            "dialog.menu .frequent[aria-busy=false]"
          )),
      ]
      try take(served.browser.url, "usual", Self.views + tables)
    }
  }

  @Test("A store with staged edits") func aStoreWithStagedEdits() throws {
    try ServedStore.use(EditRunTests.makeModel(), writing: true, fill: EditRunTests.fill) {
      served in try take(served.browser.url, "edits", Self.edits)
    }
  }

  @Test("The search of a whole store") func theSearchOfAStore() throws {
    try ServedStore.use(StoreSearchTests.makeModel(), fill: StoreSearchTests.fill) { served in
      let script = """
        document.getElementById('find').click();
        document.activeElement.value = 'a';
        document.activeElement.dispatchEvent(new Event('input'));
        """
      let views = ["a", "fox", "none"].map { text in
        View(
          "find-\(text)", "objects/Article", ".rows .row",
          then: (
            script.replacing("'a'", with: "'\(text)'"),
            text == "none" ? "#search [role=status]:not(:empty)" : "#search [role=option]"
          ))
      }
      try take(served.browser.url, "search", views)
    }
  }

  @Test("An empty store") func anEmptyStore() throws {
    try ServedStore.use(ServedStore.makeModel(), fill: { _ in }) { served in
      try take(served.browser.url, "empty", Self.views)
    }
  }

  @Test("A hostile store") func aHostileStore() throws {
    let attack = "<img src=x onerror=\"window.harm=1\">\u{202E}txet\u{0}\u{200B} & <b>'\"`"
    try ServedStore.use(
      ServedStore.makeModel(),
      fill: { context in
        context.author = attack
        let office = try context.insert("Office")
        office["city"] = PropertyValue.string(attack)
        for number in 0..<40 {
          let employee = try context.insert("Employee")
          employee["name"] = PropertyValue.string("\(attack) \(number)")
          employee["notes"] = PropertyValue.string(String(repeating: attack, count: 20))
          employee["office"] = office
        }
      }
    ) { served in try take(served.browser.url, "hostile", Self.views) }
  }

  @Test("A store with a record that is damaged while it is served") func aDamagedStore() throws {
    try ServedStore.use(employees: 300) { served in
      let url = try #require(served.store.url)
      let places = try Data(contentsOf: url).ranges(of: Data("Employee 7".utf8))
      let file = try FileHandle(forUpdating: url)
      func write(_ letter: String) throws {
        for place in places {
          try file.seek(toOffset: UInt64(place.lowerBound))
          try file.write(contentsOf: Data(letter.utf8))
        }
      }
      try write("X")
      defer { try? write("E") }
      try take(served.browser.url, "damaged", Self.views)
    }
  }

  @Test("A file of another program") func aFileOfAnotherProgram() throws {
    let file = try ForeignFile()
    defer { file.remove() }
    try ServedFile.use([file.folder.path]) { url in
      try take(
        url, "foreign",
        [
          View("tables", "tables/words", ".rows .row:not(.waiting)"),
          View("entry", "tables/words?position=0", ".detail .binary"),
        ])
    }
  }

  @Test("An address without a token") func anAddressWithoutAToken() throws {
    try ServedStore.use(employees: 3) { served in
      let page = try Chromium()
      let address = try #require(URL(string: "http://127.0.0.1:\(served.client.port)/#/objects"))
      for (width, isDark) in [(1400, false), (390, true)] {
        try page.resize(width, 780, isDark: isDark)
        try page.open(address)
        try page.exists(".token")
        try page.picture("bookmark-\(width)")
      }
    }
  }
}
