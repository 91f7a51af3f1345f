import ArborModel
import ArborObjects
import Foundation

/// An import that commits batch by batch and keeps nothing of a batch behind its commit.
struct BatchedImport {
  /// A relationship that names an object of a later batch.
  private struct Waiting {
    let object: ObjectID
    let entity: String
    let relationship: String
    let reference: PlannedReference
  }

  private let url: URL
  private let entityName: String
  private let context: ManagedObjectContext
  private let options: ImportOptions
  private var step = ImportStep()
  private var waiting: [Waiting] = []

  init(
    _ url: URL, _ entityName: String, into context: ManagedObjectContext, _ options: ImportOptions
  ) {
    self.url = url
    self.entityName = entityName
    self.context = context
    self.options = options
  }

  /// Imports all items of the file.
  ///
  /// - Parameter report: Is told of each commit, and says whether to go on.
  mutating func run(_ report: (ImportStep) -> Bool) throws(ArborError) {
    var reader = try JSONItemReader(contentsOf: url, options)
    step.totalBytes = reader.size
    while let batch = try reader.next(options.batchSize) {
      guard reader.isList == true else { break }
      try commit { (items) throws(ArborError) in
        _ = try items.items(batch.items, isList: true)
        return try items.finish(isLast: false)
      }
      step.items += batch.items.count
      step.bytesRead = reader.position
      guard report(step) else { return }
    }
    try connectWaiting()
    step.bytesRead = reader.position
    _ = report(step)
  }

  /// Connects what waited for the end.
  private mutating func connectWaiting() throws(ArborError) {
    while !waiting.isEmpty {
      let part = waiting.suffix(max(options.batchSize, 1))
      waiting.removeLast(part.count)
      try commit { (items) throws(ArborError) in
        for waiting in part {
          let object = try items.context.object(with: waiting.object)
          try items.take(object, waiting.entity, waiting.relationship, waiting.reference)
        }
        try items.fetch()
        return try items.finish()
      }
    }
  }

  /// Carries one batch out and commits it.
  private mutating func commit(
    _ body: (inout ItemImport) throws(ArborError) -> [PendingReference]
  ) throws(ArborError) {
    var items = try ItemImport(entityName, into: context, options)
    let left = try body(&items)
    waiting += left.map { pending in
      Waiting(
        object: pending.object.objectID, entity: pending.entity,
        relationship: pending.relationship.relationship.name,
        reference: pending.reference.outOfMemory(url))
    }
    step.inserted += items.counts.inserted
    step.updated += items.counts.updated
    step.unchanged += items.counts.unchanged
    step.deleted += items.counts.deleted
    try context.commit()
    context.reset()
  }
}
