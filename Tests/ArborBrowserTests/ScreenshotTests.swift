import ArborData
import ArborModel
import Foundation
import TestSupport
import Testing
import ArborBrowser

/// Pictures of every view, for whoever wants to look: with light and dark colors, 1400 and 390 pixels
/// wide, of a usual, a hostile, an empty and a damaged store, and of a file of another program.
///
/// They are written into the folder that the variable `ARBOR_SCREENSHOTS` specifies.
@Suite(.serialized, .enabled(if: Chromium.executable != nil && Chromium.pictures != nil))
struct ScreenshotTests {
  /// A view: its name, its address, and an element that it has once it is complete.
  private typealias View = (name: String, address: String, mark: String)

  private static let views: [View] = [
    ("schema", "schema", ".box, .empty, .stage"),
    ("objects", "objects", ".rows .row:not(.waiting), .summary strong, .failure"),
    ("object", "objects/Employee?id=Employee/1", ".detail h2, .detail .failure"),
    (
      "query",
      "query?entity=Employee&where=age%20%3C%2045&column=office.city%20AS%20city,@count&group=office.city",
      ".plan, .failure"
    ),
    ("history", "history", ".commit, .bar h2, .failure"),
    ("health", "health", ".space-map svg, .failure"),
  ]

  private func take(_ url: URL, _ name: String, _ views: [View]) throws {
    let page = try Chromium()
    try page.open(url)
    try page.wait("document.getElementById('main')?.getAttribute('aria-busy') === 'false'")
    for (width, isDark) in [(1400, false), (1400, true), (390, false), (390, true)] {
      try page.resize(width, width > 500 ? 900 : 780, isDark: isDark)
      for view in views {
        try page.evaluate("location.hash = '#/\(view.address)'")
        try page.exists(view.mark)
        try page.wait("document.getElementById('main')?.getAttribute('aria-busy') === 'false'")
        try page.picture("\(name)-\(view.name)-\(width)-\(isDark ? "dark" : "light")")
      }
    }
    #expect(page.complaints == [])
  }

  @Test func aUsualStore() throws {
    try ServedStore.use(employees: 300, writing: true) { served in
      let edit: [View] = [
        ("search", "objects/Employee?where=age%20%3E%2060&sort=-age", ".rows .row")
      ]
      try take(served.browser.url, "usual", Self.views + edit)
    }
  }

  @Test func anEmptyStore() throws {
    try ServedStore.use(ServedStore.makeModel(), fill: { _ in }) { served in
      try take(served.browser.url, "empty", Self.views)
    }
  }

  @Test func aHostileStore() throws {
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

  /// A record of the store is damaged while it is served.
  @Test func aDamagedStore() throws {
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

  @Test func aFileOfAnotherProgram() throws {
    let file = try ForeignFile()
    defer { file.remove() }
    try ServedFile.use([file.folder.path]) { url in
      try take(
        url, "foreign",
        [
          ("tables", "tables/words", ".rows .row:not(.waiting)"),
          ("entry", "tables/words?position=0", ".detail .binary"),
        ])
    }
  }

  @Test func anAddressWithoutAToken() throws {
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
