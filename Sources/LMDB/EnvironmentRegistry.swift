internal import Synchronization

/// Every file this process has open, by device and inode.
///
/// A second LMDB environment for the same file would wipe the first one's reader table and let two
/// writers in at once, so a file is open at most once, and opening and closing exclude each other.
final class EnvironmentRegistry: Sendable {
  static let shared = EnvironmentRegistry()

  private enum Entry {
    case open(WeakEnvironment)
    /// Somebody replaces or removes the file.
    case reserved
  }

  /// `weak` only, so that the registry keeps nothing open.
  private struct WeakEnvironment {
    weak var environment: Environment?
  }

  /// What the registry knows about a file.
  private enum Finding: Sendable {
    case environment(Environment)
    case made(Environment)
    case closing
    case reserved
  }

  private let entries = Mutex<[FileIdentity: Entry]>([:])
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
        switch entries[identity] {
        case .reserved: return .reserved
        case .open(let entry):
          return entry.environment.map { .environment($0) } ?? .closing
        case nil:
          let environment = try make()
          entries[identity] = .open(WeakEnvironment(environment: environment))
          return .made(environment)
        }
      }
      switch finding {
      case .environment(let environment), .made(let environment): return environment
      case .reserved: throw .inUse
      case .closing: _ = changes.wait(past: token, until: nil)
      }
    }
  }

  /// Forgets a file when `close` says that it has closed it.
  func remove(_ identity: FileIdentity, close: () -> Bool) {
    entries.withLock { entries in
      guard close() else { return }
      if case .open = entries[identity] { entries[identity] = nil }
    }
    changes.notify()
  }

  /// Keeps everybody in this process from opening the file while `body` runs.
  ///
  /// - Throws: ``LMDBError/inUse`` where it is open, else what `body` throws.
  func reserving<R>(_ identity: FileIdentity, _ body: () throws -> R) throws -> R {
    let isReserved = entries.withLock { entries in
      if entries[identity] != nil { return false }
      entries[identity] = .reserved
      return true
    }
    guard isReserved else { throw LMDBError.inUse }
    defer {
      entries.withLock { entries in
        if case .reserved = entries[identity] { entries[identity] = nil }
      }
      changes.notify()
    }
    return try body()
  }
}
