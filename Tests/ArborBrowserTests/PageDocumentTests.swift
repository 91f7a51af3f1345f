import ArborData
import ArborModel
import Foundation
import Testing
import ArborBrowser

/// Values with an inner structure: JSON, which codable types are stored as, and composites.
@Suite(
  "Codable and composite values in the page", .serialized,
  .enabled(if: Chromium.executable != nil))
struct PageDocumentTests {
  private struct Hours: Codable, Equatable {
    var open = 9
    var days = ["Mo", "Tu"]
  }

  private static func makeModel() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      CompositeDescription("Place") {
        AttributeDescription("city", .string, .bounds(1...20))
        AttributeDescription("number", .integer32, .optional)
      }
      EntityDescription("Shop") {
        AttributeDescription("name", .string)
        AttributeDescription("hours", Hours?.self)
        AttributeDescription("place", .composite("Place"), .optional)
      }
    }
  }

  private static let stored = #"{"days":["Mo","Tu"],"open":9}"#

  private static func fill(_ context: ManagedObjectContext) throws {
    let shop = try context.insert("Shop")
    shop["name"] = "North"
    shop["hours"] = PropertyValue.composite(["days": ["Mo", "Tu"], "open": 9])
    shop["place"] = PropertyValue.composite(["city": .string("Riga"), "number": .integer(7)])
  }

  private func values(_ served: ServedStore) throws -> [PropertyValue?] {
    let shop = try served.store.makeContext().objects("Shop").first()
    return try ["hours", "place"].map { try shop?.value(forKey: $0) }
  }

  @Test("They are shown, refused at their field if invalid, staged, committed and read again")
  func valuesAreEdited() throws {
    try ServedStore.use(Self.makeModel(), writing: true, fill: Self.fill) { served in
      let page = try Chromium(showing: served.browser.url)
      try page.evaluate("location.hash = '#/objects/Shop?id=Shop/1'")
      try page.wait("document.querySelector('.detail .values pre')")
      #expect(
        try page.text(".detail .values pre").filter { !$0.isWhitespace } == Self.stored)
      #expect(try page.text(".detail .values").contains("{city: Riga, number: 7}"))

      try page.edit("Shop/1")
      try page.wait("document.querySelector('.edit textarea')")
      #expect(
        try page.evaluate("document.querySelector('.edit textarea').value").string == Self.stored)
      #expect(try page.text(".edit legend") == "place composite(\"Place\")")
      #expect(
        try page.evaluate(
          "[...document.querySelectorAll('.edit .parts input[type=text]')].map((each) => each.value)"
        )
          == ["Riga", "7"])
      let invalid = [
        (
          "hours", #"{"open": }"#,
          "The value is not valid for Shop.hours. Enter JSON. Expected a value."
        ),
        (
          "number", "many",
          "The value is not valid for Shop.place.number. Enter an integer, such as 42."
        ),
      ]
      for (label, text, message) in invalid {
        try page.fill(label, text)
        try page.wait("\(Chromium.problem) !== ''")
        let shown = try page.evaluate(Chromium.problem)
        #expect(shown.string == message)
        #expect(try page.evaluate("control.getAttribute('aria-invalid')") == "true")
      }
      // The bounds of a part are checked once all parts are values.
      try page.fill("number", "8")
      try page.wait("\(Chromium.problem) === ''")
      try page.fill("city", "")
      try page.wait("\(Chromium.problem) !== ''")
      #expect(
        try page.evaluate(Chromium.problem)
          == "Shop.place.city is shorter than the minimum of 1 character.")
      #expect(try PageAudit.problems(in: page) == [])
      try page.click(".edit [type=submit]")
      try page.click("#review")
      try page.wait("document.querySelectorAll('dialog .staged-edits .problem').length === 2")
      #expect(try page.evaluate("document.querySelector('dialog .primary').disabled") == true)
      try page.press("Escape")
      #expect(served.store.sequence == 1)

      try page.edit("Shop/1")
      for (label, text) in [
        ("hours", #"{"days": ["We"], "open": 8}"#), ("city", "Oslo"), ("number", "8"),
      ] {
        try page.fill(label, text)
        try page.wait("\(Chromium.problem) === ''")
      }
      try page.click(".edit [type=submit]")
      try page.wait("document.querySelectorAll('.detail .values .staged').length === 2")
      let staged = try page.evaluate(
        "[...document.querySelectorAll('.detail .values .staged')].map((each) => each.lastChild.textContent)"
      )
      #expect(staged == [#"{"days": ["We"], "open": 8}"#, "{city: Oslo, number: 8}"])
      try page.click("#review")
      try page.wait("document.querySelector('dialog .primary')?.disabled === false")
      try page.click("dialog .primary")
      try page.wait("!document.querySelector('#dialog').open")
      try page.wait(
        "document.querySelector('.detail .values')?.innerText.includes('{city: Oslo, number: 8}')")
      let new = #"{"days": ["We"], "open": 8}"#
      #expect(
        try values(served)
          == [
            .composite(["days": ["We"], "open": 8]),
            .composite(["city": .string("Oslo"), "number": .integer(8)]),
          ])
      #expect(
        try JSONDecoder().decode(Hours.self, from: Data(new.utf8)) == Hours(open: 8, days: ["We"]))
      #expect(page.complaints == [])
    }
  }

  @Test("Staged text is kept, and the stored text is no change")
  func typedTextIsKept() throws {
    try ServedStore.use(Self.makeModel(), writing: true, fill: Self.fill) { served in
      let page = try Chromium(showing: served.browser.url)
      try page.edit("Shop/1")
      try page.exists(".edit textarea")
      try page.fill("hours", "{}")
      try page.click(".edit [type=submit]")
      try page.wait("document.querySelector('.detail .values .staged')")
      try page.click(".detail > .actions button")
      try page.exists(".edit textarea")
      #expect(try page.evaluate("document.querySelector('.edit textarea').value") == "{}")
      try page.fill("hours", Self.stored)
      try page.click(".edit [type=submit]")
      // The stored text is no change.
      try page.exists("#review[hidden]")
      #expect(page.complaints == [])
    }
  }
}
