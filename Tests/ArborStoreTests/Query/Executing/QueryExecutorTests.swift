import ArborModel
import ArborStore
import Foundation
import LMDB
import TestLength
import TestSupport
import Testing

/// Random queries on random data through every access path, compared with an oracle.
@Suite struct QueryExecutorTests {
  @Test("Indexed and scanned queries agree with the oracle")
  func indexAndScanAgreeWithTheOracle() throws {
    var random = SeededRandom()
    let seed = random.seed
    var indexed = try QueryWorld(isIndexed: true)
    var plain = try QueryWorld(isIndexed: false)
    var same = random
    try indexed.fill(480, using: &random)
    try plain.fill(480, using: &same)
    for round in 0..<TestLength.of(150, long: 6000) {
      let test = QueryCase.random(indexed, using: &random)
      try expect(test, indexed, note: "indexed, seed \(seed), round \(round)")
      try expect(test, plain, note: "scanned, seed \(seed), round \(round)")
    }
    try finish(indexed.store)
    try finish(plain.store)
  }

  @Test("Queries with pending changes agree with the oracle")
  func pendingChangesLieOverTheStoredRows() throws {
    var random = SeededRandom()
    let seed = random.seed
    var world = try QueryWorld(isIndexed: true)
    try world.fill(480, using: &random)
    for round in 0..<40 {
      let pending = try PendingWorld(world, using: &random)
      for step in 0..<10 {
        let test = QueryCase.random(world, using: &random)
        try expect(
          test, world, pending, note: "seed \(seed), round \(round), step \(step)")
      }
    }
    try finish(world.store)
  }

  @Test("Queries agree with the oracle after the store is reopened")
  func answersStayTheSameAfterReopening() throws {
    var random = SeededRandom()
    let seed = random.seed
    let folder = try TemporaryFolder()
    let path = folder.path("store.arbor")
    var world = try QueryWorld(isIndexed: true, location: .file(path))
    try world.fill(240, using: &random)
    world.store.close()
    let reopened = try QueryWorld(isIndexed: true, location: .file(path), objects: world.objects)
    for round in 0..<100 {
      let test = QueryCase.random(reopened, using: &random)
      try expect(test, reopened, note: "seed \(seed), round \(round)")
    }
    try finish(reopened.store)
  }

