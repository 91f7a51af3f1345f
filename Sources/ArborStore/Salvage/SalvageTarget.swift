internal import ArborFoundation
internal import ArborModel
internal import LMDB

/// The new store that a salvage fills, in a file that no other process has open.
///
/// Nothing is synced before the end, and each transaction changes few pages, so that memory use is
/// bounded.
final class SalvageTarget {
  let environment: Environment
  let schema: ModelSchema
  let databases: StoreDatabases
  let layouts: StoreLayouts
  let plans: [WritePlan?]
  let storeID: UUID
  let limit = WorkLimit()
  /// The database of the numbers of doubtful objects, which came from pages that may be out of
  /// date. It exists only during the salvage.
  let doubtful: Database

  static let doubtfulName = "salvage"
  /// The maximum number of objects or links per transaction, because each may change a page.
  static let maximumChanges = 1 << 13

  init(path: String, _ model: SalvagedModel, header: HeaderRecord?) throws(StoreError) {
    schema = model.schema
    layouts = try StoreLayouts(
      model.layouts.filter { layout in
        model.schema.entities.contains {
          $0.number == layout.layout.entity && $0.layout.number > 1
        }
      }, of: model.schema.entities)
    storeID = header?.storeID ?? UUID()
    var options = EnvironmentOptions.unfinished
    options.additionalDatabases = StoreDatabases.list(schema).count + 1
    let environment = try storing(path: path, Environment.open(path: path, options: options))
    self.environment = environment
    do throws(StoreError) {
      let pageSize = try storing(environment.info().pageSize)
      let start = HeaderRecord(
        pageSize: UInt32(pageSize), modelGeneration: max(1, header?.modelGeneration ?? 1),
        storeID: storeID, modelFingerprint: schema.model.fingerprint, transactionID: 0,
        bootID: StoreHeader.bootID, sequence: 0)
      var opened = try Self.begin(environment, model, start)
      doubtful = opened.removeLast()
      databases = StoreDatabases(schema, opened: opened)
      plans = WritePlan.all(of: schema, databases: databases)
    } catch {
      try? environment.close()
      throw error
    }
  }

  /// Creates the databases, with that of doubtful objects last, and writes the store's metadata.
  private static func begin(
    _ environment: Environment, _ model: SalvagedModel, _ start: HeaderRecord
  ) throws(StoreError) -> [Database] {
    let schema = model.schema
    let list = StoreDatabases.list(schema) + [(name: doubtfulName, flags: StoreFormat.recordFlags)]
    var opened: [Database] = []
    try write(environment) { (transaction) throws(StoreError) in
      opened = try storing(transaction.createDatabases(list))
      let arbor = StoreDatabases(schema, opened: opened).arbor
      var header = start
      header.transactionID = transaction.id
      try StoreCreation.begin(header, schema, model.layouts, arbor, transaction)
    }
    return opened
  }

  deinit { try? environment.close() }

  /// The concrete entities in the order of their numbers.
  var entities: [WritePlan] {
    schema.concreteEntities.compactMap { plans[$0.index] }
  }

  /// Runs `body` in a write transaction. It may run more than once.
  func write(_ body: (borrowing WriteTransaction) throws(StoreError) -> Void) throws(StoreError) {
    try limit.checkStoreNow()
    try Self.write(environment, body)
  }

  private static func write(
    _ environment: Environment, _ body: (borrowing WriteTransaction) throws(StoreError) -> Void
  ) throws(StoreError) {
    try environment.write(path: nil) { (transaction) throws(StoreError) in
      try body(transaction)
      try storing(StoreDigests.keep(transaction))
      return true
    }
  }

  /// Runs `body` in a read transaction that includes all writes so far.
  func read<R>(_ body: (TransactionReader) throws(StoreError) -> R) throws(StoreError) -> R {
    let transaction = try storing(environment.beginRead())
    return try body(transaction.reader)
  }

  /// Returns whether an object is in the new store.
  func exists(_ number: ObjectNumber, _ reader: TransactionReader) throws(LMDBError) -> Bool {
    guard let entity = schema.entity(of: number), !entity.isAbstract else { return false }
    return try reader.get(databases.records(entity.index), key: number.rawValue) != nil
  }

  /// Returns a record of the new store in its newest layout, or `nil` if it does not exist.
  func record(
    _ number: ObjectNumber, _ reader: TransactionReader, _ allocator: SlabAllocator
  ) throws(StoreError) -> RecordView? {
    guard let entity = schema.entity(of: number), !entity.isAbstract else { return nil }
    let records = databases.records(entity.index)
    return try reader.record(number, of: entity, in: records, layouts, allocator)
  }
}

extension SalvageTarget {
  /// Calls `body` with the records of an entity in their newest layout, and `batch` after each
  /// batch. No transaction is open between batches, so `batch` may write.
  func forEachRecord(
    of plan: WritePlan, _ body: (ObjectNumber, RecordView) throws(StoreError) -> Void,
    batch: () throws(StoreError) -> Void
  ) throws(StoreError) {
    var next: UInt64? = 0
    while let start = next {
      try limit.checkStoreNow()
      next = try read { (reader) throws(StoreError) in
        let cursor = try storing(reader.cursor(plan.records))
        var entry = try storing(cursor.seek(start))
        let allocator = SlabAllocator(slabSize: 4 << 10)
        var count = 0
        while let found = entry {
          if count == Self.maximumChanges { return found.integerKey }
          let number = ObjectNumber(rawValue: found.integerKey)
          let record = try layouts.verified(
            found.value, of: number, entity: plan.entity, allocator: allocator)
          try body(number, record)
          count += 1
          entry = try storing(cursor.next())
        }
        return nil
      }
      try batch()
    }
  }
}

/// A part of a salvage that gathers data while reading and writes it in batches.
protocol SalvageCopying: AnyObject {
  var source: SalvageSource { get }
  /// The error that ended writing. Data is written while it is read, so reading ends with a
  /// placeholder engine error instead.
  var failure: StoreError? { get set }

  /// Writes the gathered data.
  func writePending() throws(StoreError)
}

extension SalvageCopying {
  /// Runs a body that reads and writes, then writes the remaining data. Errors of the writing are
  /// rethrown unchanged.
  func run(_ body: () throws(LMDBError) -> Void) throws(StoreError) {
    do throws(LMDBError) {
      try body()
      try flush()
    } catch {
      if let interruption = source.limit.interruption { throw .interrupted(interruption) }
      throw failure ?? StoreError(error)
    }
  }

  /// Writes the gathered data during reading.
  func flush() throws(LMDBError) {
    do throws(StoreError) { try writePending() } catch {
      failure = error
      throw .closed
    }
  }
}
