import ArborModel
import Foundation
import TestSupport
import Testing

@testable import ArborObjects
@testable import ArborStore

@Suite struct PendingKeysTests {
  /// Lookups of a few objects among 20,000 pending ones.
  private static let lookups: [FetchPredicate] = [
    "code == 'c777'", "code IN {'c1', 'c19000', 'none'}", "code == 'none'", "shelf == 777",
    "shelf == 777 AND row == 7", "row == 7 AND shelf == 19999", "title ==[c] 'TITLE 5'",
    "code == 'c5' AND title BEGINSWITH 't'", "shelf == nil AND row == nil",
    "code == 'c1' AND (row > 3 OR row < 8)",
  ]

  @Test("Lookups of pending objects visit only a few of them")
  func looksAtFewOfManyPendingObjects() throws {
    try ObjectStore.use(Shelves.model()) { store in
      let context = store.makeContext()
      for place in 0..<20_000 { try Shelves.insert(place, in: context) }
      let first = try Self.lookups.map { try context.evaluatedRows($0) }
      // The first lookup of its kind visits all objects.
      #expect(first[0].evaluated == 20_000)
      #expect(first.map(\.found.count) == [1, 2, 0, 1, 1, 0, 1, 1, 0, 1])
      for place in 20_000..<20_020 {
        for (predicate, first) in zip(Self.lookups, first) {
          let (found, evaluated) = try context.evaluatedRows(predicate)
          #expect(found == first.found)
          #expect(place == 20_000 || evaluated <= 3, "\(predicate) evaluates \(evaluated) rows")
        }
        try Shelves.insert(place, in: context)
      }
      context.rollback()
    }
  }

  @Test("Counts and lookups find pending objects by their keys")
  func countsLookAtFewRowsToo() throws {
    try ObjectStore.use(Shelves.model()) { store in
      let context = store.makeContext()
      for place in 0..<1000 { try Shelves.insert(place, in: context) }
      try context.commit()
      for object in try context.fetch("Item") { object["row"] = 3 }
      for place in 1000..<2000 { try Shelves.insert(place, in: context) }
      for place in [5, 1005, 5000, 6, 1006] {
        let predicate: FetchPredicate = "code == \("c\(place)")"
        let isThere = place < 2000
        #expect(try context.count("Item", matching: predicate) == (isThere ? 1 : 0))
        #expect(try context.exists(FetchRequest(entity: "Item", predicate: predicate)) == isThere)
        let found = try context.fetchOne("Item", matching: predicate)
        #expect(found?["code"] == (isThere ? .string("c\(place)") : nil))
      }
      context.rollback()
    }
  }

  @Test("A loop that finds or inserts objects finds those it has inserted")
  func aFindOrMakeLoopFindsWhatItMade() throws {
    try ObjectStore.use(Shelves.model()) { store in
      let context = store.makeContext()
      context.undoHistory = UndoHistory()
      for place in 0..<600 {
        let code = "c\(place % 200)"
        let known = try context.fetchOne("Item", matching: "code == \(code)")
        #expect((known != nil) == (place >= 200))
        let item = try known ?? context.insert("Item")
        item["code"] = .string(code)
        item["row"] = .integer(Int64(place))
      }
      #expect(context.insertedObjects.count == 200)
      try context.commit()
      context.undo()
      #expect(try context.count("Item", matching: "code == 'c7'") == 0)
      try context.commit()
    }
  }

  @Test("Lookups between writes copy no record and find changed keys")
  func asksOnlyOnceAfterTheFirstWrite() throws {
    try ObjectStore.use(Shelves.model()) { store in
      let context = store.makeContext()
      for place in 0..<100 { try Shelves.insert(place, in: context) }
      let predicate: FetchPredicate = "code == 'c7'"
      for _ in 0..<2 { _ = try context.fetchOne("Item", matching: predicate) }
      let item = try #require(try context.fetchOne("Item", matching: predicate))
      let change = try #require(item.change)
      let record = item.base
      #expect(change.isRead(in: context.session.epoch))
      item["row"] = 1
      #expect(change.epoch == context.session.epoch, "the next write takes the short way")
      #expect(item.base == record, "a look-up makes no new working record")
      item["code"] = "other"
      #expect(try context.fetchOne("Item", matching: predicate) == nil)
      #expect(try context.fetchOne("Item", matching: "code == 'other'") === item)
      context.rollback()
    }
  }

  @Test("Lookups of pending objects agree with scans")
  func lookUpsAgreeWithScans() throws {
    var seeds = SeededRandom()
    for _ in 0..<10 {
      let seed = seeds.next()
      do {
        try ObjectStore.use(Shelves.model()) { store in
          var world = LookupWorld(store, seed: seed)
          try world.run(steps: 250)
        }
      } catch {
        Issue.record(error, "seed \(seed)")
        return
      }
    }
  }
}