  @Test("A damaged record is an error on every access path")
  func aDamagedRecordIsAnErrorHoweverItIsFound() throws {
    var random = SeededRandom()
    var world = try QueryWorld(isIndexed: true)
    try world.fill(60, using: &random)
    let store = world.store
    let victim = try #require(world.objects.last { $0.entity.name == "Employee" })
    let records = store.databases.records(victim.entity.index)
    let sound = try store.environment.read { transaction in
      try transaction.get(records, key: victim.number.rawValue).map { Array($0) }
    }
    func write(_ record: [UInt8]) throws {
      try store.environment.write { transaction in
        // The header contains the ID of the last transaction, as after a commit.
        var header = try StoreHeader.read(transaction.reader)
        header.transactionID = transaction.id
        try StoreHeader.write(header, in: transaction)
        try record.withUnsafeBytes { bytes in
          _ = try transaction.put(records, key: victim.number.rawValue, value: bytes)
        }
      }
    }
    var damaged = try #require(sound)
    damaged[RecordLayout.headerSize + 3] ^= 0x10
    try write(damaged)

    let badge = try #require(victim.values["badge"])
    let conditions: [QueryCondition?] = [
      nil, .compare("badge", "==", badge), .objects([victim.number]),
      .and([.compare("badge", "==", badge), .compare("level", "<", 99)]),
      .compare("plain", "!=", "nobody"),
    ]
    for condition in conditions {
      let test = QueryCase(
        entityName: "Employee", includesSubentities: true, condition: condition, sortKeys: [],
        limit: 0, offset: 0)
      let snapshot = try store.snapshot()
      let error = #expect(throws: StoreError.self) {
        try snapshot.fetch(test.query(world), overlay: nil, allocator: SlabAllocator())
      }
      guard case .corrupted("Employee", victim.number, _)? = error else {
        Issue.record("\(test) gave \(error.map { "\($0)" } ?? "no error").")
        continue
      }
      snapshot.close()
    }
    // A plan depends on counts alone, including those of related objects.
    let related = QueryCase(
      entityName: "Employee", includesSubentities: true,
      condition: .compare("mentor.plain", "==", "nobody"), sortKeys: [], limit: 0, offset: 0)
    let snapshot = try store.snapshot()
    _ = try snapshot.explain(related.query(world))
    #expect(throws: StoreError.self) {
      try snapshot.explain(related.query(world), analyzes: true)
    }
    snapshot.close()
    try write(#require(sound))
    try finish(store)
  }

  @Test("An argument of the wrong type is reported as an invalid predicate")
  func anArgumentThatDoesNotFitIsAnErrorOfTheQuery() throws {
    let world = try QueryWorld(isIndexed: true)
    let test = QueryCase(
      entityName: "Person", includesSubentities: true,
      condition: .compare("name", "BEGINSWITH", .integer(3)), sortKeys: [], limit: 0, offset: 0)
    let snapshot = try world.store.snapshot()
    let error = #expect(throws: StoreError.self) {
      try snapshot.fetch(test.query(world), overlay: nil, allocator: SlabAllocator())
    }
    guard case .query(let reason)? = error else {
      Issue.record("\(error.map { "\($0)" } ?? "No error").")
      return
    }
    #expect(reason.code == .invalidPredicate)
    snapshot.close()
    try finish(world.store)
  }

  // MARK: Comparing

  private func expect(
    _ test: QueryCase, _ world: QueryWorld, _ pending: PendingWorld? = nil, note: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let query = try test.query(world)
    let snapshot = try world.store.snapshot()
    defer { snapshot.close() }
    let allocator = SlabAllocator()
    let objects = pending?.objects ?? world.objects
    let overlay = pending?.overlay
    let fetched = try snapshot.fetch(query, overlay: overlay, allocator: allocator)
    let expected = test.expected(objects, world.store)
    let numbers = fetched.rows.map(\.number)
    let plan = try snapshot.explain(query)
    #expect(
      numbers == expected, "\(test)\n\(plan)\n\(note)", sourceLocation: sourceLocation)
    #expect(
      try snapshot.count(query, overlay: overlay) == expected.count, "\(test)\n\(plan)\n\(note)",
      sourceLocation: sourceLocation)
    let wrong = fetched.rows.filter { row in
      if pending?.isPendingOrKnown(row.number) ?? false { return row.base != nil }
      guard let object = world.object(row.number), let record = row.record else { return true }
      return !fetched.holds(row) || !object.isSame(as: record)
    }
    #expect(wrong.isEmpty, "\(wrong)\n\(test)\n\(note)", sourceLocation: sourceLocation)
  }

  private func finish(_ store: StoreEngine) throws {
    let report = try store.check()
    #expect(report.isSound, "\(report)")
    store.close()
  }
}

extension FetchedRecords {
  /// Whether a row's copy is in the slab that the row refers to.
  fileprivate func holds(_ row: FetchedRow) -> Bool {
    guard let record = row.record else { return false }
    let slab = slabs[Int(row.slabIndex)]
    let start = UnsafeRawPointer(slab.base)
    return record.base >= start && record.base + record.count <= start + slab.capacity
  }
}

extension PlainObject {
  /// Whether a record has the object's name and, for people, its note.
  fileprivate func isSame(as record: RecordView) -> Bool {
    ["name", "note"].allSatisfy { name in
      guard case .attribute(let attribute) = entity.property(named: name) else { return true }
      return record.value(attribute.field) == values[name]
    }
  }
}
