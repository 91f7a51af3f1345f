/// An error of LMDB or of the underlying file: one case per LMDB code, and the file system
/// conditions that LMDB itself does not distinguish.
///
/// Every case has a ``cause`` and a ``remedy``.
@usableFromInline
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

  /// The page verification found damage.
  indirect case damaged(PageFinding)

  /// The program is linked with an unsupported LMDB version.
  case foreignEngine(found: String)
  /// The file has the format of another LMDB version.
  case foreignFormat(version: UInt32)

  // The file and its surroundings.
  case invalidPath
  case danglingLink
  /// The lock file is invalid, or is missing and cannot be created.
  indirect case lockFile(LockFileProblem)
  /// The folder for temporary files, which in-memory files need, cannot be used.
  indirect case temporaryFolder(TemporaryFolderProblem)
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

  // Rules that keep one process from damaging its own file.
  case inUse
  case closed
  case forkedProcess
  case readOnlyEnvironment
  case nestedWrite
  case growthBlocked
  case fileReplaced

  /// Another process has been writing for longer than a transaction waits.
  indirect case busy(BusyWriter)
  /// The caller has stopped waiting for another transaction.
  case abandoned

  /// LMDB rejected an argument, usually a database handle that the transaction does not know.
  case invalidArgument
  /// Any other system error.
  case system(errno: Int32)
}
