internal import CLMDB

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

extension LMDBError {
  /// The mapping from LMDB's codes to cases.
  private static let codes: [(code: Int32, error: LMDBError)] = [
    (MDB_KEYEXIST, .keyExists), (MDB_NOTFOUND, .notFound), (MDB_PAGE_NOTFOUND, .pageNotFound),
    (MDB_CORRUPTED, .corrupted), (MDB_PANIC, .panic), (MDB_VERSION_MISMATCH, .versionMismatch),
    (MDB_INVALID, .invalid), (MDB_MAP_FULL, .mapFull), (MDB_DBS_FULL, .dbsFull),
    (MDB_READERS_FULL, .readersFull), (MDB_TLS_FULL, .tlsFull), (MDB_TXN_FULL, .txnFull),
    (MDB_CURSOR_FULL, .cursorFull), (MDB_PAGE_FULL, .pageFull), (MDB_MAP_RESIZED, .mapResized),
    (MDB_INCOMPATIBLE, .incompatible), (MDB_BAD_RSLOT, .badReaderSlot),
    (MDB_BAD_TXN, .badTransaction), (MDB_BAD_VALSIZE, .badValueSize), (MDB_BAD_DBI, .badDatabase),
  ]

  /// The mapping from system errors to cases.
  private static let systemCodes: [(code: Int32, error: LMDBError)] = [
    (ENOSPC, .diskFull), (EDQUOT, .diskFull), (EFBIG, .diskFull), (ENOENT, .noSuchFile),
    (ENOTDIR, .noSuchFile), (EROFS, .readOnlyFileSystem), (EACCES, .accessDenied),
    (EPERM, .notPermitted), (EISDIR, .isDirectory), (ELOOP, .notRegularFile),
    (ENXIO, .notRegularFile), (EMFILE, .tooManyOpenFiles), (ENFILE, .tooManyOpenFiles),
    (ENOMEM, .outOfMemory), (EINVAL, .invalidArgument),
  ]

  /// Creates the error for a result code of liblmdb or an `errno`.
  package init(code: Int32) {
    let known = Self.codes.first { $0.code == code } ?? Self.systemCodes.first { $0.code == code }
    self = known?.error ?? .system(errno: code)
  }

  /// The error of this thread's last system call.
  static var lastSystemError: LMDBError { LMDBError(code: errno) }

  /// Returns the system's description of an `errno`.
  static func systemText(_ number: Int32) -> String { String(cString: strerror(number)) }

  /// The underlying code, if there is one, for logs and exact comparison.
  package var code: Int32? {
    if case .system(let number) = self { return number }
    let all = Self.codes + Self.systemCodes
    return all.first { $0.error == self }?.code
  }

  /// Whether writing pages failed, which may have been caused by a full disk.
  var isWriteFailure: Bool {
    if case .system(let number) = self { return number == EIO }
    return false
  }
}

/// Throws the error for a result code, unless the code indicates success.
@inline(__always)
func check(_ code: Int32) throws(LMDBError) {
  if code != MDB_SUCCESS { throw LMDBError(code: code) }
}
