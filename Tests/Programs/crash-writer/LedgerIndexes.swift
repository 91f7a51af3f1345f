import ArborData
import ArborLocks
import ArborStore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Additional indexes of the ledger, one of each kind, which take a while to build if it is large.
enum LedgerIndexes {
  static let indexes = [
    FetchIndexDescription(name: "byAmount", elements: [.init("amount"), .init("round")]),
    FetchIndexDescription(name: "byNote", elements: [.init("note", kind: .folded)]),
    FetchIndexDescription(
      name: "large", elements: [.init("amount")], partialIndexPredicate: "amount > 100"),
    FetchIndexDescription(name: "noteWords", elements: [.init("note", kind: .text)]),
  ]

  /// Opens the ledger with the additional indexes.
  static func open(_ path: String) throws -> PersistentStore {
    try LedgerFile.open(path, changing: add)
  }

  private static func add(to model: inout ManagedObjectModel) {
    for index in model.entities.indices where model.entities[index].name == "Entry" {
      model.entities[index].fetchIndexes = indexes
    }
  }

  /// Returns options that open the ledger with these indexes and build them in small batches.
  ///
  /// - Parameter batch: The number of entries per batch.
  static func opening(_ path: String, batch: Int) throws -> StoreOpening {
    var opening = StoreOpening(
      .file(path), model: try LedgerFile.model(of: path, changing: add))
    opening.maximumObjectsIndexedAtOnce = 0
    opening.largestIndexBatch = batch
    return opening
  }

  /// Builds the indexes in small batches.
  ///
  /// - Parameters:
  ///   - event: The number of the batch before which the process kills itself, counted from 1; 0
  ///     for never.
  ///   - batch: The number of entries per batch.
  static func build(_ path: String, killingAt event: Int, batch: Int) throws {
    let events = Lock(0)
    var opening = try opening(path, batch: batch)
    opening.onIndexProgress = { _ in
      let number = events.withLock { events in
        events += 1
        return events
      }
      if number == event { raise(SIGKILL) }
    }
    try StoreEngine.open(opening).close()
  }
}