/// A model of items with indexes of every kind.
private enum Shelves {
  static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription(
        "Item",
        fetchIndexes: [
          FetchIndexDescription(
            name: "place", elements: [.init("shelf"), .init("row", isAscending: false)]),
          FetchIndexDescription(name: "folded", elements: [.init("title", kind: .folded)]),
        ]
      ) {
        AttributeDescription("code", .string, .optional, .indexed)
        AttributeDescription("shelf", .integer32, .optional)
        AttributeDescription("row", .integer64, .optional)
        AttributeDescription("title", .string, .optional)
      }
      EntityDescription("Book", parent: "Item") {
        AttributeDescription("pages", .integer64, .default(0))
      }
    }
  }

  static func insert(_ place: Int, in context: ManagedObjectContext) throws {
    let item = try context.insert(place.isMultiple(of: 3) ? "Book" : "Item")
    item["code"] = .string("c\(place)")
    item["shelf"] = .integer(Int64(place))
    item["row"] = .integer(Int64(place % 10))
    item["title"] = .string("title \(place)")
  }
}

extension ManagedObjectContext {
  /// Returns the objects that a fetch of items finds, and the number of pending rows it evaluates.
  fileprivate func evaluatedRows(
    _ predicate: FetchPredicate
  ) throws -> (found: [ManagedObject], evaluated: Int) {
    let request = FetchRequest<ManagedObject>(entity: "Item", predicate: predicate)
    let query = try session.query(request.description, session.entity(named: "Item"))
    let counting = CountingState(try #require(session.overlay))
    let numbers = try session.onSnapshot { snapshot throws(StoreError) in
      try snapshot.fetchNumbers(query, overlay: counting)
    }
    return (numbers.compactMap(session.fault), counting.evaluated)
  }
}

/// Counts the pending rows that a query evaluates.
private final class CountingState: PendingState {
  private let base: any PendingState
  private(set) var evaluated = 0

  init(_ base: any PendingState) { self.base = base }

  var dirty: NumberMap { base.dirty }
  var known: NumberMap? { base.known }

  func pendingRows(
    of entity: EntitySchema, _ selection: PendingSelection?
  ) -> [(ObjectNumber, RecordView)] {
    let rows = base.pendingRows(of: entity, selection)
    evaluated += rows.count
    return rows
  }

  func pendingRecord(of number: ObjectNumber) -> RecordView? { base.pendingRecord(of: number) }
  func isDeleted(_ number: ObjectNumber) -> Bool { base.isDeleted(number) }
  func touches(_ entity: EntitySchema) -> Bool { base.touches(entity) }

  func members(
    of owner: ObjectNumber, _ relationship: RelationshipSchema, over stored: [ObjectNumber]
  ) -> [ObjectNumber] {
    base.members(of: owner, relationship, over: stored)
  }

  func changedMembers(
    of owner: ObjectNumber, _ relationship: RelationshipSchema
  ) -> (added: [ObjectNumber], removed: [ObjectNumber])? {
    base.changedMembers(of: owner, relationship)
  }

  func isMember(
    _ member: ObjectNumber, of owner: ObjectNumber, _ relationship: RelationshipSchema
  ) -> Bool? {
    base.isMember(member, of: owner, relationship)
  }

  func blob(_ key: BlobKey) -> Data? { base.blob(key) }
}

/// A context with many pending objects, concurrent changes, and lookups in between.
private struct LookupWorld {
  private struct Contradiction: Error, CustomStringConvertible { let description: String }

  private static let codes = ["a", "A", "é", "e\u{301}", "", "longer text", "b"]

  private let context: ManagedObjectContext
  private let other: ManagedObjectContext
  private var random: SeededRandom
  private var log: [String] = []
  /// Retained, so that the context never creates another instance.
  private var objects: [ManagedObject] = []

  init(_ store: PersistentStore, seed: UInt64) {
    random = SeededRandom(seed: seed)
    context = store.makeContext()
    other = store.makeContext()
    let policies: [MergePolicy] = [
      .mergeByPropertyObjectWins, .mergeByPropertyStoreWins, .overwrite, .rollback,
    ]
    context.mergePolicy = policies.randomElement(using: &random) ?? .overwrite
    other.mergePolicy = .mergeByPropertyObjectWins
    context.undoHistory = Bool.random(using: &random) ? UndoHistory() : nil
  }

  mutating func run(steps: Int) throws {
    for _ in 0..<120 { try insert() }
    do {
      for _ in 0..<steps {
        try step()
        for _ in 0..<Int.random(in: 0..<3, using: &random) { try compare() }
      }
      try commit()
      try compare()
    } catch let error as ArborError {
      throw Contradiction(description: error.message + "\n" + log.joined(separator: "\n"))
    }
  }

