import ArborData
import Foundation
import Testing

/// Strings that are canonically equivalent, and therefore equal as Swift strings, but have different
/// code points.
@Suite("Canonically equivalent strings") struct EqualTextTests {
  private static let composed = "\u{E9}"
  private static let decomposed = "e\u{301}"

  /// Calls a closure with a context of a new store, and checks the store afterwards.
  private static func use(_ body: (ManagedObjectContext) throws -> Void) throws {
    let model = try ManagedObjectModel {
      EntityDescription("Person", userInfo: ["PrimaryAttribute": "code"]) {
        AttributeDescription("code", .string, .unique)
        AttributeDescription("note", .string, .optional)
        AttributeDescription("lower", .string, .optional, .derived("lowercase(note)"))
        AttributeDescription("number", .integer64, .default(0))
        AttributeDescription("ratio", .double, .optional)
      }
    }
    let store = try PersistentStore(model: model, at: .inMemory)
    defer { store.close() }
    try body(store.makeContext())
    try store.check()
  }

  private static func bytes(_ object: ManagedObject, _ key: String) throws -> [UInt8] {
    Array(try object.value(forKey: key).string?.utf8 ?? "".utf8)
  }

  @discardableResult
  private static func insert(
    _ note: String, _ number: Int64, into context: ManagedObjectContext
  ) throws -> ManagedObject {
    let object = try context.insert("Person")
    try object.setValue(.string("\(number)"), forKey: "code")
    try object.setValue(.string(note), forKey: "note")
    try object.setValue(.integer(number), forKey: "number")
    return object
  }

  @Test("An import keeps keys with different code points apart, unless it normalizes strings")
  func importsNormalizeOnRequest() throws {
    let items: JSONValue = [
      ["code": .string(Self.composed), "note": "first"],
      ["code": .string(Self.decomposed), "note": "second"],
    ]
    for normalizes in [false, true] {
      try Self.use { context in
        var options = ImportOptions()
        if normalizes { options.conversions = .normalizesText }
        // The second import finds the objects of the first.
        for _ in 0..<2 {
          try context.importObjects(from: .value(items), as: "Person", options: options)
          try context.commit()
          let people = try context.objects("Person").order(by: "code").fetch()
          let codes = try people.map { try Self.bytes($0, "code") }
          let notes = try people.map { try $0.value(forKey: "note") }
          if normalizes {
            #expect(codes == [Array(Self.composed.utf8)] && notes == ["second"])
          } else {
            #expect(codes == [Array(Self.decomposed.utf8), Array(Self.composed.utf8)])
            #expect(notes == ["second", "first"])
          }
        }
      }
    }
  }

  @Test("Localized orders keep equal strings together, so that sections aren't interleaved")
  func localizedSectionsAreConsecutive() throws {
    for options: SortKey.Options in [
      .localized, .numeric, [.localized, .numeric], [.localized, .caseInsensitive],
    ] {
      try Self.use { context in
        var objects: [ManagedObject] = []
        for number in Int64(0)..<6 {
          let note = number.isMultiple(of: 2) ? Self.composed : Self.decomposed
          objects.append(try Self.insert(note, number, into: context))
        }
        try context.commit()
        let request = FetchRequest<ManagedObject>(
          entity: "Person", sortKeys: [.ascending("note", options: options), "number"])
        let results = try context.fetchedResults(request, sectionedBy: "note")
        let isFolded = options.contains(.caseInsensitive)
        #expect(results.sections.map(\.count) == (isFolded ? [6] : [3, 3]), "\(options.rawValue)")
        // A change is placed where a fetch would place it.
        try objects[2].setValue(.string(Self.decomposed), forKey: "note")
        let sizes = results.sections.map(\.count)
        #expect(sizes.sorted() == (isFolded ? [6] : [2, 4]), "\(options.rawValue)")
        #expect(try Array(results.objects) == context.fetch(request))
        try context.commit()
      }
    }
  }

  @Test("Expressions that differ only in the code points of a string are different sort keys")
  func expressionsAreComparedByCodePoint() throws {
    try Self.use { context in
      try Self.insert(Self.composed, 1, into: context)
      try Self.insert(Self.decomposed, 2, into: context)
      for text in [Self.composed, Self.decomposed, Self.composed] {
        let key = SortKey.ascending(expression: "TERNARY(note == '\(text)', 0, 1)")
        let first = try #require(try context.objects("Person").order(by: key).first())
        #expect(try Self.bytes(first, "note") == Array(text.utf8))
      }
      try context.commit()
    }
  }

  @Test("A derived string and an import follow a change of code points and of the sign of zero")
  func changesOfBytesAreChanges() throws {
    try Self.use { context in
      let object = try Self.insert(Self.composed, 1, into: context)
      try object.setValue(.double(0), forKey: "ratio")
      try context.commit()
      let json: JSONValue = ["note": .string(Self.decomposed), "ratio": -0.0]
      try context.importObject(from: .value(json), into: object)
      #expect(context.hasChanges)
      try context.commit()
      #expect(try Self.bytes(object, "note") == Array(Self.decomposed.utf8))
      #expect(try Self.bytes(object, "lower") == Array(Self.decomposed.utf8))
      #expect(try object.value(forKey: "ratio").double?.sign == .minus)
      try context.importObject(from: .value(json), into: object)
      #expect(!context.hasChanges)
    }
  }
}
