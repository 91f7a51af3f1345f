import ArborData
import Foundation
import TestLength
import Testing

/// Sorting and sectioning by binary values.
@Suite("Orders of binary values") struct BinaryOrderTests {
  /// Storage of the compared attribute: in the record, with an index, or outside of records.
  enum Storage: CaseIterable { case inline, indexed, external }

  private static func model(_ storage: Storage) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Shelf") {
        RelationshipDescription(
          name: "files", destination: "File", inverse: "shelf", isToMany: true)
      }
      EntityDescription("File") {
        AttributeDescription(
          name: "data", type: .binary, isOptional: true, isIndexed: storage == .indexed,
          allowsExternalStorage: storage == .external)
        AttributeDescription("number", .integer64, .default(0))
        RelationshipDescription(name: "shelf", destination: "Shelf", inverse: "files")
      }
    }
  }

  /// Calls a closure with a new store, and checks the store afterwards.
  private static func use(
    _ model: ManagedObjectModel, _ body: (PersistentStore) throws -> Void
  ) throws {
    let store = try PersistentStore(model: model, at: .inMemory)
    defer { store.close() }
    try body(store)
    try store.check()
  }

  /// Random bytes, some with a common prefix longer than an index key.
  private static func bytes(_ random: inout SplitMix, _ storage: Storage) -> PropertyValue {
    if Int.random(in: 0..<8, using: &random) == 0 { return .null }
    var bytes = Data(
      (0..<Int.random(in: 0...3, using: &random)).map { _ in
        [0, 1, 127, 128, 255].randomElement(using: &random) ?? 0
      })
    let isLong = Int.random(in: 0..<3, using: &random) == 0
    if isLong { bytes = Data(repeating: 7, count: storage == .external ? 9_000 : 700) + bytes }
    return .binary(bytes)
  }

  private static func precedes(_ left: PropertyValue, _ right: PropertyValue) -> Bool {
    switch (left, right) {
    case (.binary(let left), .binary(let right)): left.lexicographicallyPrecedes(right)
    case (.null, .binary): true
    default: false
    }
  }

  @Test(
    "Binary values are sorted and sectioned by their bytes, as > and max compare them",
    arguments: Storage.allCases)
  func ordersAgree(storage: Storage) throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    for _ in 0..<TestLength.of(6, long: 500) {
      try Self.use(Self.model(storage)) { store in
        let context = store.makeContext()
        var values: [Int64: PropertyValue] = [:]
        let results = try context.fetchedResults(
          FetchRequest<ManagedObject>(entity: "File", sortKeys: ["data", "number"]),
          sectionedBy: "data")
        for number in Int64(1)...30 {
          let object = try context.insert("File")
          values[number] = Self.bytes(&random, storage)
          try object.setValue(values[number] ?? .null, forKey: "data")
          object["number"] = .integer(number)
          if number == 15 { try context.commit() }
          if number % 3 == 0 { _ = results.count }
        }
        let sorted = values.keys.sorted {
          let (left, right) = (values[$0] ?? .null, values[$1] ?? .null)
          return left == right ? $0 < $1 : Self.precedes(left, right)
        }
        for isCommitted in [false, true] {
          if isCommitted { try context.commit() }
          try expect(sorted, values, in: context, "seed \(seed), \(storage)")
        }
        #expect(try results.objects.map { try number($0) } == sorted, "seed \(seed)")
        #expect(results.sections.count == Set(values.values).count, "seed \(seed)")
        #expect(results.sections.map(\.value) == sorted.map { values[$0] ?? .null }.removingRepeats)
      }
    }
  }

  private func number(_ object: ManagedObject) throws -> Int64 {
    try #require(try object.value(forKey: "number").int64)
  }

  private func expect(
    _ sorted: [Int64], _ values: [Int64: PropertyValue], in context: ManagedObjectContext,
    _ comment: Comment
  ) throws {
    let all = context.objects("File")
    let up = try all.order(by: "data", "number").fetch().map { try number($0) }
    #expect(up == sorted, comment)
    let down = try all.order(by: "-data", "-number").fetch().map { try number($0) }
    #expect(down == sorted.reversed(), comment)
    let computed = try all.order(
      by: .ascending(expression: "TERNARY(number > 0, data, nil)"), "number"
    ).fetch().map { try number($0) }
    #expect(computed == sorted, comment)
    let first = try all.order(by: "data", "number").limit(7).offset(3).fetch()
    #expect(try first.map { try number($0) } == Array(sorted.dropFirst(3).prefix(7)), comment)
    var (paged, token): ([Int64], String?) = ([], nil)
    repeat {
      let page = try all.order(by: "data", "number").limit(4).page(after: token)
      paged += try page.objects.map { try number($0) }
      token = page.next
    } while token != nil
    #expect(paged == sorted, comment)
    let greatest = sorted.last.flatMap { values[$0] } ?? .null
    #expect(try all.value(of: .maximum("data")) == (greatest.isNull ? nil : greatest), comment)
    guard case .binary(let pivot) = values[sorted[sorted.count / 2]] else { return }
    let greater = values.values.count { Self.precedes(.binary(pivot), $0) }
    #expect(try context.count("File", matching: "data > \(pivot)") == greater, comment)
  }

  @Test("Objects are sorted by the binary value of a related object")
  func pathsLeadToBinaryValues() throws {
    for storage in Storage.allCases {
      try Self.use(Self.model(storage)) { store in
        let context = store.makeContext()
        let shelf = try context.insert("Shelf")
        let file = try context.insert("File")
        try file.setValue(.binary(Data([1])), forKey: "data")
        file["shelf"] = shelf
        try context.commit()
        #expect(try context.objects("File").order(by: "data").fetch() == [file])
      }
    }
  }

  @Test("Archived values are not a sort key")
  func archivedValuesHaveNoOrder() throws {
    let model = try ManagedObjectModel {
      EntityDescription("File") { AttributeDescription("data", .transformable("x"), .optional) }
    }
    try Self.use(model) { store in
      let error = try #require(throws: ArborError.self) {
        try store.makeContext().objects("File").order(by: "data").fetch()
      }
      #expect(error.code == .invalidArgument && error.keyPath == "data")
      #expect(
        error.message
          == "Objects cannot be sorted by data, which holds archived values. Sort by another "
          + "attribute.")
    }
  }
}

extension [PropertyValue] {
  /// The values without those that repeat the preceding one.
  fileprivate var removingRepeats: [PropertyValue] {
    reduce(into: []) { if $0.last != $1 { $0.append($1) } }
  }
}
