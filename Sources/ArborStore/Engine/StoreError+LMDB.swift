package import LMDB

extension StoreError {
  /// What an error of the engine means for a store.
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
    case .noSuchFile, .emptyFile: self = .missing(path: path ?? "")
    case .keyExists, .notFound, .panic, .mapFull, .dbsFull, .readersFull, .tlsFull, .txnFull,
      .cursorFull, .pageFull, .mapResized, .incompatible, .badReaderSlot, .badTransaction,
      .badValueSize, .badDatabase, .tooManyOpenFiles, .outOfMemory, .forkedProcess,
      .nestedWrite, .growthBlocked, .invalidArgument, .versionMismatch, .lockFile, .system:
      self = .engine(error)
    }
  }
}

extension StoreError {
  /// What the code of a call of the system means for a store.
  init(errno: Int32, path: String) { self.init(LMDBError(code: errno), path: path) }

  /// What a call of the system that failed means for a store.
  ///
  /// - Parameter errno: as the call left it; read before anything else is called.
  static func failed(_ operation: String, _ path: String, errno: Int32) -> StoreError {
    // Entries of folders need room as well, and some systems find that out late.
    LMDBError(code: errno) == .diskFull
      ? .diskFull(path: path) : .inputOutput(operation: operation, path: path, errno: errno)
  }

  /// Whether the file itself is damaged.
  package var isCorruption: Bool {
    if case .corrupted = self { true } else { false }
  }
}

extension StoreError {
  /// Whether the path leads to something that is no store.
  var isNoStore: Bool {
    if case .notAStore = self { true } else { false }
  }
}

extension LMDBError {
  /// Whether the file is a plain one, and its contents are no data file's.
  var isForeignContent: Bool { self == .invalid || self == .foreignPageSize }

  /// Whether the verification of pages has found something.
  var isDamage: Bool { if case .damaged = self { true } else { false } }
}

/// The result of one call of the engine; its error becomes the store's, as in ``storing(path:_:)``.
@inline(__always)
func storing<R: ~Copyable>(
  path: String? = nil, _ call: @autoclosure () throws(LMDBError) -> R
) throws(StoreError) -> R {
  do throws(LMDBError) { return try call() } catch { throw StoreError(error, path: path) }
}

/// Runs calls of the engine; its errors become the store's, with its path where that is given.
@inline(__always)
func storing<R: ~Copyable>(
  path: String? = nil, _ body: () throws(LMDBError) -> R
) throws(StoreError) -> R {
  do throws(LMDBError) { return try body() } catch { throw StoreError(error, path: path) }
}

extension Environment {
  /// Runs `body` as ``runWrite(_:)`` does; LMDB's errors become the store's, with `path` if it is
  /// given.
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
