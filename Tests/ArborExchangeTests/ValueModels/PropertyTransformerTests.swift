import ArborJSON
import ArborExchange
import ArborLocale
import ArborModel
import ArborObjects
import Foundation
import Testing

@Suite struct PropertyTransformerTests {
  struct Wrong: ValueModel {
    var title: Int?
    static let entityName = "Item"
    static let jsonTransformers: [String: JSONTransformer] = ["title": .url]
    static let managedTransformers: [String: ManagedTransformer] = ["title": .url]
  }

  @Test("A transformer of the wrong type leads to the same error in every direction")
  func aTransformerOfAnotherTypeIsTheSameErrorBothWays() throws {
    let workshop = try ModelWorkshop()
    let object = try workshop.insert("Item", ["title": .string("https://a.b")])
    let read = try workshop.failure { try Wrong(object) }
    let decoded = try workshop.failure {
      try ValueAdapter.decode(Wrong.self, from: ["title": "https://a.b"])
    }
    let encoded = try workshop.failure { try ValueAdapter.encode(Wrong(title: 5)) }
    let written = try workshop.failure { try workshop.context.upsert(Wrong(title: 5)) }
    for error in [read, decoded, encoded, written] {
      #expect(error.code == .initialization && error.keyPath == "title")
      #expect(error.entity == "Item")
    }
    for error in [encoded, written] {
      #expect(
        error.message
          == "The property is Int, but its transformer takes Optional<URL>. Use a transformer for "
          + "Int.")
    }
    #expect(try workshop.all("Item").count == 1)
    // A `nil` value is not type-checked.
    #expect(try ValueAdapter.encode(Wrong()) == [:])
    try workshop.context.upsert(Wrong())
    try workshop.finish()
  }

  struct Links: ValueModel {
    var plain: URL?
    var transformed: URL?
    static let jsonTransformers: [String: JSONTransformer] = ["transformed": .url]
  }

  @Test("A URL with a scheme is read and written the same with and without a transformer")
  func aURLIsOneWithAndWithoutItsTransformer() throws {
    for text in ["https://a.b/c%20d?e=f#g", "mailto:a@b", "urn:x:1"] {
      let json: JSONValue = ["plain": .string(text), "transformed": .string(text)]
      let links = try ValueAdapter.decode(Links.self, from: .value(json))
      #expect(links.plain == URL(string: text) && links.transformed == links.plain, "\(text)")
      #expect(try ValueAdapter.encode(links) == json)
    }
    // Characters that are invalid in a URL are escaped, as Foundation does.
    let escaped = try ValueAdapter.decode(
      Links.self, from: ["plain": "https://a/\u{e4} b", "transformed": "https://a/\u{e4} b"])
    #expect(escaped.plain?.absoluteString == "https://a/%C3%A4%20b")
    #expect(escaped.transformed == escaped.plain)
    for text in ["not a valid URL", "://", "%zz", "a/b", "/"] {
      let json: JSONValue = ["transformed": .string(text)]
      let error = try #require(throws: ArborError.self, "\(text)") {
        try ValueAdapter.decode(Links.self, from: .value(json))
      }
      #expect(error.code == .unparsableValue && error.keyPath == "transformed")
      #expect(error.message.contains("a URL with a scheme as a string"), "\(error.message)")
    }
    // A relative reference is a URL.
    let relative = try ValueAdapter.decode(Links.self, from: ["plain": "a/b"])
    #expect(relative.plain?.relativePath == "a/b")
    for text in ["", "http://["] {
      for key in ["plain", "transformed"] {
        let json: JSONValue = .object([key: .string(text)])
        #expect(throws: ArborError.self, "\(key) \(text)") {
          try ValueAdapter.decode(Links.self, from: .value(json))
        }
      }
    }
  }

  @Test("Transformers can be used on their own")
  func transformersWorkByThemselves() throws {
    let day = JSONTransformer.date(format: "dd.MM.yyyy")
    let date: Date? = try day.read("24.12.2024")
    #expect(date == ISO8601Date.parse("2024-12-24"))
    #expect(try day.read("24.12.2024") as Date == date)
    #expect(try day.read(.null) as Date? == nil)
    #expect(try day.write(date) == "24.12.2024" && day.write(nil) == .null)
    #expect(try day.write(date as Any) == "24.12.2024")
    #expect(throws: ArborError.self) { try day.read("24th", as: Date.self) }
    let whole = ManagedTransformer { value in
      value.int64 ?? 0
    } write: { (number: Int64) in
      .integer(number + 1)
    }
    #expect(try whole.write(Int64(1)) == 2 && whole.write(nil) == .null)
    #expect(try whole.read(.integer(5)) as Int64 == 5)
  }

  @Test("A transformer whose value has the wrong type is reported")
  func whatATransformerCannotGiveIsATypedError() throws {
    let url = JSONTransformer.url
    let wrong = try #require(throws: ArborError.self) { try url.read("a:b", as: Int.self) }
    #expect(
      wrong.message
        == "Expected Int for the property, but the transformer returned URL. Return Int, or use "
        + "another transformer."
    )
    let nothing = try #require(throws: ArborError.self) { try url.read(.null, as: URL.self) }
    #expect(
      nothing.message
        == "Expected URL for the property, but the transformer returned nil. Return URL, or use "
        + "another transformer."
    )
    let written = try #require(throws: ArborError.self) { try url.write(5) }
    #expect(wrong.code == .initialization && nothing.code == .initialization)
    #expect(written.code == .initialization)
  }
}
