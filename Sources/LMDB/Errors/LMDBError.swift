/// What LMDB, or the file below it, answered: one case per LMDB code, and the conditions of the
/// file system that LMDB itself cannot tell apart.
///
/// Every case says why it happens (``cause``) and the way out (``remedy``).
package enum LMDBError: Error, Sendable, Hashable {
  // LMDB's own codes, in the order of `lmdb.h`.
  case keyExists
  case notFound
  case pageNotFound
  case corrupted
  case panic
  case versionMismatch
  case invalid
  case mapFull
  case dbsFull
  case readersFull
  case tlsFull
  case txnFull
  case cursorFull
  case pageFull
  case mapResized
  case incompatible
  case badReaderSlot
  case badTransaction
  case badValueSize
  case badDatabase

  /// The verification of the pages found something.
  indirect case damaged(PageFinding)

  /// The library that the program runs with is of a version that does not fit, by its number.
  case foreignEngine(found: String)
  /// The file is of a format that another version of LMDB writes.
  case foreignFormat(version: UInt32)

  // The file and its surroundings.
  case invalidPath
  case danglingLink
  /// The lock file is there and cannot be one, or is not there and cannot be made.
  indirect case lockFile(LockFileProblem)
  case diskFull
  case noSuchFile
  case readOnlyFileSystem
  case accessDenied
  case notPermitted
  case isDirectory
  case notRegularFile
  case hardLinked
  case networkFileSystem
  case emptyFile
  case fileTooSmall
  case truncated
  case foreignPageSize
  case tooManyOpenFiles
  case outOfMemory

  // The rules that keep one process from harming its own file.
  case inUse
  case closed
  case forkedProcess
  case readOnlyEnvironment
  case nestedWrite
  case growthBlocked
  case fileReplaced

  /// LMDB refused an argument; a database handle that the transaction does not know is the usual
  /// reason.
  case invalidArgument
  /// Any other error of the operating system, by its number.
  case system(errno: Int32)
}
