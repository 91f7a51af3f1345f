import ArborData
import Foundation
import TestSupport
import Testing

/// Reverting a change of an attribute's type after commits with the newer model.
@Suite("Values after a revert") struct RevertedValuesTests {
  private let bookStore: BookStore

  init() throws { bookStore = try BookStore() }

  /// A former and a newer type of an attribute, with sample values.
  struct Pair: Sendable, CustomTestStringConvertible {
    let former: AttributeType
    let newer: AttributeType
    /// The value of an object that was not written since the migration.
    let kept: PropertyValue
    /// The value written with the newer type, and its value in the former type after the revert.
    let written: PropertyValue
    let restored: PropertyValue
    /// A value that the former type cannot represent; null if there isn't one.
    var loss = PropertyValue.null
    /// Whether opening with the newer type converts existing values.
    var converts = true

    var testDescription: String { "\(former) to \(newer)" }
  }

  private static let day = Date(timeIntervalSinceReferenceDate: 12.5)
  private static let (one, other) = (UUID(), UUID())
  private static let page = URL(string: "https://example.org/a?b=c")

  static let pairs = [
    Pair(
      former: .integer64, newer: .string, kept: -5, written: "42", restored: 42, loss: "042",
      converts: false),
    Pair(
      former: .integer16, newer: .integer64, kept: -5, written: 300, restored: 300, loss: 70_000),
    Pair(former: .integer16, newer: .double, kept: -5, written: 3.0, restored: 3, loss: 0.5),
    Pair(former: .integer32, newer: .boolean, kept: 7, written: true, restored: 1, converts: false),
    Pair(
      former: .string, newer: .integer64, kept: "five", written: 42, restored: "42",
      converts: false),
    Pair(former: .string, newer: .double, kept: "", written: 0.1, restored: "0.1", converts: false),
    Pair(
      former: .string, newer: .uuid, kept: "five", written: .uuid(one),
      restored: .string(one.uuidString), converts: false),
    Pair(
      former: .string, newer: .date, kept: "today", written: .null, restored: .null,
      loss: .date(day), converts: false),
    Pair(
      former: .double, newer: .string, kept: 0.1, written: "1.5", restored: 1.5, loss: "1,5",
      converts: false),
    Pair(
      former: .double, newer: .date, kept: 0.1, written: .date(day), restored: 12.5,
      converts: false),
    Pair(former: .float, newer: .double, kept: 0.5, written: 0.25, restored: 0.25, loss: 0.1),
    Pair(
      former: .integer64, newer: .decimal, kept: -5, written: .decimal(3), restored: 3,
      loss: .decimal(Decimal(sign: .plus, exponent: -1, significand: 5))),
    Pair(former: .boolean, newer: .integer16, kept: true, written: 0, restored: false, loss: 2),
    Pair(
      former: .boolean, newer: .string, kept: true, written: .null, restored: .null, loss: "true",
      converts: false),
    Pair(
      former: .date, newer: .double, kept: .date(day), written: 99.0,
      restored: .date(Date(timeIntervalSinceReferenceDate: 99))),
    Pair(
      former: .uuid, newer: .string, kept: .uuid(one), written: .string(other.uuidString),
      restored: .uuid(other), loss: "text"),
    Pair(
      former: .uri, newer: .string, kept: page.map(PropertyValue.uri) ?? .null,
      written: "https://example.org",
      restored: URL(string: "https://example.org").map(PropertyValue.uri) ?? .null,
      loss: "two words"),
  ]

  private func model(
    _ type: AttributeType, isOptional: Bool = true, default value: PropertyValue = .null
  ) -> ManagedObjectModel {
    ManagedObjectModel(entities: [
      EntityDescription(
        name: "Item",
        attributes: [
          bookStore.text("a"),
          AttributeDescription(
            name: "value", type: type, isOptional: isOptional, defaultValue: value,
            isIndexed: true),
        ])
    ])
  }

  private func items(_ context: ManagedObjectContext) throws -> [ManagedObject] {
    try context.fetch(FetchRequest<ManagedObject>(entity: "Item", sortKeys: ["a"]))
  }

  private func insert(
    _ name: String, _ value: PropertyValue, _ context: ManagedObjectContext
  ) throws {
    let item = try context.insert("Item")
    item["a"] = name
    item["value"] = value
  }

  private func values(_ model: ManagedObjectModel) throws -> [PropertyValue] {
    var values: [PropertyValue] = []
    try bookStore.change(model) { context in
      values = try items(context).map { $0["value"] as PropertyValue }
    }
    return values
  }

