extension LMDBError: CustomStringConvertible {
  /// The cause and the remedy.
  package var description: String { "\(cause) \(remedy)" }

  /// The cause of the error in one sentence.
  package var cause: String { advice.cause }

  /// The remedy in one sentence.
  package var remedy: String { advice.remedy }

  /// The remedy for a damaged file.
  private static let damageRemedy =
    "Restore a backup, or take out what is sound with lmdb-inspect salvage STORE TARGET; "
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
      .hardLinked, .networkFileSystem, .emptyFile, .fileTooSmall, .truncated, .foreignPageSize:
      fileAdvice
    case .diskFull, .readOnlyFileSystem, .accessDenied, .notPermitted, .tooManyOpenFiles,
      .outOfMemory, .inUse, .closed, .forkedProcess, .fileReplaced, .system:
      surroundingsAdvice
    }
  }

  /// Errors about the contents of the file.
  private var contentAdvice: Advice {
    switch self {
    case .keyExists:
      (
        "The key, or the key with this value, is already in the database.",
        "Overwrite it on purpose, or append only keys above the last one."
      )
    case .notFound:
      (
        "The key, value or database is not in the file.",
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
        "Writing the file's root page failed earlier, so nothing more may be written.",
        "Close the store and open it again; it then shows the last state that was committed."
      )
    case .versionMismatch:
      (
        "The lock file is of another version of LMDB than the one this program runs with.",
        "Close the store in the other programs, or give all of them the same LMDB."
      )
    case .foreignEngine(let found):
      (
        "The program runs with LMDB \(found), and LMDB \(EngineVersion.needed) is needed.",
        "Give the program a liblmdb of that version; files of LMDB 0.9 and 1.0 cannot be read by "
          + "one another."
      )
    case .foreignFormat(let version):
      (
        "The file is of LMDB's data format \(version), as LMDB "
          + "\(version == 2 ? "1.0" : "of another version") writes it, and format 1 of LMDB "
          + "\(EngineVersion.needed) is needed.",
        "Open it with the version that wrote it, export it, and import it here."
      )
    default: ("The file is not an LMDB file.", "Check the path; nothing in the file was changed.")
    }
  }

  /// Errors about limits of the engine.
  private var limitAdvice: Advice {
    switch self {
    case .mapFull:
      (
        "The file reached the largest map size that was allowed.",
        "Raise maximumMapSize, raise the address-space limit of the process, or delete data."
      )
    case .dbsFull:
      (
        "More named databases were opened than the environment has room for.",
        "Close the file and open it again."
      )
    case .readersFull:
      (
        "All reader slots of the file are taken by living processes.",
        "Hold fewer snapshots at once, or raise maximumReaders in the process that opens first."
      )
    case .tlsFull:
      (
        "The process has no thread-local key left.",
        "Use fewer libraries that take thread-local keys."
      )
    case .txnFull:
      (
        "The transaction changed more pages than LMDB can keep track of.",
        "Split the change into several commits."
      )
    case .cursorFull:
      ("The tree is deeper than a cursor can follow.", "The file is damaged. \(Self.damageRemedy)")
    case .pageFull:
      (
        "A page had no room for an entry that must fit.",
        "The file is damaged. \(Self.damageRemedy)"
      )
    default:
      (
        "Another process made the file larger than the map of this one.",
        "Begin the transaction again; the environment adopts the new size by itself."
      )
    }
  }

  /// Errors about invalid calls.
  private var usageAdvice: Advice {
    switch self {
    case .incompatible:
      (
        "The database exists with other flags, or the operation does not suit its kind.",
        "Open it with the flags it was created with."
      )
    case .badReaderSlot:
      (
        "A reader slot was used by two transactions at once.",
        "Use a transaction from one thread at a time."
      )
    case .badTransaction:
      (
        "The transaction has ended or an earlier error spoilt it.",
        "Leave the transaction and begin another."
      )
    case .badValueSize:
      (
        "A key must have 1 to 511 bytes, and so must a value of a database with duplicates.",
        "Shorten the key, or split the value."
      )
    case .badDatabase:
      ("The database was deleted or replaced after it was opened.", "Open the database again.")
    case .nestedWrite:
      (
        "A write was begun inside a write of the same thread.",
        "Use the transaction that is already there."
      )
    case .growthBlocked:
      (
        "The write has to move the map, but threads that wait for it or do not end hold snapshots.",
        "End the snapshot before committing, or open with a larger initialMapSize."
      )
    case .readOnlyEnvironment: ("The file was opened for reading only.", "Open it for writing.")
    default:
      (
        "LMDB refused an argument, usually a database that this transaction does not know.",
        "Open the database before the transaction begins, and pass matching flags."
      )
    }
  }

  /// Errors about files that cannot be a store.
  private var fileAdvice: Advice {
    switch self {
    case .noSuchFile:
      ("There is no file at this path.", "Check the path, or create the store first.")
    case .invalidPath:
      (
        "The path is empty or has a zero byte in it, which no file system takes.",
        "Give the path of a file."
      )
    case .danglingLink:
      (
        "The path is a symbolic link that leads to no file.",
        "Remove the link, or let it lead to a store."
      )
    case .lockFile(let problem): (problem.description, problem.remedy)
    case .isDirectory: ("The path names a directory.", "Give the path of the file inside it.")
    case .notRegularFile:
      ("The path does not name a regular file.", "Give the path of a plain file.")
    case .hardLinked:
      (
        "The file has more than one hard link; its lock file would then not be shared.",
        "Keep one name for the file and remove the others, or use a symbolic link."
      )
    case .networkFileSystem:
      (
        "The file lies on a network or user-space file system, where shared memory and locks "
          + "cannot be relied on.",
        "Move it to a local disk, or allow it in the options at your own risk."
      )
    case .emptyFile:
      (
        "The file is empty, so there is no store in it.",
        "Check the path, or open it with a model, which creates a store there."
      )
    case .fileTooSmall:
      (
        "The file has no root pages: it was cut off, or its creation was interrupted.",
        "Restore a backup, or move it aside and create the store again."
      )
    case .truncated:
      ("The file ends before its last used page.", "Part of it is lost. \(Self.damageRemedy)")
    default:
      (
        "The file uses a page size that this version cannot read.",
        "Open it on the kind of machine that wrote it, export it, and import it here."
      )
    }
  }

  /// Errors about the machine and other processes.
  private var surroundingsAdvice: Advice {
    switch self {
    case .diskFull:
      (
        "The disk, the quota or the file-size limit has no room for the change; nothing of it "
          + "was written.", "Free space and commit again; deleting records still works."
      )
    case .readOnlyFileSystem:
      ("The file system is read-only.", "Open for reading only, or use a writable place.")
    case .accessDenied:
      (
        "The rights of the file, its lock file or its folder forbid this.",
        "Change the rights, or open a file that nobody writes as immutable."
      )
    case .notPermitted:
      (
        "The operating system does not permit this operation on the file.",
        "Check ownership, immutable flags and security rules."
      )
    case .tooManyOpenFiles:
      (
        "The process or the machine has too many open files.",
        "Close stores that are not needed, or raise the limit."
      )
    case .outOfMemory:
      (
        "The system gave no memory or address space.",
        "Raise the address-space limit, or open with a smaller initialMapSize."
      )
    case .inUse: ("Somebody else uses the file.", "Close it everywhere else first, then try again.")
    case .closed: ("The environment was closed.", "Open it again.")
    case .forkedProcess:
      (
        "The environment was opened before this process was forked, and cannot be shared so.",
        "Open the file in the child, or start children with posix_spawn."
      )
    case .fileReplaced:
      (
        "The file was removed, replaced or written over by another program while it was open.",
        "Close it wherever it is open, then open it again."
      )
    case .system(let number):
      (
        "The operating system answered: \(Self.systemText(number)) (error \(number)).",
        "See the documentation of that error; the last committed state is intact."
      )
    default: ("The operation failed.", "Try again.")
    }
  }
}
