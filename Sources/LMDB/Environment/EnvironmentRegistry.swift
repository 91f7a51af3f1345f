internal import ArborLocks

/// Every file this process has open, by device and inode.
///
/// A second LMDB environment for the same file would wipe the first one's reader table and let two
/// writers in at once, so a file is open at most once, and opening and closing exclude each other.
final class EnvironmentRegistry: Sendable {
  static let shared = EnvironmentRegistry()

  /// What the registry knows about a file. In a forked child the entries of the parent count for
  /// nothing.
  private struct Entry {
    let birth = ForkGuard.generation
    /// Somebody replaces or removes the file.
    var isReserved = false
    /// `weak`, so that the registry keeps nothing open.
    weak var environment: Environment?
  }

  private enum Finding: Sendable {
    case environment(Environment)
    /// It closes just now. The reference is carried out of the lock because its end takes the lock.
    case closing(Environment?)
    case reserved
  }

  /// The few files that are open, in no order. A dictionary's first use of a kind of key costs the
  /// run time system a search, which would show when the first store is opened.
  private struct Entries {
    private var list: [(identity: FileIdentity, entry: Entry)] = []

    subscript(identity: FileIdentity) -> Entry? {
      get { list.first { $0.identity == identity }?.entry }
      set {
        list.removeAll { $0.identity == identity }
        if let newValue { list.append((identity, newValue)) }
      }
    }
  }

  private let entries = Lock(Entries())
  private let changes = EventCount()

  /// The environment that is open for the file, else the one that `make` opens.
  ///
  /// `make` runs under the registry's lock: no other open or close of this process disturbs it.
  func environment(
    of identity: FileIdentity, orOpen make: () throws(LMDBError) -> Environment
  ) throws(LMDBError) -> Environment {
    while true {
      let token = changes.token
      let finding = try entries.withLock { (entries) throws(LMDBError) -> Finding in
        if let entry = entries[identity], entry.birth == ForkGuard.generation {
          if entry.isReserved { return .reserved }
          guard let environment = entry.environment, !environment.isClosed else {
            return .closing(entry.environment)
          }
          return .environment(environment)
        }
        let environment = try make()
        entries[identity] = Entry(environment: environment)
        return .environment(environment)
      }
      switch finding {
      case .environment(let environment): return environment
      case .reserved: throw .inUse
      case .closing: _ = changes.wait(past: token, until: nil)
      }
    }
  }

  /// Forgets a file when `close` says that it has closed it.
  func remove(_ identity: FileIdentity, close: () -> Bool) {
    entries.withLock { entries in
      guard close() else { return }
      entries[identity] = nil
    }
    changes.notify()
  }

  /// Runs `body`, which lets an environment go on with the file `next`; code that finds that file,
  /// from the beginning on, gets the environment.
  func moving(
    _ environment: Environment, to next: FileIdentity, _ body: () throws(LMDBError) -> Void
  ) throws(LMDBError) {
    let former = environment.identity
    entries.withLock { $0[next] = Entry(environment: environment) }
    do throws(LMDBError) { try body() } catch {
      entries.withLock { $0[next] = nil }
      throw error
    }
    entries.withLock { $0[former] = nil }
  }

  /// Keeps everybody in this process from opening the file while `body` runs.
  ///
  /// - Throws: ``LMDBError/inUse`` where it is open, else what `body` throws.
  func reserving<R>(_ identity: FileIdentity, _ body: () throws -> R) throws -> R {
    let isReserved = entries.withLock { entries in
      if let entry = entries[identity], entry.birth == ForkGuard.generation { return false }
      entries[identity] = Entry(isReserved: true)
      return true
    }
    guard isReserved else { throw LMDBError.inUse }
    defer {
      entries.withLock { $0[identity] = nil }
      changes.notify()
    }
    return try body()
  }
}
