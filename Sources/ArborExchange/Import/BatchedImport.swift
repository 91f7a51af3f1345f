import ArborModel
import ArborObjects
import Foundation

/// An import that commits batch by batch and keeps nothing of a batch behind its commit.
struct BatchedImport {
  private let url: URL
  private let entityName: String
  private let context: ManagedObjectContext
  private let options: ImportOptions
  private var step = ImportStep()
  private let limit: ExchangeLimit
  private let mapper: ImportMapper
  private var waiting: [WaitingLink] = []

  init(
    _ url: URL, _ entityName: String, into context: ManagedObjectContext, _ options: ImportOptions
  ) {
    self.url = url
    self.entityName = entityName
    self.context = context
    self.options = options
    limit = ExchangeLimit(until: options.deadline)
    mapper = ImportMapper(context.store.schema, options)
  }

  /// Imports all items of the file; `report` is told of each commit, and says whether to go on.
  mutating func run(_ report: (ImportStep) -> Bool) throws(ArborError) {
    try limit.checkNow()
    context.deadline = options.deadline
    let reader = try BatchReader(url, entityName, context, options, by: mapper)
    defer { reader.stop() }
    step.totalBytes = reader.size
    while let batch = try reader.next(limit) {
      try commit(batch.items) { (items) throws(ArborError) in
        try items.run.carryOut(batch.indexes)
        return try items.finish(isLast: false)
      }
      step.items += batch.count
      step.bytesRead = batch.position
      guard report(step) else { return }
    }
    try connectWaiting()
    let document = reader.document
    let last = try ItemImport(entityName, into: context, options, by: mapper, limit)
    if let unmet = last.unmetNames(of: step.items) {
      try last.check(unmet, of: step.items, in: document)
      step.findings.warnings = unmet.warnings
    }
    if options.lenient, let problem = document.problem {
      let drops = ImportDrops()
      drops.add { problem }
      step.findings.addDropped(drops.findings)
    }
    options.report?.add(step.findings)
    step.bytesRead = reader.position
    _ = report(step)
  }

  /// Connects what waited for the end.
  private mutating func connectWaiting() throws(ArborError) {
    while !waiting.isEmpty {
      let part = waiting.suffix(max(options.batchSize, 1))
      waiting.removeLast(part.count)
      let items = try ItemImport(entityName, into: context, options, by: mapper, limit)
      try commit(items) { (items) throws(ArborError) in
        for waiting in part { try items.resume(waiting) }
        try items.run.plan.identities.fetch()
        return try items.finish()
      }
    }
  }

  private mutating func commit(
    _ items: ItemImport, _ body: (ItemImport) throws(ArborError) -> [DeferredLink]
  ) throws(ArborError) {
    // Planning had the limit of its own thread.
    items.run.limit = limit
    let left = try body(items)
    waiting += left.map { items.run.waiting($0, url) }
    step.inserted += items.run.counts.inserted
    step.updated += items.run.counts.updated
    step.unchanged += items.run.counts.unchanged
    step.deleted += items.run.counts.deleted
    step.findings.addDropped(items.findings())
    do throws(ArborError) { try context.commit() } catch { throw items.run.located(error) }
    context.reset()
  }
}