  @Test("Values are restored as the former type can hold them", arguments: pairs)
  func theyComeBackAsTheFormerTypeHoldsThem(_ pair: Pair) throws {
    let (former, newer) = (model(pair.former), model(pair.newer))
    try bookStore.change(former) { context in
      try insert("0 unchanged", pair.kept, context)
      try insert("1 unchanged", .null, context)
      try insert("2 changed", pair.kept, context)
      try insert("3 changed elsewhere", pair.kept, context)
    }
    try bookStore.change(newer) { context in
      let items = try items(context)
      items[2]["a"] = "2 written"
      items[2]["value"] = pair.written
      items[3]["a"] = "3 written"
      try insert("4 new", pair.written, context)
      try insert("5 new", .null, context)
      if !pair.loss.isNull { try insert("6 new", pair.loss, context) }
    }
    var expected = [
      pair.kept, .null, pair.restored, pair.converts ? pair.kept : .null, pair.restored, .null,
    ]
    if pair.loss.isNull {
      try PersistentStore.revertMigration(bookStore.url)
    } else {
      let before = try Data(contentsOf: bookStore.url)
      for names in [[], StoreOptions.Migration.Dropping.everythingRemoved] {
        let error = try #require(
          refusal { try PersistentStore.revertMigration(bookStore.url, dropping: names) })
        #expect(error.code == .notAllowed)
        let number = try #require(error.violations.first?.objectID?.number)
        #expect(
          error.violations.map(\.message) == [
            "Item.value: there is 1 object with a value that was written since the migration and "
              + "that \(pair.former) cannot hold (Item \(number)); list \"Item.value\" in "
              + "revertMigration(_:dropping:) to drop the values, or change them with the newer "
              + "model."
          ])
        #expect(try Data(contentsOf: bookStore.url) == before)
      }
      try PersistentStore.revertMigration(bookStore.url, dropping: ["Item.value"])
      expected.append(.null)
    }
    let found = try values(former)
    #expect(found == expected)
  }

  @Test("A value that cannot be represented is replaced by the default, as for a new attribute")
  func whatIsNamedLeavesTheDefault() throws {
    let former = model(.integer16, isOptional: false, default: 7)
    try bookStore.change(former) { try insert("0", -5, $0) }
    try bookStore.change(model(.integer64)) { context in
      try insert("1", 70_000, context)
      try insert("2", .null, context)
      try insert("3", 300, context)
    }
    try PersistentStore.revertMigration(bookStore.url, dropping: ["Item.value"])
    #expect(try values(former) == [-5, 7, 7, 300])
  }

  @Test("A revert is refused if a mandatory attribute would have no value")
  func aValueThatMustBeThereIsAskedFor() throws {
    let former = model(.integer16, isOptional: false)
    try bookStore.change(former) { try insert("0", -5, $0) }
    try bookStore.change(model(.string)) { try insert("1", .null, $0) }
    let error = try #require(refusal { try PersistentStore.revertMigration(bookStore.url) })
    let number = try #require(error.violations.first?.objectID?.number)
    #expect(
      error.violations.map(\.message) == [
        "Item.value: it is mandatory without a default, but there is 1 object without a value "
          + "(Item \(number)). Set values, or delete the objects, with the newer model."
      ])
    try bookStore.change(model(.string)) { try items($0)[1]["value"] = "9" }
    try PersistentStore.revertMigration(bookStore.url)
    #expect(try values(former) == [-5, 9])
  }

  /// Binary values cannot be converted. Objects that were not written since keep their values; the
  /// others lose theirs if the attribute is listed by name.
  @Test("Binary values that cannot be converted are kept if unchanged")
  func binariesOfAnotherTypeBeginAnew() throws {
    let bytes = PropertyValue.binary(Data([1, 2, 3]))
    func model(_ type: AttributeType) -> ManagedObjectModel {
      var model = self.model(type)
      model.entities[0].attributes[1].isIndexed = false
      return model
    }
    try bookStore.change(model(.binary)) { try insert("0", bytes, $0) }
    try bookStore.change(model(.string)) { try insert("1", "text", $0) }
    let error = try #require(
      refusal { try PersistentStore.revertMigration(bookStore.url, dropping: .everythingRemoved) })
    #expect(
      error.violations.map(\.message) == [
        "Item.value: the type changes from string to binary, without code its values are dropped; "
          + "its values cannot be converted back. List \"Item.value\" to drop them, or keep the "
          + "newer model and export the data."
      ])
    try PersistentStore.revertMigration(bookStore.url, dropping: ["Item.value"])
    #expect(try values(model(.binary)) == [bytes, .null])
  }

  @Test("Values of subentities are reverted, too, in batches")
  func subentitiesAndManyObjectsComeBack() throws {
    var (former, newer) = (model(.integer16), model(.integer64))
    former.entities.append(EntityDescription(name: "Part", parent: "Item"))
    newer.entities.append(EntityDescription(name: "Part", parent: "Item"))
    newer.entities[0].attributes[1].name = "number"
    newer.entities[0].attributes[1].renamingIdentifier = "value"
    try bookStore.change(former) { context in
      for number in 0..<1_500 {
        try context.insert(number.isMultiple(of: 3) ? "Part" : "Item")["value"] = number
      }
    }
    try bookStore.change(newer) { context in
      let changed = FetchRequest<ManagedObject>(entity: "Item", predicate: "number % 5 == 0")
      for item in try context.fetch(changed) { item["number"] = (item["number"] as Int) + 10_000 }
    }
    try PersistentStore.revertMigration(bookStore.url)
    try bookStore.change(former) { context in
      let found = try context.fetch(FetchRequest<ManagedObject>(entity: "Item"))
      #expect(
        found.map { $0["value"] as Int }.sorted()
          == (0..<1_500).map { $0.isMultiple(of: 5) ? $0 + 10_000 : $0 }.sorted())
    }
  }
}
