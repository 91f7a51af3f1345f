internal import ArborModel
package import LMDB

extension StoreError {
  /// Converts an error of LMDB to an error of the store.
  package init(_ error: LMDBError, path: String? = nil) {
    switch error {
    case .diskFull: self = .diskFull(path: path)
    case .inUse: self = .inUse(path: path)
    case .closed: self = .closed
    case .fileReplaced: self = .fileReplaced(path: path)
    case .readOnlyEnvironment, .readOnlyFileSystem, .accessDenied, .notPermitted:
      self = .readOnly(path: path)
    case .invalid, .foreignPageSize: self = .notAStore(path: path ?? "", what: error.cause)
    case .invalidPath: self = .invalidPath(path ?? "")
    case .foreignEngine, .foreignFormat: self = .unsupportedEngine(path: path, what: error)
    case .danglingLink, .isDirectory, .notRegularFile, .hardLinked, .networkFileSystem:
      self = .notAStore(path: path ?? "", what: error.description)
    case .fileTooSmall, .truncated, .corrupted, .pageNotFound: self = .corrupted(what: error.cause)
    case .damaged(let finding): self = .corrupted(what: finding.description)
    case .busy(let writer): self = .busy(path: path, BusyProcess(writer))
    // Only callers with a limit stop waiting, and they report the reason.
    case .abandoned: self = .closed
    case .noSuchFile, .emptyFile: self = .missing(path: path ?? "")
    case .keyExists, .notFound, .panic, .mapFull, .dbsFull, .readersFull, .tlsFull, .txnFull,
      .cursorFull, .pageFull, .mapResized, .incompatible, .badReaderSlot, .badTransaction,
      .badValueSize, .badDatabase, .tooManyOpenFiles, .outOfMemory, .forkedProcess,
      .nestedWrite, .growthBlocked, .invalidArgument, .versionMismatch, .lockFile,
      .temporaryFolder, .system:
      self = .engine(error)
    }
  }
}

extension StoreError {
  /// Converts the error code of a system call to an error of the store.
  init(errno: Int32, path: String) { self.init(LMDBError(code: errno), path: path) }

  /// Converts the error of a failed system call to an error of the store.
  ///
  /// - Parameter errno: The error code, which must be read before any other call.
  static func failed(_ operation: String, _ path: String, errno: Int32) -> StoreError {
    // Folder entries need space as well, and some systems report that late.
    LMDBError(code: errno) == .diskFull
      ? .diskFull(path: path) : .inputOutput(operation: operation, path: path, errno: errno)
  }

  /// Whether the file itself is damaged.
  package var isCorruption: Bool {
    if case .corrupted = self { true } else { false }
  }
}

extension StoreError {
  /// Whether the path refers to something that is not a store.
  var isNoStore: Bool {
    if case .notAStore = self { true } else { false }
  }
}

extension StoreError {
  /// Whether the store's journal is damaged.
  var isDamageOfJournal: Bool {
    if case .journal(let error) = self { error.code == .corrupted } else { false }
  }

  /// Whether the store's journal doesn't seem to belong to the file.
  var isForeignJournal: Bool {
    if case .journal(let error) = self { error.code == .notAStore } else { false }
  }
}

extension LMDBError {
  /// Whether the file is a regular file but not an LMDB data file.
  var isForeignContent: Bool { self == .invalid || self == .foreignPageSize }

  /// Whether the page verification has found damage.
  var isDamage: Bool { if case .damaged = self { true } else { false } }
}

/// Returns the result of one call of LMDB, and converts its error as ``storing(path:_:)``
/// does.
@inline(__always)
func storing<R: ~Copyable>(
  path: String? = nil, _ call: @autoclosure () throws(LMDBError) -> R
) throws(StoreError) -> R {
  do throws(LMDBError) { return try call() } catch { throw StoreError(error, path: path) }
}

/// Runs calls of LMDB, and converts their errors to errors of the store, with `path` if given.
@inline(__always)
func storing<R: ~Copyable>(
  path: String? = nil, _ body: () throws(LMDBError) -> R
) throws(StoreError) -> R {
  do throws(LMDBError) { return try body() } catch { throw StoreError(error, path: path) }
}

extension Environment {
  /// Runs `body` like ``runWrite(_:)``, and converts LMDB's errors to errors of the store, with
  /// `path` if given.
  package func write(
    path: String?, _ body: (borrowing WriteTransaction) throws(StoreError) -> Bool
  ) throws(StoreError) {
    var failure: StoreError?
    try storing(path: path) { () throws(LMDBError) in
      try runWrite { transaction in
        failure = nil
        do throws(StoreError) {
          return try body(transaction)
        } catch {
          failure = error
          return false
        }
      }
    }
    if let failure { throw failure }
  }
}
