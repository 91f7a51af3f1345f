import ArborJSON
import ArborModel
import ArborObjects
import Foundation
import Testing

/// Attributes that are set directly from a JSON document.
@Suite struct ManagedObjectDocumentTests {
  private static let names = [
    "small", "middle", "large", "single", "double", "flag", "text", "date", "exact",
  ]

  private func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Record") {
        AttributeDescription("small", .integer16, .optional)
        AttributeDescription("middle", .integer32, .optional)
        AttributeDescription("large", .integer64, .optional)
        AttributeDescription("single", .float, .optional)
        AttributeDescription("double", .double, .optional)
        AttributeDescription("flag", .boolean, .optional)
        AttributeDescription("text", .string, .optional)
        AttributeDescription("date", .date, .optional)
        AttributeDescription("exact", .decimal, .optional)
      }
    }
  }

  /// Each case has a JSON value, the resulting attribute value, and the attributes that accept it.
  /// All others are unchanged.
  @Test(
    "An attribute accepts JSON values of its type",
    arguments: [
      (#"7"#, PropertyValue.integer(7), ["small", "middle", "large"]),
      (#"-32768"#, .integer(-32_768), ["small", "middle", "large"]),
      (#"32768"#, .integer(32_768), ["middle", "large"]),
      (#"2147483648"#, .integer(2_147_483_648), ["large"]),
      (#"1e3"#, .integer(1000), ["small", "middle", "large"]),
      (#"true"#, .boolean(true), ["flag"]),
      (#""Ada""#, .string("Ada"), ["text"]),
      (#""größer""#, .string("größer"), ["text"]),
      (#""""#, .string(""), ["text"]),
      (#"null"#, .null, []), (#"[]"#, .null, []), (#"{}"#, .null, []),
      (#""a\nb""#, .null, []), (#"1e999"#, .null, []), (#"99999999999999999999"#, .null, []),
    ])
  func takesThePlainForm(text: String, expected: PropertyValue, takers: [String]) throws {
    try ObjectStore.use(model()) { store in
      let context = store.makeContext()
      let record = try context.insert("Record")
      let node = try JSONDocument(Data(text.utf8)).root
      for name in Self.names {
        let slot = try Self.slot(of: name, in: store)
        let first = try record.receive(node, atSlot: slot)
        if name == "single" || name == "double" {
          #expect((first == .changed) == (node.double.map { abs($0) < 1e38 } ?? false), "\(name)")
          continue
        }
        #expect(first == (takers.contains(name) ? .changed : .unfit), "\(name)")
        #expect(record.value(atSlot: slot) == (takers.contains(name) ? expected : .null))
        let again = try record.receive(node, atSlot: slot)
        #expect(again == (takers.contains(name) ? .same : .unfit), "\(name)")
      }
      try context.commit()
    }
  }

  private static func slot(of name: String, in store: PersistentStore) throws -> Int {
    try #require(store.schema.entity(named: "Record")?.attributes.first { $0.name == name }).slot
  }

  @Test("A canonically equivalent string and a negative zero are changes")
  func valuesThatDifferInBytesAreChanges() throws {
    try ObjectStore.use(model()) { store in
      let context = store.makeContext()
      let record = try context.insert("Record")
      let slot = try Self.slot(of: "text", in: store)
      record["text"] = "caf\u{65}\u{301}"
      let node = try JSONDocument(Data("\"caf\u{E9}\"".utf8)).root
      #expect(try record.receive(node, atSlot: slot) == .changed)
      #expect(record["text"] == PropertyValue.string("caf\u{E9}"))
      #expect(try record.receive(node, atSlot: slot) == .same)
      record["text"] = PropertyValue.null
      #expect(try record.receive(node, atSlot: slot) == .changed)
      let doubleSlot = try Self.slot(of: "double", in: store)
      record["double"] = 0.0
      let negative = try JSONDocument(Data("-0.0".utf8)).root
      #expect(try record.receive(negative, atSlot: doubleSlot) == .changed)
      #expect((record["double"] as PropertyValue).double?.sign == .minus)
      #expect(try record.receive(negative, atSlot: doubleSlot) == .same)
      try context.commit()
    }
  }

  @Test("An object without a context rejects JSON values")
  func objectsWithoutAContextRefuse() throws {
    try ObjectStore.use(model()) { store in
      let context = store.makeContext()
      let record = try context.insert("Record")
      try context.commit()
      context.reset()
      let slot = try Self.slot(of: "large", in: store)
      let node = try JSONDocument(Data("7".utf8)).root
      #expect(try failure { _ = try record.receive(node, atSlot: slot) }.code == .notAllowed)
    }
  }
}
