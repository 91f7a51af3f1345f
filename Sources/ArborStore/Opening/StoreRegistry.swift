internal import ArborLocks
internal import LMDB

/// The stores that this process has open, one per file.
final class StoreRegistry: Sendable {
  static let shared = StoreRegistry()

  private struct Entry {
    let store: StoreEngine
    /// The number of openings that have not been closed.
    var openings: Int
  }

  private let entries = Lock<[Entry]>([])

  /// Returns the store of an environment, creating it if necessary, and counts one more opening.
  func store(
    on environment: Environment, make: () throws(StoreError) -> StoreEngine
  ) throws(StoreError) -> StoreEngine {
    try entries.withLock { (entries) throws(StoreError) in
      if let index = entries.firstIndex(where: { $0.store.environment === environment }) {
        entries[index].openings += 1
        return entries[index].store
      }
      let store = try make()
      entries.append(Entry(store: store, openings: 1))
      return store
    }
  }

  func isOpen(_ environment: Environment) -> Bool {
    entries.withLock { $0.contains { $0.store.environment === environment } }
  }

  /// Returns whether there is only one opening left.
  func isLast(_ store: StoreEngine) -> Bool {
    entries.withLock { $0.contains { $0.store === store && $0.openings == 1 } }
  }

  /// Ends one opening. Returns whether it was the last.
  func close(_ store: StoreEngine) -> Bool {
    entries.withLock { entries in
      guard let index = entries.firstIndex(where: { $0.store === store }) else { return false }
      entries[index].openings -= 1
      guard entries[index].openings == 0 else { return false }
      entries.remove(at: index)
      return true
    }
  }

  /// Ends the only opening and returns `true`, or returns `false` if there are several.
  func closeLast(_ store: StoreEngine) -> Bool {
    entries.withLock { entries in
      guard
        let index = entries.firstIndex(where: { $0.store === store && $0.openings == 1 })
      else { return false }
      entries.remove(at: index)
      return true
    }
  }

  /// Undoes ``closeLast(_:)``.
  func reopen(_ store: StoreEngine) {
    entries.withLock { $0.append(Entry(store: store, openings: 1)) }
  }
}
