extension LMDBError: CustomStringConvertible {
  /// The cause and the remedy.
  @usableFromInline
  package var description: String { "\(cause) \(remedy)" }

  /// The cause of the error in one sentence.
  package var cause: String { advice.cause }

  /// The remedy in one sentence.
  package var remedy: String { advice.remedy }

  /// The remedy for a damaged file.
  private static let damageRemedy =
    "Restore a backup, or recover intact objects with lmdb-inspect salvage STORE TARGET; "
    + "lmdb-inspect check lists the damage."

  /// The cause and the remedy of an error.
  private typealias Advice = (cause: String, remedy: String)

  private var advice: Advice {
    switch self {
    case .keyExists, .notFound, .pageNotFound, .corrupted, .damaged, .panic, .versionMismatch,
      .foreignEngine, .foreignFormat, .invalid:
      contentAdvice
    case .mapFull, .dbsFull, .readersFull, .tlsFull, .txnFull, .cursorFull, .pageFull, .mapResized:
      limitAdvice
    case .incompatible, .badReaderSlot, .badTransaction, .badValueSize, .badDatabase,
      .invalidArgument, .nestedWrite, .growthBlocked, .readOnlyEnvironment:
      usageAdvice
    case .noSuchFile, .invalidPath, .danglingLink, .lockFile, .isDirectory, .notRegularFile,
      .hardLinked, .networkFileSystem, .emptyFile, .fileTooSmall, .truncated, .foreignPageSize,
      .temporaryFolder:
      fileAdvice
    case .diskFull, .readOnlyFileSystem, .accessDenied, .notPermitted, .tooManyOpenFiles,
      .outOfMemory, .inUse, .closed, .forkedProcess, .fileReplaced, .busy, .abandoned, .system:
      surroundingsAdvice
    }
  }

  /// The advice for errors about the contents of the file.
  private var contentAdvice: Advice {
    switch self {
    case .keyExists:
      (
        "The key, or the key with this value, is already in the database.",
        "Overwrite the entry explicitly, or append only keys above the last one."
      )
    case .notFound:
      (
        "The key, value or database doesn't exist.",
        "Check the name and the key, or create what is missing first."
      )
    case .pageNotFound:
      (
        "A page that the tree refers to is not in the file.",
        "The file is damaged. \(Self.damageRemedy)"
      )
    case .corrupted:
      (
        "A page of the file has the wrong kind or contradicts itself.",
        "The file is damaged. \(Self.damageRemedy)"
      )
    case .damaged(let finding): ("The file is damaged: \(finding)", Self.damageRemedy)
    case .panic:
      (
        "Writing the file's root page failed earlier, so nothing more can be written.",
        "Close the store and reopen it to restore the last committed state."
      )
    case .versionMismatch:
      (
        "The lock file was created by a different version of LMDB than the one this program uses.",
        "Close the store in the other programs, or use the same version of LMDB in all programs."
      )
    case .foreignEngine(let found):
      (
        "The program uses LMDB \(found), but LMDB \(EngineVersion.needed) is required.",
        "Install the required version of liblmdb. Files of LMDB 0.9 and 1.0 are not compatible."
      )
    case .foreignFormat(let version):
      (
        "The file has LMDB's data format \(version), written by "
          + "\(version == 2 ? "LMDB 1.0" : "a different version"), but format 1 of LMDB "
          + "\(EngineVersion.needed) is required.",
        "Export the data with the version that wrote the file, then import the data here."
      )
    default: ("The file is not an LMDB file.", "Check the path. The file was not changed.")
    }
  }

  /// The advice for errors about limits of the engine.
  private var limitAdvice: Advice {
    switch self {
    case .mapFull:
      (
        "The file reached the maximum map size.",
        "Raise maximumMapSize or the address-space limit of the process, or delete data."
      )
    case .dbsFull:
      (
        "More named databases were opened than the environment allows.",
        "Close the file and reopen it."
      )
    case .readersFull:
      (
        "All reader slots of the file are in use by running processes.",
        "Keep fewer snapshots open, or raise maximumReaders in the process that opens the file "
          + "first."
      )
    case .tlsFull:
      (
        "The process has no thread-local keys left.",
        "Use fewer libraries that allocate thread-local keys."
      )
    case .txnFull:
      (
        "The transaction changed more pages than LMDB can track.",
        "Split the change into several commits."
      )
    case .cursorFull:
      ("The tree is deeper than a cursor can follow.", "The file is damaged. \(Self.damageRemedy)")
    case .pageFull:
      (
        "A page has no room for an entry that should fit.",
        "The file is damaged. \(Self.damageRemedy)"
      )
    default:
      (
        "Another process has grown the file beyond this process's map.",
        "Begin the transaction again. The environment adopts the new size automatically."
      )
    }
  }

