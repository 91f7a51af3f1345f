import ArborModel
import ArborObjects
import Foundation
import TestLength
import TestSupport
import Testing

/// Indexes over parts of JSON and over the elements of lists, compared with plain Swift values.
@Suite("Indexes over parts of JSON") struct JSONPartIndexTests {
  /// The plain form of an object.
  private struct Plain {
    var city: String?
    var floor: Int64?
    var size: Double?
    var day: Double?
    var id: UUID?
    var tags: [String]?
    var marks: [Int64]?

    private static let words = ["", "a", "A", "b", "\u{E9}", "e\u{301}", "zebra", "a\u{0}b"]
    private static let long = String(repeating: "x", count: 600)
    static let ids = (0..<3).map { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, $0)) }

    init(_ random: inout SeededRandom) {
      func some<T>(_ values: [T]) -> T? {
        Int.random(in: 0..<4, using: &random) == 0 ? nil : values.randomElement(using: &random)
      }
      city = some(Self.words + [Self.long, Self.long + "y"])
      floor = some([-1, 0, 3, .max, .min])
      size = some([-1.5, 0, 0.1, 7, 1e300])
      day = some([0, -1, 1e9, 0.25])
      id = some(Self.ids)
      tags = some([0, 1, 3]).map { count in
        (0..<count).map { _ in
          (Self.words + [Self.long, Self.long + "y"]).randomElement(using: &random) ?? ""
        }
      }
      marks = some([0, 2]).map { count in
        (0..<count).map { _ in .random(in: 0...3, using: &random) }
      }
    }

    var place: PropertyValue {
      var parts: [String: PropertyValue] = [:]
      parts["city"] = city.map(PropertyValue.string)
      var inner: [String: PropertyValue] = [:]
      inner["floor"] = floor.map(PropertyValue.integer)
      inner["size"] = size.map(PropertyValue.double)
      inner["day"] = day.map(PropertyValue.double)
      inner["id"] = id.map { .string($0.uuidString) }
      parts["ids"] = id.map { .list([.string($0.uuidString)]) }
      parts["inner"] = inner.isEmpty ? nil : .composite(inner)
      parts["marks"] = marks.map { .list($0.map(PropertyValue.integer)) }
      return .composite(parts)
    }

    var list: PropertyValue { tags.map { .list($0.map(PropertyValue.string)) } ?? .null }
  }

  private static let shape: JSONShape = [
    "city": .optional(.string),
    "inner": .optional([
      "floor": .optional(.integer), "size": .optional(.double), "day": .optional(.date),
      "id": .optional(.uuid),
    ]), "marks": .optional(.list(.integer)), "ids": .optional(.list(.uuid)),
  ]

  private static func model(isIndexed: Bool) -> ManagedObjectModel {
    var indexes: [FetchIndexDescription] = []
    if isIndexed {
      indexes = [
        FetchIndexDescription("city", on: "place.city"),
        FetchIndexDescription("folded", on: .folded("-place.city"), "number"),
        FetchIndexDescription("floor", on: "-place.inner.floor", "place.city"),
        FetchIndexDescription("size", on: "place.inner.size", where: "place.inner.floor >= 0"),
        FetchIndexDescription("day", on: "place.inner.day"),
        FetchIndexDescription("id", on: "place.inner.id"),
        FetchIndexDescription("marks", on: "-place.marks"),
        FetchIndexDescription("allTags", on: "tags"),
        FetchIndexDescription("ids", on: "place.ids"),
        FetchIndexDescription("tags", on: "tags", where: "number >= 5"),
      ]
    }
    return ManagedObjectModel(entities: [
      EntityDescription(
        name: "Thing",
        attributes: [
          AttributeDescription("number", .integer64, .default(0)),
          AttributeDescription("place", .json, .json(shape), .optional),
          AttributeDescription("tags", .json, .json(.list(.string)), .optional),
        ], fetchIndexes: indexes)
    ])
  }

  private typealias Query = (
    text: String, arguments: [(any PredicateArgument)?], holds: (Int, Plain) -> Bool
  )

  private static func same(_ left: String?, _ right: String) -> Bool {
    left.map { $0.unicodeScalars.elementsEqual(right.unicodeScalars) } ?? false
  }

  /// Returns random queries, with the condition in Swift.
  private static func query(_ random: inout SeededRandom) -> Query {
    let plain = Plain(&random)
    let city = plain.city ?? "b"
    let floor = plain.floor ?? 3
    let size = plain.size ?? 0.1
    let queries: [Query] = [
      ("place.city == %@", [city], { same($1.city, city) }),
      ("place.city == nil", [], { $1.city == nil }),
      // Without case, canonical equivalents are equal, as they are for Swift's strings.
      ("place.city ==[c] %@", [city], { $1.city?.lowercased() == city.lowercased() }),
      ("place.inner.floor == %@", [floor], { $1.floor == floor }),
      ("place.inner.floor > %@", [floor], { $1.floor.map { $0 > floor } ?? false }),
      (
        "place.inner.floor IN %@ AND place.city != nil", [[floor, 0]],
        { ($1.floor == floor || $1.floor == 0) && $1.city != nil }
      ),
      (
        "place.inner.size <= %@ AND place.inner.floor >= 0", [size],
        { ($1.size.map { $0 <= size } ?? false) && ($1.floor ?? -1) >= 0 }
      ),
      (
        "place.inner.day > %@", [Date(timeIntervalSinceReferenceDate: 0)],
        { ($1.day ?? 0) > 0 }
      ),
      ("place.inner.id == %@", [plain.id ?? Plain.ids[1]], { $1.id == plain.id ?? Plain.ids[1] }),
      ("place.marks CONTAINS 2", [], { $1.marks?.contains(2) ?? false }),
      (
        "place.marks CONTAINS 2 AND ANY place.marks == 3", [],
        { ($1.marks ?? []).contains(2) && ($1.marks ?? []).contains(3) }
      ),
      ("place.marks CONTAINS 2.5", [], { _, _ in false }),
      ("place.ids CONTAINS %@", [Plain.ids[1]], { $1.id == Plain.ids[1] }),
      ("ANY place.ids == %@", [Plain.ids[1].uuidString], { $1.id == Plain.ids[1] }),
      // Elements are strings.
      ("ANY place.ids == %@", [Plain.ids[1]], { _, _ in false }),
      (
        "place.marks CONTAINS 1 OR place.marks CONTAINS 2", [],
        { ($1.marks ?? []).contains(1) || ($1.marks ?? []).contains(2) }
      ),
      (
        "%@ IN tags AND number >= 5", [city],
        { number, plain in number >= 5 && (plain.tags ?? []).contains { same($0, city) } }
      ),
      (
        "tags CONTAINS %@ OR tags CONTAINS 'zebra'", [city],
        { ($1.tags ?? []).contains { same($0, city) || $0 == "zebra" } }
      ),
    ]
    return queries[Int.random(in: 0..<queries.count, using: &random)]
  }

  private static let orders = [
    ["place.city"], ["-place.inner.floor", "place.city"], ["place.inner.size"],
    ["-place.inner.day"], ["place.inner.id"],
  ]

  @Test(
    "Queries and orders agree with plain values and with a store without indexes",
    arguments: 1...UInt64(TestLength.of(6, long: 300)))
  func queriesAgree(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var all: [Int: Plain] = [:]
    try ObjectStore.use(Self.model(isIndexed: true)) { store in
      try ObjectStore.use(Self.model(isIndexed: false)) { bare in
        let contexts = [store.makeContext(), bare.makeContext()]
        for step in 0..<60 {
          try change(&all, step, contexts, &random)
          if Int.random(in: 0..<3, using: &random) == 0 {
            for context in contexts { try context.commit() }
          }
          for _ in 0..<3 { try compare(all, contexts, seed, &random) }
        }
      }
    }
  }

  private func change(
    _ all: inout [Int: Plain], _ number: Int, _ contexts: [ManagedObjectContext],
    _ random: inout SeededRandom
  ) throws {
    let present = all.keys.sorted().randomElement(using: &random)
    switch Int.random(in: 0..<5, using: &random) {
    case 0:
      guard let present else { return }
      all[present] = nil
      for context in contexts {
        let object = try #require(
          try context.objects("Thing").filter("number == \(present)").first())
        context.delete(object)
      }
    case 1, 2:
      guard let present else { return }
      let plain = Plain(&random)
      all[present] = plain
      for context in contexts {
        let object = try #require(
          try context.objects("Thing").filter("number == \(present)").first())
        try object.setValue(plain.place, forKey: "place")
        try object.setValue(plain.list, forKey: "tags")
      }
    default:
      for offset in 0..<4 {
        let plain = Plain(&random)
        let key = number * 10 + offset
        all[key] = plain
        for context in contexts {
          let object = try context.insert("Thing")
          try object.setValue(.integer(Int64(key)), forKey: "number")
          try object.setValue(plain.place, forKey: "place")
          try object.setValue(plain.list, forKey: "tags")
        }
      }
    }
  }

  private func compare(
    _ all: [Int: Plain], _ contexts: [ManagedObjectContext], _ seed: UInt64,
    _ random: inout SeededRandom
  ) throws {
    let query = Self.query(&random)
    let expected = all.filter { query.holds($0.key, $0.value) }.map(\.key).sorted()
    let order = Self.orders.randomElement(using: &random) ?? []
    let predicate = try FetchPredicate(format: query.text, arguments: query.arguments)
    let limit = Int.random(in: 1...5, using: &random)
    var ordered: [[Int?]] = []
    for context in contexts {
      let found = try context.objects("Thing").filter(predicate).fetch()
        .map { try Int($0.value(forKey: "number").int ?? -1) }
      #expect(found.sorted() == expected, "seed \(seed): \(query.text) \(query.arguments)")
      #expect(
        try context.objects("Thing").filter(predicate).count() == expected.count,
        "seed \(seed): count of \(query.text) \(query.arguments)")
      let keys = order.map { SortKey(stringLiteral: $0) } + ["number"]
      ordered.append(
        try context.objects("Thing").order(by: keys).limit(limit).fetch()
          .map { try $0.value(forKey: "number").int })
    }
    #expect(ordered[0] == ordered[1], "seed \(seed): order by \(order)")
  }

  @Test("Plans name the indexes of parts")
  func plansNameIndexes() throws {
    try ObjectStore.use(Self.model(isIndexed: true)) { store in
      let context = store.makeContext()
      var random = SeededRandom(seed: 3)
      for number in 0..<400 {
        let object = try context.insert("Thing")
        try object.setValue(.integer(Int64(number)), forKey: "number")
        let plain = Plain(&random)
        try object.setValue(plain.place, forKey: "place")
        try object.setValue(number % 100 == 7 ? ["rare"] : plain.list, forKey: "tags")
      }
      try context.commit()
      for (text, index) in [
        ("place.city == 'zebra'", "Thing.city"),
        ("place.inner.day > date(\"2001-01-02\")", "Thing.day"),
        ("place.marks CONTAINS 2", "Thing.marks"),
        ("'rare' IN tags AND number >= 5", "Thing.allTags"),
        ("place.inner.floor == 3 AND place.city == 'b'", "Thing.floor"),
      ] {
        let plan = try context.objects("Thing").filter(FetchPredicate(format: text)).explain()
        #expect("\(plan)".contains(index), "\(text): \(plan)")
      }
    }
  }

  @Test("Indexes that parts cannot have are refused")
  func impossibleIndexesAreRefused() throws {
    func problems(_ index: FetchIndexDescription) throws -> [String] {
      var model = Self.model(isIndexed: false)
      model.entities[0].fetchIndexes = [index]
      let error = try #require(throws: ArborError.self) { try model.validated() }
      return error.violations.map(\.message)
    }
    #expect(
      try problems(FetchIndexDescription("x", on: "place.city", isUnique: true)) == [
        "Index x of Thing is unique and lists place.city, a part of JSON. Make the index non-unique, "
          + "or the part an attribute."
      ])
    #expect(
      try problems(FetchIndexDescription("x", on: "place.marks", "number")) == [
        "Index x of Thing lists place.marks, a list, with other columns. Move it to an index of its "
          + "own."
      ])
    #expect(
      try problems(FetchIndexDescription("x", on: "tags", "number")) == [
        "Index x of Thing lists tags, a list, with other columns. Move it to an index of its own."
      ])
    #expect(
      try problems(FetchIndexDescription("x", on: "tags", isUnique: true)) == [
        "Index x of Thing is unique and lists tags, a part of JSON. Make the index non-unique, or the "
          + "part an attribute."
      ])
    #expect(
      try problems(FetchIndexDescription("x", on: .folded("place.inner.floor"))) == [
        "Index x of Thing lists place.inner.floor, which is not a string, or is part of JSON whose "
          + "words cannot be indexed. Only strings can be folded, and only string attributes split "
          + "into words."
      ])
  }
}
