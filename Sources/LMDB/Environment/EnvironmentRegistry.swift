internal import ArborLocks

/// All files that this process has open, by device and inode.
///
/// A second LMDB environment for the same file would overwrite the first one's reader table and
/// admit two writers at once, so a file is opened at most once, and opening and closing exclude
/// each other.
final class EnvironmentRegistry: Sendable {
  static let shared = EnvironmentRegistry()

  /// The registry's entry for a file. In a forked child, the entries of the parent are ignored.
  private struct Entry {
    let birth = ForkGuard.generation
    /// Whether the file is being replaced or removed.
    var isReserved = false
    /// The open environment. The reference is weak, so that the registry doesn't keep it open.
    weak var environment: Environment?
  }

  private enum Finding: Sendable {
    case environment(Environment)
    /// The environment is being closed. The reference is returned from the lock because releasing
    /// it takes the lock.
    case closing(Environment?)
    case reserved
  }

  /// An unordered list of the open files, which are few. The first use of a dictionary with a new
  /// key type costs a runtime lookup, which would be noticeable when the first store is opened.
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

  /// Returns the environment that is open for the file, or else opens it with `make`.
  ///
  /// `make` runs under the registry's lock, so no other open or close of this process interferes.
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

  /// Removes a file from the registry if `close` closes it and returns `true`.
  func remove(_ identity: FileIdentity, close: () -> Bool) {
    entries.withLock { entries in
      guard close() else { return }
      entries[identity] = nil
    }
    changes.notify()
  }

  /// Runs `body`, which moves an environment to the file `next`. Opening that file returns the
  /// environment from the start of the call.
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

  /// Prevents this process from opening the file while `body` runs.
  ///
  /// - Throws: ``LMDBError/inUse`` if the file is open; errors of `body`.
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