  private mutating func step() throws {
    switch Int.random(in: 0..<40, using: &random) {
    case 0..<22: try edit()
    case 22: try commit()
    case 23:
      log.append("rollback")
      context.rollback()
    case 24..<28:
      log.append("undo")
      context.undo()
    case 28..<31:
      log.append("redo")
      context.redo()
    case 31..<33: try interrupt()
    case 33..<36: try disturb()
    case 36..<38:
      guard let object = living.randomElement(using: &random) else { return }
      let merges = Bool.random(using: &random)
      log.append("refresh \(object.number.sequence), merging \(merges)")
      context.refresh(object, mergeChanges: merges)
    case 38 where Int.random(in: 0..<4, using: &random) == 0:
      log.append("reset")
      context.reset()
      objects = []
      for _ in 0..<100 { try insert() }
    default: try touchMany()
    }
  }

  private var living: [ManagedObject] {
    objects.filter { $0.context === context && !$0.isDeleted }
  }

  private mutating func edit() throws {
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<2: try insert()
    case 2:
      guard let object = living.randomElement(using: &random) else { return }
      log.append("delete \(object.number.sequence)")
      context.delete(object)
    default:
      if let object = living.randomElement(using: &random) { try change(object) }
    }
  }

  private mutating func insert() throws {
    let object = try context.insert(Bool.random(using: &random) ? "Item" : "Book")
    log.append("insert \(object.number.sequence)")
    objects.append(object)
    if Bool.random(using: &random) { try change(object) }
  }

  private mutating func change(_ object: ManagedObject) throws {
    let name = ["code", "shelf", "row", "title"].randomElement(using: &random) ?? ""
    let value = value(of: name)
    log.append("\(object.number.sequence).\(name) = \(value)")
    try object.setValue(value, forKey: name)
  }

  private mutating func value(of name: String) -> PropertyValue {
    if Int.random(in: 0..<6, using: &random) == 0 { return .null }
    return name == "code" || name == "title"
      ? .string(Self.codes.randomElement(using: &random) ?? "")
      : .integer(.random(in: 0..<12, using: &random))
  }

  private mutating func touchMany() throws {
    log.append("touch many")
    for object in living where Int.random(in: 0..<3, using: &random) > 0 {
      object["row"] = value(of: "row")
    }
  }

  private mutating func commit() throws {
    log.append("commit")
    try context.commit()
  }

  private mutating func interrupt() throws {
    log.append("savepoint")
    do {
      try context.withSavepoint {
        for _ in 0..<6 {
          try edit()
          try compare()
        }
        throw Interruption()
      }
    } catch is Interruption {
      log.append("back to the savepoint")
    }
  }

  /// Changes and deletes committed objects in the other context.
  private mutating func disturb() throws {
    let theirs = try other.fetch("Item")
    for _ in 0..<3 {
      guard let object = theirs.randomElement(using: &random), !object.isDeleted else { continue }
      if Int.random(in: 0..<4, using: &random) == 0 {
        log.append("others delete \(object.number.sequence)")
        other.delete(object)
      } else {
        try change(object)
      }
    }
    log.append("others commit")
    try other.commit()
    // Writing to a fault loads it, which fails if it was deleted. This operation reports that.
    if objects.contains(where: \.isFault) {
      _ = try context.count(FetchRequest<ManagedObject>(entity: "Item"))
    }
  }

  // MARK: Comparing

  private mutating func predicate() -> FetchPredicate {
    func code() -> String { Self.codes.randomElement(using: &random) ?? "" }
    func number() -> Int { .random(in: 0..<12, using: &random) }
    switch Int.random(in: 0..<8, using: &random) {
    case 0: return "code == \(code())"
    case 1: return "code IN \([code(), code(), "none"])"
    case 2: return "code == nil AND row == \(number())"
    case 3: return "shelf == \(number())"
    case 4: return "shelf IN \([number(), number()]) AND row IN \([number(), number()])"
    case 5: return "title ==[c] \(code()) AND row < \(number())"
    case 6: return "title == \(code())"
    default: return "row == \(number()) AND shelf == \(number())"
    }
  }

  private mutating func compare() throws {
    let predicate = predicate()
    let entity = Bool.random(using: &random) ? "Item" : "Book"
    let request = FetchRequest<ManagedObject>(entity: entity, predicate: predicate)
    let kind = Int.random(in: 0..<4, using: &random)
    let expected = try context.fetch(entity).filter { try predicate.matches($0) }
    let agrees =
      switch kind {
      case 0: try context.fetch(request) == expected
      case 1: try context.count(request) == expected.count
      case 2: try context.exists(request) == !expected.isEmpty
      default: try context.fetchOne(request) === expected.first
      }
    guard agrees else {
      throw Contradiction(
        description: "\(entity) \(predicate), asked in way \(kind), has \(expected.count)\n"
          + log.joined(separator: "\n"))
    }
  }
}
