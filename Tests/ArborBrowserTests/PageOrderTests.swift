import ArborData
import ArborJSON
import ArborModel
import Foundation
import Testing
import ArborBrowser

/// Forms of properties that have an order, or cannot be changed.
@Suite(.serialized, .enabled(if: Chromium.executable != nil)) struct PageOrderTests {
  private static func makeModel() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("List") {
        AttributeDescription("name", .string)
        AttributeDescription("color", .transformable("Secure"), .optional)
        AttributeDescription("songCount", .integer64, .derived("songs.@count"))
        AttributeDescription("played", .date, .optional)
        RelationshipDescription(
          "songs", to: "Song", inverse: "lists", .toMany, .ordered, .optional)
      }
      EntityDescription("Song") {
        AttributeDescription("title", .string)
        RelationshipDescription("lists", to: "List", inverse: "songs", .toMany, .optional)
      }
    }
  }

  private static func fill(_ context: ManagedObjectContext) throws {
    let list = try context.insert("List")
    list["name"] = "Evening"
    list["played"] = PropertyValue.date(Date(timeIntervalSinceReferenceDate: 0))
    let songs = try ["One", "Two", "Three"].map { title in
      let song = try context.insert("Song")
      song["title"] = PropertyValue.string(title)
      return song
    }
    try list.objects(forKey: "songs").replaceAll(with: songs)
  }

  private func titles(_ served: ServedStore) throws -> [String] {
    let context = served.store.makeContext()
    let list = try #require(try context.fetchOne("List"))
    return try list.objects(forKey: "songs").fetch().map { "\(try $0.value(forKey: "title"))" }
  }

  private func use(_ body: (ServedStore, Chromium) throws -> Void) throws {
    try ServedStore.use(Self.makeModel(), writing: true, fill: Self.fill) { served in
      let page = try Chromium(showing: served.browser.url)
      try page.evaluate("location.hash = '#/objects/List?id=List/1'")
      try page.click(".detail > .actions button")
      try page.exists(".edit")
      try body(served, page)
      #expect(page.complaints == [])
    }
  }

  private static let members =
    "[...document.querySelectorAll('.edit .members li > span')].map((each) => each.innerText).join()"

  @Test func membersAreMoved() throws {
    try use { served, page in
      #expect(try page.evaluate(Self.members) == "One,Two,Three")
      try page.click(".edit button[aria-label='Move Three up']")
      #expect(try page.evaluate(Self.members) == "One,Three,Two")
      // The focus stays on the button, so that it can be pressed again.
      #expect(try page.evaluate("document.activeElement.ariaLabel") == "Move Three up")
      try page.press("Enter")
      #expect(try page.evaluate(Self.members) == "Three,One,Two")
      #expect(try page.evaluate("document.activeElement.ariaLabel") == "Move Three down")
      #expect(try PageAudit.problems(in: page) == [])
      try page.picture("order")
      try page.click(".edit [type=submit]")
      try page.wait(
        "document.querySelector('.relationship .staged')?.innerText.includes('reordered')")
      // A form of a staged edit has the staged order.
      try page.click(".detail > .actions button")
      try page.wait("\(Self.members) === 'Three,One,Two'")
      try page.click(".edit .close")
      try page.click("#review")
      try page.wait(
        "document.querySelector('dialog .changes .new')?.innerText === 'in the order Song/3, Song/1, Song/2'"
      )
      try page.wait("document.querySelector('dialog .primary').disabled === false")
      try page.click("dialog .primary")
      try page.wait("!document.querySelector('#dialog').open")
      #expect(try titles(served) == ["Three", "One", "Two"])
    }
  }

  /// A member that is taken out leaves the others in their order.
  @Test func membersAreMovedAndTakenOut() throws {
    try use { served, page in
      try page.click(".edit button[aria-label='Move One down']")
      try page.click(".edit button[aria-label='Remove Three']")
      try page.click(".edit [type=submit]")
      try page.click("#review")
      try page.wait("document.querySelector('dialog .primary')?.disabled === false")
      try page.click("dialog .primary")
      try page.wait("!document.querySelector('#dialog').open")
      #expect(try titles(served) == ["Two", "One"])
    }
  }

  @Test func lockedPropertiesSayWhy() throws {
    try use { _, page in
      let locked = try page.evaluate(
        "[...document.querySelectorAll('.edit .locked')].map((each) => each.innerText)")
      let texts = locked.array?.compactMap(\.string) ?? []
      #expect(texts.count == 2)
      #expect(texts.first?.hasPrefix("color transformable") == true, "\(texts)")
      #expect(texts.first?.contains("only the application can change it.") == true)
      #expect(texts.last?.contains("The store derives this attribute: songs.@count.") == true)
      #expect(try PageAudit.problems(in: page) == [])
    }
  }

  /// Dates are edited in the time zone of the page.
  @Test func datesAreInTheZoneOfThePage() throws {
    try ServedStore.use(Self.makeModel(), writing: true, fill: Self.fill) { served in
      let page = try Chromium(showing: served.browser.url)
      try page.evaluate(
        """
        { const zone = document.querySelector('#zone');
          zone.value = 'Europe/Riga'; zone.dispatchEvent(new Event('change')); }
        """)
      try page.evaluate("location.hash = '#/objects/List?id=List/1'")
      try page.click(".detail > .actions button")
      let field =
        "[...document.querySelectorAll('.edit label')].find((each) => each.innerText === 'played date, Europe/Riga')"
      try page.wait(field)
      try page.evaluate("window.field = document.getElementById(\(field).htmlFor)")
      #expect(try page.evaluate("field.value") == "2001-01-01T02:00:00+02:00")
      try page.evaluate("field.focus(); field.select()")
      try page.type("2020-07-01 12:00")
      try page.click(".edit [type=submit]")
      try page.wait(
        "document.querySelector('.detail .values .staged')?.innerText.includes('2020-07-01 12:00:00 UTC+3')"
      )
      try page.click("#review")
      try page.wait("document.querySelector('dialog .primary')?.disabled === false")
      try page.click("dialog .primary")
      try page.wait("!document.querySelector('#dialog').open")
      let list = try #require(try served.store.makeContext().fetchOne("List"))
      let played = ISO8601DateFormatter().date(from: "2020-07-01T09:00:00Z")
      #expect(try list.value(forKey: "played") == .date(try #require(played)))
      #expect(page.complaints == [])
    }
  }
}
