import ArborJSON
import ArborModel
import ArborObjects
import Dispatch

/// An import that commits batch by batch and releases each batch after its commit.
struct BatchedImport {
  private let source: JSONSource
  private let entityName: String
  private let context: ManagedObjectContext
  private let options: ImportOptions
  private var step = ImportStep()
  private let limit: ExchangeLimit
  private let mapper: ImportMapper
  /// The mappings for planning a batch again, while the other mapper plans the next one.
  private let repeatingMapper: ImportMapper
  private var waiting: [WaitingLink] = []

  init(
    _ source: JSONSource, _ entityName: String, into context: ManagedObjectContext,
    _ options: ImportOptions
  ) {
    self.source = source
    self.entityName = entityName
    self.context = context
    self.options = options
    limit = ExchangeLimit(until: options.deadline)
    mapper = ImportMapper(context.store.schema, options)
    repeatingMapper = ImportMapper(context.store.schema, options)
  }

  /// Imports all items of the document. Calls `report` after each commit, and stops if it returns
  /// `false`.
  mutating func run(_ report: (ImportStep) -> Bool) throws(ArborError) {
    try limit.checkNow()
    context.deadline = options.deadline
    let reader = try BatchReader(source, entityName, context, options, by: mapper)
    defer { reader.stop() }
    step.totalBytes = reader.size
    while let batch = try reader.next(limit) {
      try commit(batch)
      step.items += batch.count
      step.bytesRead = batch.position
      guard report(step) else { return }
    }
    try connectWaiting()
    let document = reader.document
    let last = try ItemImport(entityName, into: context, options, by: mapper, limit)
    let unmet = last.unmetNames(of: step.items)
    try last.check(unmet, of: step.items, in: document)
    step.findings.warnings = unmet?.warnings ?? []
    if options.lenient, let problem = document.problem {
      let drops = ImportDrops()
      drops.add { problem }
      step.findings.addDropped(drops.findings)
    }
    options.report?.add(step.findings)
    step.bytesRead = reader.position
    _ = report(step)
  }

  /// Connects the links that had to wait for the end of the document.
  private mutating func connectWaiting() throws(ArborError) {
    while !waiting.isEmpty {
      let part = waiting.suffix(max(options.batchSize, 1))
      waiting.removeLast(part.count)
      let itemImport = try ItemImport(entityName, into: context, options, by: mapper, limit)
      try commit(itemImport) { (itemImport) throws(ArborError) in
        for waiting in part { try itemImport.resume(waiting) }
        try itemImport.run.plan.fetchObjects()
        return try itemImport.run.connectDeferred(unknownKey: .isError)
      }
    }
  }

  /// Imports and commits a batch. A lenient import repeats it without the items that cannot be
  /// imported or whose objects break rules, until none is left.
  private mutating func commit(_ batch: PlannedBatch) throws(ArborError) {
    var (itemImport, indexes) = (batch.itemImport, batch.indexes)
    var skipped: [SkippedItem] = []
    while true {
      do throws(ArborError) {
        return try commit(itemImport) { [context] (itemImport) throws(ArborError) in
          func importItems() throws(ArborError) -> [DeferredLink] {
            try itemImport.run.carryOut(indexes)
            return try itemImport.run.connectDeferred(unknownKey: .waits)
          }
          // Only inside a savepoint are the changes of each item known.
          return itemImport.run.trace == nil
            ? try importItems() : try context.withSavepoint(importItems)
        }
      } catch {
        let found = itemImport.run.itemsToSkip(error)
        guard !found.isEmpty else { throw error }
        skipped = (skipped + found).sorted { $0.offset < $1.offset }
        context.rollback()
        itemImport = try ItemImport(
          entityName, into: context, options, by: repeatingMapper, limit, skipping: skipped)
        indexes = try itemImport.planBatch(batch.items)
      }
    }
  }

