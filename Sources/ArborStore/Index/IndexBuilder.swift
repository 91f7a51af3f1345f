internal import ArborModel
internal import Foundation
internal import LMDB

/// Fills indexes from the records, in one scan of each entity: at once, or, as
/// ``OnlineIndexBuilder`` does, a batch of objects at a time.
///
/// Entries are gathered in memory, sorted and written; what does not fit at once is written in
/// several sorted runs, so that memory stays bounded however large the store is.
struct IndexBuilder {
  /// How many entries are gathered before they are written: some 32 bytes each.
  static let runLength = 1 << 20

  let schema: ModelSchema
  let plans: [EntityPlan?]
  let layouts: StoreLayouts
  let storeID: UUID
  /// By the numbers of indexes; nil for those that are as they should be.
  private let maintainers: [IndexMaintainer?]
  /// The entities whose objects have entries, by their numbers.
  private let targets: [Target]
  private let runLength: Int
  /// What ends the building before it is done.
  private let limit = WorkLimit()

  /// An entity, and those of the indexes that cover it.
  private struct Target {
    let plan: EntityPlan
    let indexes: [EntityPlan.Index]
  }

  /// - Parameter isBuilt: Whether an index is to be filled; its database is empty.
  init(
    _ schema: ModelSchema, _ databases: StoreDatabases, _ layouts: StoreLayouts, storeID: UUID,
    runLength: Int = IndexBuilder.runLength, where isBuilt: (StoreDatabases.Index) -> Bool
  ) throws(StoreError) {
    self.schema = schema
    self.layouts = layouts
    self.storeID = storeID
    self.runLength = runLength
    plans = EntityPlan.all(of: schema, databases: databases)
    var maintainers: [IndexMaintainer?] = []
    for index in databases.indexes {
      guard isBuilt(index) else {
        maintainers.append(nil)
        continue
      }
      maintainers.append(
        IndexMaintainer(index, filter: try IndexFilter(index.schema, schema, storeID: storeID)))
    }
    self.maintainers = maintainers
    targets =
      plans.compactMap { plan in
        plan.map { plan in
          Target(
            plan: plan, indexes: plan.indexes.filter { maintainers[$0.place] != nil })
        }
      }
      .filter { !$0.indexes.isEmpty }
      .sorted { $0.plan.entity.number < $1.plan.entity.number }
  }

  /// Fills the indexes.
  ///
  /// - Throws: `corrupted` where a record is damaged, `interrupted` where the task is cancelled.
  func build(_ transaction: borrowing WriteTransaction) throws(StoreError) {
    for target in targets {
      var above: UInt64 = 0
      while let last = try gather(target, transaction.reader, above: above, atMost: Self.stretch)
        .last
      {
        above = last
        if entryCount >= runLength { try write(transaction) }
      }
    }
    try write(transaction)
  }

  /// Writes what has been gathered, and forgets it.
  private func write(_ transaction: borrowing WriteTransaction) throws(StoreError) {
    sort()
    try apply(transaction)
    removeAll()
  }

  // MARK: Gathering

  /// So many records are read at a stretch.
  private static let stretch = 1 << 10

  /// How many entries are gathered and not forgotten.
  private var entryCount: Int { maintainers.reduce(0) { $0 + ($1?.run.count ?? 0) } }

  /// Gathers the entries of objects above a number, in the order of their numbers.
  ///
  /// - Parameters:
  ///   - number: The raw number of the last object that has been gathered before; 0 for none.
  ///   - bound: The raw number of the last object that is wanted.
  ///   - most: How many objects are looked at.
  /// - Returns: The raw number up to which all objects have been gathered; the bound where no
  ///   object is left.
  func gather(
    _ reader: TransactionReader, above number: UInt64, upTo bound: UInt64, atMost most: Int
  ) throws(StoreError) -> UInt64 {
    var (last, room) = (number, most)
    for target in targets {
      let first = ObjectNumber(entity: target.plan.entity.number, sequence: 0).rawValue
      if first | ObjectNumber.maximumSequence <= number { continue }
      var above = max(number, first)
      while true {
        let wanted = min(room, Self.stretch)
        guard wanted > 0 else { return last }
        let found = try gather(target, reader, above: above, upTo: bound, atMost: wanted)
        room -= found.count
        if let end = found.last { (last, above) = (end, end) }
        if found.count < wanted { break }
      }
    }
    return bound
  }