  /// The advice for errors about invalid calls.
  private var usageAdvice: Advice {
    switch self {
    case .incompatible:
      (
        "The database exists with different flags, or doesn't support the operation.",
        "Open the database with the flags it was created with."
      )
    case .badReaderSlot:
      (
        "Two transactions used the same reader slot at once.",
        "Use each transaction from one thread at a time."
      )
    case .badTransaction:
      (
        "The transaction has ended, or is invalid after an earlier error.",
        "End the transaction and begin a new one."
      )
    case .badValueSize:
      (
        "Keys, and values in a database with duplicates, must have 1 to 511 bytes.",
        "Shorten the key, or split the value."
      )
    case .badDatabase:
      ("The database was deleted or replaced after it was opened.", "Open the database again.")
    case .nestedWrite:
      (
        "A write transaction was begun inside another one on the same thread.",
        "Use the existing transaction."
      )
    case .growthBlocked:
      (
        "The map must be moved to grow, but open snapshots prevent that.",
        "Close the snapshots before committing, or open with a larger initialMapSize."
      )
    case .readOnlyEnvironment:
      ("The file was opened read-only.", "Open the file for writing.")
    default:
      (
        "LMDB rejected an argument, usually a database unknown to this transaction.",
        "Open the database before the transaction begins, and pass matching flags."
      )
    }
  }

  /// The advice for errors about files that cannot be a store.
  private var fileAdvice: Advice {
    switch self {
    case .noSuchFile:
      ("The file doesn't exist.", "Check the path, or create the store first.")
    case .invalidPath:
      (
        "The path is empty or contains a zero byte.",
        "Use the path of a file."
      )
    case .danglingLink:
      (
        "The path is a symbolic link whose target doesn't exist.",
        "Remove the link, or make it point to a store."
      )
    case .lockFile(let problem): (problem.description, problem.remedy)
    case .temporaryFolder(let problem): (problem.cause, problem.remedy)
    case .isDirectory:
      ("The path refers to a directory.", "Use the path of the file inside the directory.")
    case .notRegularFile:
      ("The path doesn't refer to a regular file.", "Use the path of a regular file.")
    case .hardLinked:
      (
        "The file has several hard links, which would not share a lock file.",
        "Keep one link and remove the others, or use a symbolic link."
      )
    case .networkFileSystem:
      (
        "The file is on a network or user-space file system, where shared memory and locks are "
          + "unreliable.",
        "Move the file to a local disk, or allow network file systems in the options at your own "
          + "risk."
      )
    case .emptyFile:
      (
        "The store's file is empty.",
        "Check the path, or open the file with a model to create a store there."
      )
    case .fileTooSmall:
      (
        "The file has no root pages: it was truncated, or its creation was interrupted.",
        "Restore a backup, or move the file away and create the store again."
      )
    case .truncated:
      ("The file ends before its last used page.", "Part of the data is lost. \(Self.damageRemedy)")
    default:
      (
        "The file has a page size that this version cannot read.",
        "Export the data on a machine of the kind that wrote the file, then import the data here."
      )
    }
  }

  /// The advice for errors about the machine and other processes.
  private var surroundingsAdvice: Advice {
    switch self {
    case .diskFull:
      (
        "The disk space, quota or file size limit is exhausted, so nothing was written.",
        "Free space and commit again. Deleting records still works."
      )
    case .readOnlyFileSystem:
      ("The file system is read-only.", "Open the file read-only, or use a writable location.")
    case .accessDenied:
      (
        "The permissions of the file, its lock file or its folder don't allow this.",
        "Change the permissions, or open the file as immutable if no process writes to it."
      )
    case .notPermitted:
      (
        "The operating system doesn't permit this operation on the file.",
        "Check the file's ownership, immutable flag and security rules."
      )
    case .tooManyOpenFiles:
      (
        "The process or the machine has too many open files.",
        "Close unused stores, or raise the limit on open files."
      )
    case .outOfMemory:
      (
        "The system is out of memory or address space.",
        "Raise the address-space limit, or open with a smaller initialMapSize."
      )
    case .inUse:
      ("The file is in use by another process or store.", "Close the file there, then try again.")
    case .busy(let writer):
      (
        "Process \(writer.processID) is writing to the file and doesn't finish.",
        "Wait for it; resume or end it if it is stopped."
      )
    case .abandoned:
      ("The caller stopped waiting for another transaction.", "Try again.")
    case .closed: ("The environment is closed.", "Open the environment again.")
    case .forkedProcess:
      (
        "The environment was opened before this process was forked.",
        "Open the file in the child process, or start child processes with posix_spawn."
      )
    case .fileReplaced:
      (
        "The file was removed, replaced or overwritten by another program while it was open.",
        "Close the file wherever it is open, then reopen it."
      )
    case .system(let number):
      (
        "The operating system reported: \(Self.systemText(number)) (error \(number)).",
        "The last committed state is intact."
      )
    default: ("The operation failed.", "Try again.")
    }
  }
}