  private mutating func commit(
    _ itemImport: ItemImport, _ body: (ItemImport) throws(ArborError) -> [DeferredLink]
  ) throws(ArborError) {
    // Planning used the limit of its own thread.
    itemImport.run.plan.limit = limit
    let left = try body(itemImport).map { itemImport.run.waiting($0, source) }
    do throws(ArborError) { try context.commit() } catch { throw itemImport.run.located(error) }
    context.reset()
    waiting += left
    step.inserted += itemImport.run.counts.inserted
    step.updated += itemImport.run.counts.updated
    step.unchanged += itemImport.run.counts.unchanged
    step.deleted += itemImport.run.counts.deleted
    step.findings.addDropped(itemImport.findings())
  }
}

/// A batch of items that has been read and planned, but not imported.
struct PlannedBatch {
  let items: JSONBatch
  let itemImport: ItemImport
  let indexes: [Int32]
  /// The number of items read, including skipped ones.
  let count: Int
  /// The byte offset at which the next batch starts.
  let position: Int
}

/// Reads and plans the batches of a document on another thread, while the previous batch is being
/// imported and committed.
///
/// `@unchecked Sendable` because all state is accessed only on the queue, one operation at a time.
/// Planning uses only the context's model, which is immutable. Batches share the mappings, of which
/// importing reads only immutable state; each batch has its own plan.
final class BatchReader: @unchecked Sendable {
  private let entityName: String
  private let context: ManagedObjectContext
  private let options: ImportOptions
  private let mapper: ImportMapper
  private var reader: ImportDocument
  /// A flag that is set when the import ends before the document does. The queue's threads have no
  /// task that could be checked for cancellation.
  private let givenUp = CancellationFlag()
  private let limit: ExchangeLimit
  private var ahead: Result<PlannedBatch?, ArborError>?
  private let queue = DispatchQueue(label: "ArborData.BatchReader")

  /// The size of the document in bytes, if known.
  let size: Int?

  init(
    _ source: JSONSource, _ entityName: String, _ context: ManagedObjectContext,
    _ options: ImportOptions, by mapper: ImportMapper
  ) throws(ArborError) {
    self.mapper = mapper
    self.entityName = entityName
    self.context = context
    self.options = options
    limit = ExchangeLimit(until: options.deadline, givenUp: givenUp)
    reader = try ImportDocument(source, options, limit)
    size = reader.size
  }

  /// The number of bytes read so far.
  var position: Int { queue.sync { reader.position } }

  /// The document, after it has been read completely.
  var document: ImportDocument { queue.sync { reader } }

  /// Returns the next batch, or `nil` after the last one.
  ///
  /// - Parameter limit: The limit of the calling thread.
  /// - Throws: ``ArborError`` for the first error in the batch, after all preceding batches have
  ///   been returned.
  func next(_ limit: ExchangeLimit) throws(ArborError) -> PlannedBatch? {
    try wait(limit)
    let batch = try queue.sync {
      let batch = ahead ?? prepared()
      ahead = nil
      return batch
    }.get()
    if batch != nil { queue.async { self.ahead = self.prepared() } }
    return batch
  }

  /// Waits until the next batch has been read, checking the caller's limits in the meantime.
  private func wait(_ limit: ExchangeLimit) throws(ArborError) {
    let isIdle = DispatchSemaphore(value: 0)
    queue.async { isIdle.signal() }
    while isIdle.wait(timeout: .now() + .milliseconds(5)) == .timedOut { try limit.checkNow() }
  }

  /// Stops reading and waits until it has stopped.
  func stop() {
    givenUp.set()
    queue.sync {}
  }

  private func prepared() -> Result<PlannedBatch?, ArborError> {
    Result { () throws(ArborError) in
      guard let batch = try reader.next(options.batchSize) else { return nil }
      let itemImport = try ItemImport(entityName, into: context, options, by: mapper, limit)
      let indexes = try itemImport.planBatch(batch)
      return PlannedBatch(
        items: batch, itemImport: itemImport, indexes: indexes, count: batch.items.count,
        position: reader.position)
    }
  }
}