  /// Gathers the entries of one entity's objects.
  private func gather(
    _ target: Target, _ reader: TransactionReader, above number: UInt64,
    upTo bound: UInt64 = .max, atMost most: Int
  ) throws(StoreError) -> (count: Int, last: UInt64?) {
    guard number < bound else { return (0, nil) }
    let plan = target.plan
    let allocator = SlabAllocator(slabSize: 4 << 10)
    var count = 0
    var last: UInt64?
    let cursor = try storing { () throws(LMDBError) in try reader.cursor(plan.records) }
    var entry = try storing { () throws(LMDBError) in try cursor.seek(number + 1) }
    while let found = entry, count < most, found.integerKey <= bound {
      try limit.checkStore()
      let number = ObjectNumber(rawValue: found.integerKey)
      guard let base = found.value.baseAddress, number.entity == plan.entity.number else {
        throw .corrupted(
          entity: plan.entity.name, object: number,
          what: "The record is empty, or its key is of another entity.")
      }
      let record = try layouts.verified(
        RecordView(base: base, count: found.value.count), of: number, entity: plan.entity,
        allocator: allocator)
      for index in target.indexes {
        maintainers[index.place]?.collect(number, old: nil, new: record, plan: index)
      }
      count += 1
      last = number.rawValue
      entry = try storing { () throws(LMDBError) in try cursor.next() }
    }
    return (count, last)
  }

  // MARK: Writing

  /// Brings what has been gathered into the order of the indexes.
  func sort() {
    for maintainer in maintainers { maintainer?.sort() }
  }

  /// Writes what has been gathered and sorted. Entries that are there already stay.
  func apply(_ transaction: borrowing WriteTransaction) throws(StoreError) {
    for maintainer in maintainers {
      guard let maintainer else { continue }
      // Others may have written since.
      maintainer.forgetEnd()
      try limit.checkStoreNow()
      try storing(limit) { () throws(LMDBError) in
        try maintainer.apply(transaction, limit: limit)
      }
    }
  }

  /// Forgets what has been gathered.
  func removeAll() {
    for maintainer in maintainers { maintainer?.removeAll() }
  }

  // MARK: Uniqueness

  /// How many violations are named at most.
  private static let mostViolations = 100

  /// Objects with the same values in unique indexes that were filled.
  func violations(_ reader: TransactionReader) throws(StoreError) -> [UniquenessViolation] {
    var violations: [UniquenessViolation] = []
    for (place, maintainer) in maintainers.enumerated() {
      guard let maintainer, maintainer.index.schema.isUnique else { continue }
      try findViolations(of: maintainer, place, reader, &violations)
    }
    return violations
  }

  private func findViolations(
    of maintainer: IndexMaintainer, _ place: Int, _ reader: TransactionReader,
    _ violations: inout [UniquenessViolation]
  ) throws(StoreError) {
    let cursor = try storing { () throws(LMDBError) in
      try reader.cursor(maintainer.index.database)
    }
    var entry = try storing { () throws(LMDBError) in try cursor.first() }
    while let found = entry, violations.count < Self.mostViolations {
      try limit.checkStore()
      let count = try storing { () throws(LMDBError) in try cursor.valueCount() }
      if count > 1 {
        var numbers = [ObjectNumber(rawValue: found.integerValue)]
        let isCut = found.key.count >= KeyBuffer.indexLimit
        while let other = try storing({ () throws(LMDBError) in try cursor.nextDuplicate() }) {
          numbers.append(ObjectNumber(rawValue: other.integerValue))
          // Whole keys say all that there is to say; nil in one of them is nil in all.
          if !isCut, numbers.count == 2 { break }
        }
        try judge(numbers, maintainer, place, reader, &violations)
      }
      entry = try storing { () throws(LMDBError) in try cursor.nextKey() }
    }
  }

  /// Compares objects with one key by their records.
  private func judge(
    _ numbers: [ObjectNumber], _ maintainer: IndexMaintainer, _ place: Int,
    _ reader: TransactionReader, _ violations: inout [UniquenessViolation]
  ) throws(StoreError) {
    var holders: [[UInt8]: ObjectNumber] = [:]
    let allocator = SlabAllocator(slabSize: 4 << 10)
    for number in numbers {
      guard let entity = schema.entity(of: number), let plan = plans[entity.index],
        let index = plan.indexes.first(where: { $0.place == place }),
        let found = try storing({ () throws(LMDBError) in
          try reader.get(plan.records, key: number.rawValue)
        }), let base = found.baseAddress
      else { continue }
      let record = try layouts.verified(
        RecordView(base: base, count: found.count), of: number, entity: entity,
        allocator: allocator)
      guard let key = maintainer.wholeKey(of: record, number, index) else { continue }
      guard let holder = holders[key] else {
        holders[key] = number
        continue
      }
      violations.append(
        UniquenessViolation(
          maintainer.index.schema, schema, existing: holder, offending: number))
    }
  }
}

extension UniquenessViolation {
  /// Two objects with the same values in a unique index.
  init(
    _ index: IndexSchema, _ schema: ModelSchema, existing: ObjectNumber, offending: ObjectNumber
  ) {
    let entity = schema.entities[index.declaringEntity]
    self.init(
      entity: entity.name, properties: index.columns.map { entity.name(of: $0.source) },
      existing: existing, offending: offending)
  }
}
