package import LMDB

extension StoreError {
  /// What an error of the engine means for a store.
  package init(_ error: LMDBError, path: String? = nil) {
    switch error {
    case .diskFull: self = .diskFull
    case .inUse: self = .inUse(path: path)
    case .closed: self = .closed
    case .readOnlyEnvironment, .readOnlyFileSystem, .accessDenied, .notPermitted:
      self = .readOnly(path: path)
    case .invalid, .versionMismatch, .foreignPageSize:
      self = .notAStore(path: path ?? "", what: error.cause)
    case .isDirectory, .notRegularFile, .hardLinked, .networkFileSystem:
      self = .notAStore(path: path ?? "", what: error.description)
    case .fileTooSmall, .truncated, .corrupted, .pageNotFound:
      self = .corrupted(entity: nil, object: nil, what: error.cause)
    case .damaged(let finding):
      self = .corrupted(entity: nil, object: nil, what: finding.description)
    case .noSuchFile: self = .missing(path: path ?? "")
    case .keyExists, .notFound, .panic, .mapFull, .dbsFull, .readersFull, .tlsFull, .txnFull,
      .cursorFull, .pageFull, .mapResized, .incompatible, .badReaderSlot, .badTransaction,
      .badValueSize, .badDatabase, .tooManyOpenFiles, .outOfMemory, .forkedProcess,
      .nestedWrite, .growthBlocked, .fileReplaced, .invalidArgument, .system:
      self = .engine(error)
    }
  }
}

extension StoreError {
  /// Whether the file itself is damaged.
  package var isCorruption: Bool {
    if case .corrupted = self { true } else { false }
  }
}

/// Runs calls of the engine; its errors become the store's.
@inline(__always)
func storing<R: ~Copyable>(_ body: () throws(LMDBError) -> R) throws(StoreError) -> R {
  do throws(LMDBError) { return try body() } catch { throw StoreError(error) }
}
