internal import LMDB
internal import Synchronization

/// The stores this process has open, one for each file.
final class StoreRegistry: Sendable {
  static let shared = StoreRegistry()

  private struct Entry {
    let store: StoreFile
    /// How often it was opened and not closed.
    var openings: Int
  }

  private let entries = Mutex<[ObjectIdentifier: Entry]>([:])

  /// The store on an environment, made where there is none yet; one opening more.
  func store(
    on environment: Environment, make: () throws(StoreError) -> StoreFile
  ) throws(StoreError) -> StoreFile {
    try entries.withLock { (entries) throws(StoreError) in
      let key = ObjectIdentifier(environment)
      if let entry = entries[key] {
        entries[key]?.openings += 1
        return entry.store
      }
      let store = try make()
      entries[key] = Entry(store: store, openings: 1)
      return store
    }
  }

  /// Whether a store is open on an environment.
  func isOpen(_ environment: Environment) -> Bool {
    entries.withLock { $0[ObjectIdentifier(environment)] != nil }
  }

  /// Ends one opening; true where it was the last.
  func close(_ store: StoreFile) -> Bool {
    entries.withLock { entries in
      let key = ObjectIdentifier(store.environment)
      guard let entry = entries[key], entry.store === store else { return false }
      guard entry.openings == 1 else {
        entries[key]?.openings -= 1
        return false
      }
      entries[key] = nil
      return true
    }
  }

  /// Ends all openings, if there is only one.
  func closeLast(_ store: StoreFile) -> Bool {
    entries.withLock { entries in
      let key = ObjectIdentifier(store.environment)
      guard let entry = entries[key], entry.store === store, entry.openings == 1 else {
        return false
      }
      entries[key] = nil
      return true
    }
  }

  /// Takes back ``closeLast(_:)``.
  func reopen(_ store: StoreFile) {
    entries.withLock {
      $0[ObjectIdentifier(store.environment)] = Entry(store: store, openings: 1)
    }
  }
}
