internal import ArborFoundation
internal import ArborModel
internal import LMDB

/// Fills empty indexes from the records, with one scan per entity.
///
/// Entries are gathered in memory, sorted and written. A store with more entries than fit in memory
/// is written in several sorted runs, so that memory use is bounded.
struct IndexBuilder {
  /// The number of entries to gather before writing them, at about 32 bytes each.
  static let runLength = 1 << 20

  let schema: ModelSchema
  let plans: [WritePlan?]
  let layouts: StoreLayouts
  let storeID: UUID
  /// The maintainers by index number. `nil` for indexes that need no building.
  private let maintainers: [IndexMaintainer?]
  private let runLength: Int
  /// The limit that ends the build early.
  private let limit = WorkLimit()

  /// - Parameter isBuilt: Returns whether to fill an index, whose database must be empty.
  init(
    _ schema: ModelSchema, _ databases: StoreDatabases, _ layouts: StoreLayouts, storeID: UUID,
    runLength: Int = IndexBuilder.runLength, where isBuilt: (StoreDatabases.Index) -> Bool
  ) throws(StoreError) {
    self.schema = schema
    self.layouts = layouts
    self.storeID = storeID
    self.runLength = runLength
    plans = WritePlan.all(of: schema, databases: databases)
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
  }

  /// Fills the indexes.
  ///
  /// - Throws: `corrupted` if a record is damaged, `interrupted` if the task is cancelled.
  func build(_ transaction: borrowing WriteTransaction) throws(StoreError) {
    for entity in schema.concreteEntities {
      guard let plan = plans[entity.index] else { continue }
      let indexes = plan.indexes.filter { maintainers[$0.number] != nil }
      if !indexes.isEmpty { try build(plan, indexes, transaction) }
    }
    try write(transaction)
  }

  private func build(
    _ plan: WritePlan, _ indexes: [WritePlan.Index], _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    var count = 0
    let scan = RecordScan(entity: plan.entity, records: plan.records, layouts: layouts)
    try scan.forEach(transaction.reader, limit) { (number, record) throws(StoreError) in
      for index in indexes {
        maintainers[index.number]?.collect(number, old: nil, new: record, plan: index)
      }
      count += 1
      guard count.isMultiple(of: 1 << 10) else { return }
      if maintainers.reduce(0, { $0 + ($1?.run.count ?? 0) }) >= runLength {
        try write(transaction)
      }
    }
  }

  /// Writes the gathered entries.
  private func write(_ transaction: borrowing WriteTransaction) throws(StoreError) {
    for maintainer in maintainers {
      guard let maintainer else { continue }
      maintainer.sort()
      try limit.checkStoreNow()
      try storing(limit, maintainer.apply(transaction, limit: limit))
      maintainer.removeAll()
    }
  }

  // MARK: Uniqueness

  static let maximumViolations = 100

  /// Returns the objects with equal values in the unique indexes that were filled.
  func violations(_ reader: TransactionReader) throws(StoreError) -> [UniquenessViolation] {
    var violations: [UniquenessViolation] = []
    for (indexNumber, maintainer) in maintainers.enumerated() {
      guard let maintainer, maintainer.index.schema.isUnique else { continue }
      try findViolations(of: maintainer, indexNumber, reader, &violations)
    }
    return violations
  }

  private func findViolations(
    of maintainer: IndexMaintainer, _ indexNumber: Int, _ reader: TransactionReader,
    _ violations: inout [UniquenessViolation]
  ) throws(StoreError) {
    let cursor = try storing(reader.cursor(maintainer.index.database))
    var entry = try storing(cursor.first())
    while let found = entry, violations.count < Self.maximumViolations {
      try limit.checkStore()
      let count = try storing(cursor.valueCount())
      if count > 1 {
        var numbers = [ObjectNumber(rawValue: cursor.number(of: found))]
        let isCut = found.key.count >= KeyBuffer.indexLimit
        while let other = try storing(cursor.nextDuplicate()) {
          numbers.append(ObjectNumber(rawValue: cursor.number(of: other)))
          // An untruncated key is conclusive. If it contains `nil`, it does so for all of its
          // objects.
          if !isCut, numbers.count == 2 { break }
        }
        try validate(numbers, maintainer, indexNumber, reader, &violations)
      }
      entry = try storing(cursor.nextKey())
    }
  }

  /// Compares the records of objects that share a key.
  private func validate(
    _ numbers: [ObjectNumber], _ maintainer: IndexMaintainer, _ indexNumber: Int,
    _ reader: TransactionReader, _ violations: inout [UniquenessViolation]
  ) throws(StoreError) {
    var holders: [[UInt8]: ObjectNumber] = [:]
    let allocator = SlabAllocator(slabSize: 4 << 10)
    for number in numbers {
      guard let entity = schema.entity(of: number), let plan = plans[entity.index],
        let index = plan.indexes.first(where: { $0.number == indexNumber }),
        let record = try reader.record(number, of: entity, in: plan.records, layouts, allocator),
        let key = maintainer.wholeKey(of: record, number, index)
      else { continue }
      guard let holder = holders[key] else {
        holders[key] = number
        continue
      }
      violations.append(
        UniquenessViolation(maintainer.index.schema, schema, existing: holder, offending: number))
    }
  }
}

extension UniquenessViolation {
  /// Creates the violation of two objects with equal values in a unique index.
  init(
    _ index: IndexSchema, _ schema: ModelSchema, existing: ObjectNumber, offending: ObjectNumber
  ) {
    let entity = schema.entities[index.declaringEntity]
    self.init(
      entity: entity.name, properties: index.columns.map { entity.name(of: $0.source) },
      existing: existing, offending: offending)
  }
}
