import ArborModel
import LMDB
import TestSupport
import Testing

@testable import ArborStore

@Suite struct RowSorterTests {
  @Test("The heap keeps the first rows of the order")
  func theHeapKeepsTheFirstRowsOfTheWholeOrder() throws {
    var random = SeededRandom()
    let seed = random.seed
    let world = try SortWorld(rows: 400, using: &random)
    for round in 0..<60 {
      let keys = try world.randomKeys(using: &random)
      let all = try world.sorted(keys, maximumCount: nil)
      let most = Int.random(in: 1...450, using: &random)
      #expect(
        try world.sorted(keys, maximumCount: most) == Array(all.prefix(most)),
        "seed \(seed) \(round)")
    }
    try world.finish()
  }

  @Test("The rows after a position are those that follow it in the order")
  func rowsBehindAPositionAreThoseThatFollowIt() throws {
    var random = SeededRandom()
    let seed = random.seed
    let world = try SortWorld(rows: 300, using: &random)
    for round in 0..<60 {
      let keys = try world.randomKeys(using: &random)
      let all = try world.sorted(keys, maximumCount: nil)
      let index = Int.random(in: 0..<all.count, using: &random)
      let most = Bool.random(using: &random) ? nil : Int.random(in: 1...40, using: &random)
      let found = try world.sorted(
        keys, maximumCount: most, behind: world.continuation(keys, all[index]))
      let following = all[(index + 1)...].prefix(most ?? .max)
      #expect(found == Array(following), "seed \(seed) \(round) \(keys)")
    }
    try world.finish()
  }

  @Test("A position whose values don't fit the order is an error")
  func aPositionThatNoRowCanHaveIsAnError() throws {
    var random = SeededRandom()
    let world = try SortWorld(rows: 3, using: &random)
    let keys = try world.keys(["age", "name"])
    let number = world.rows[0].number
    for values: [PropertyValue] in [
      [], [.integer(3)], [.string("three"), .string("x")], [.integer(3), .integer(3)],
      [.double(.nan), .null], [.list([]), .null], [.integer(1), .null, .null],
    ] {
      let error = #expect(throws: ArborError.self) {
        try world.sorted(
          keys, maximumCount: 2, behind: RowContinuation(values: values, number: number))
      }
      #expect(error?.code == .invalidArgument)
    }
    try world.finish()
  }

  @Test("The keys of replaced rows are released")
  func keysOfReplacedRowsAreForgotten() throws {
    var random = SeededRandom()
    let world = try SortWorld(rows: 4500, using: &random)
    // Each row precedes all rows before it, so the heap accepts every row and drops a key each
    // time.
    let rows = world.rows.filter { $0.entity.name == "Employee" }
    let keys = try world.keys([SortKey("objectID", isAscending: false)])
    let found = try world.sorted(keys, maximumCount: 2, rows: rows)
    #expect(found == rows.suffix(2).reversed().map(\.number))
    try world.finish()
  }
}

/// Records of people and employees in memory, to be sorted.
struct SortWorld {
  let world: QueryWorld
  let rows: [PlainObject]
  private let allocator = SlabAllocator(slabSize: 8 << 20)
  private let records: [RecordBuffer]
  let resolver: SnapshotResolver
  private let snapshot: StoreSnapshot

  init(rows count: Int, using random: inout SeededRandom) throws {
    world = try QueryWorld(isIndexed: false)
    var rows: [PlainObject] = []
    for index in 0..<count {
      let entity = world.entity(index % 3 == 0 ? "Employee" : "Person")
      var values = QueryWorld.values(entity, index, using: &random)
      if index % 5 == 0 {
        // Long, nearly equal names that differ only after the offset at which index keys are
        // truncated.
        values["name"] = .string(
          String(repeating: "k", count: 600 + index % 2) + "\(index % 7)")
      }
      rows.append(
        PlainObject(
          ObjectNumber(entity: entity.number, sequence: UInt64(index + 1)), entity, values))
    }
    self.rows = rows
    let allocator = allocator
    records = rows.map { $0.record(allocator) }
    snapshot = try world.store.snapshot()
    resolver = SnapshotResolver(
      QuerySource(
        store: world.store, reader: try snapshot.reader, unfinished: nil, limit: WorkLimit()),
      overlay: nil)
  }

  func keys(_ keys: [SortKey]) throws -> [BoundSortKey] {
    try keys.map { try $0.bind(to: world.entity("Person"), in: world.store.schema) }
  }

  func randomKeys(using random: inout SeededRandom) throws -> [BoundSortKey] {
    let names = [
      "name", "age", "score", "born", "isActive", "note", "price", "tag", "level", "objectID",
    ]
    return try keys(
      (0..<Int.random(in: 1...3, using: &random)).map { _ in
        SortKey(
          names.randomElement(using: &random) ?? "name", isAscending: .random(using: &random),
          options: Int.random(in: 0..<4, using: &random) == 0 ? .caseInsensitive : [])
      })
  }

  func columns(_ keys: [BoundSortKey]) -> SortColumns {
    SortColumns(
      keys, PredicateEnvironment(schema: world.store.schema, storeID: world.store.id),
      resolver: resolver)
  }

  /// Sorts rows with the sorter.
  func sorted(
    _ keys: [BoundSortKey], maximumCount: Int?, rows wanted: [PlainObject]? = nil,
    behind continuation: RowContinuation? = nil
  ) throws -> [ObjectNumber] {
    guard let order = ByteOrder(keys, columns: columns(keys)) else { return [] }
    var sorter = try RowSorter(order, maximumCount: maximumCount, behind: continuation)
    let chosen = wanted.map { Set($0.map(\.number)) }
    for (row, record) in zip(rows, records) where chosen?.contains(row.number) ?? true {
      let found = FoundRow(number: row.number, state: .pending(record.view))
      try sorter.add(found, of: row.entity)
    }
    var list = RowDelivery(to: RowNumbers())
    try sorter.drain(into: &list)
    try list.finish()
    return list.sink(as: RowNumbers.self).numbers
  }

  /// Returns the continuation after a row.
  func continuation(_ keys: [BoundSortKey], _ number: ObjectNumber) throws -> RowContinuation {
    let index = try #require(rows.firstIndex { $0.number == number })
    let values = try columns(keys)
      .values(number, records[index].view, of: rows[index].entity)
    return RowContinuation(values: values, number: number)
  }

  /// Calls `body` with every pair of rows.
  func forEachPair(
    _ body: ((PlainObject, RecordView), (PlainObject, RecordView)) throws -> Void
  ) rethrows {
    for (left, leftRecord) in zip(rows, records) {
      for (right, rightRecord) in zip(rows, records) {
        try body((left, leftRecord.view), (right, rightRecord.view))
      }
    }
  }

  func finish() throws {
    snapshot.close()
    let report = try world.store.check()
    #expect(report.isSound, "\(report)")
    world.store.close()
  }
}
