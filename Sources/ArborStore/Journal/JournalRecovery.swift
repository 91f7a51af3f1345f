internal import ArborFoundation
internal import ArborModel
internal import LMDB

/// Restores a journaled store after a power failure: the checkpoint, then the commits since.
///
/// 1. Check that the journal belongs to this file, and that none of its entries is damaged. If the file
///    has later transactions than the journal and is sound, it is kept as it is.
/// 2. Write the checkpoint's root page to both root pages of the file.
/// 3. Replay the entries, while a pin keeps the checkpoint's pages. Commits in a shared log are
///    applied by the opener.
/// 4. Sync the file, and remove the journal.
///
/// A failure before the last step leaves the journal and the checkpoint's pages intact, so the next
/// opening repeats the recovery.
enum JournalRecovery {
  private static let lockSuffix = "-recovery-lock"

  /// The reason why a file may lack commits that are in its journal.
  private enum Cause {
    /// The machine was restarted since the journal was written.
    case restart
    /// The system failed to sync the file. What is read from it may not be on the medium.
    case failedSync
    /// The file lacks several commits, although the machine was not restarted.
    case lostPages

    func text(_ path: String) -> String {
      switch self {
      case .restart: "The machine stopped while \(path) was open"
      case .failedSync: "The system failed to write pages of \(path) to the disk"
      case .lostPages: "The file \(path) is older than its journal"
      }
    }
  }

  /// Recovers the store at a path if the file may lack commits that are in its journal.
  ///
  /// - Throws: `journal` if that is necessary but the store is opened read-only, or without the log
  ///   that has its last commits, or if the journal is damaged or belongs to another file;
  ///   `formatTooNew`; `inUse`; errors of opening and writing. In these cases, the journal is
  ///   unchanged.
  static func run(at given: String, _ opener: StoreOpening) throws(StoreError) {
    let path = StoreLock.canonicalPath(given)
    guard let (_, newest, reason) = try pending(path, forReading: true) else { return }
    if newest.isShared, !opener.continuesSharing { throw shared(path, reason) }
    if opener.isReadOnly { throw unrecovered(path, reason) }
    let lock = try StoreLock(path, suffix: lockSuffix, waits: true)
    defer { lock.end() }
    // Another process may have recovered it meanwhile.
    guard let (journal, header, cause) = try pending(path, forReading: false) else { return }
    let checkpoint = try storedHeader(header, path, journal)
    let end = try endOfEntries(journal, header)
    let ahead = header.isShared ? 0 : try transactionsAhead(of: end, path)
    // After a failed sync, pages may be whole only in the system's cache.
    if ahead > 0, cause != .failedSync, try isWhole(path, checkpoint) { return }
    try check(journal, header, behind: end)
    if ahead > 1 { throw behind(journal.path, by: ahead) }
    try StoreFiles.exclusively(path: path) { () throws(StoreError) in
      try storing(path: path, Environment.restore(header.root, at: path))
    }
    let store = try open(path, checkpoint, looksForDamage: false)
    defer { store.close() }
    try replay(journal, header, in: store)
    _ = try StoreJournal.endLeft(by: store.environment, isRecovered: true)
  }

  /// Copies the file of a damaged store and replays the journal in the copy, as far as the journal
  /// and the pages of the checkpoint are intact.
  ///
  /// - Parameter copy: The path of an existing empty file.
  /// - Returns: Whether the copy has all commits, or `nil` if nothing was copied because the file
  ///   doesn't need its journal or the journal is unusable.
  static func copy(_ file: DamagedFile, to copy: String) throws(StoreError) -> Bool? {
    let path = file.path
    guard let journal = try own(of: path),
      let header = try journal.newestHeader(), header.bootID != StoreHeader.bootID,
      !header.isEnded
    else { return nil }
    let checkpoint: HeaderRecord
    do throws(StoreError) { checkpoint = try storedHeader(header, path, journal) } catch {
      return nil
    }
    let end = try endOfEntries(journal, header)
    let ahead = header.isShared ? 0 : try transactionsAhead(of: end, path)
    if ahead > 0, try areSound(path, { () throws(LMDBError) in try file.verifyNewestPages() }) {
      return nil
    }
    try storing(path: copy, file.copy(header.root, to: copy))
    do throws(StoreError) {
      let store = try open(copy, checkpoint, looksForDamage: true)
      defer { store.close() }
      try replay(journal, header, in: store)
      try check(journal, header, behind: end)
      return !header.isShared && ahead <= 1
    } catch {
      switch error {
      case .inputOutput, .diskFull, .interrupted: throw error
      // The commits before the damage are kept.
      default: return false
      }
    }
  }

  /// Returns the journal of a store, or `nil` if it is missing or another file has its name.
  private static func own(of path: String) throws(StoreError) -> JournalFile? {
    do throws(StoreError) { return try JournalFile.existing(of: path, forReading: true) } catch {
      if error.isForeignJournal { return nil }
      throw error
    }
  }

  private static func open(
    _ path: String, _ checkpoint: HeaderRecord, looksForDamage: Bool
  ) throws(StoreError) -> StoreEngine {
    var opening = StoreOpening(.file(path), model: nil)
    opening.isRecovering = true
    opening.isMigrating = checkpoint.isBeingMigrated
    opening.looksForDamage = looksForDamage
    opening.indexBuilds = .left
    return try StoreEngine.open(opening)
  }

  /// Returns the journal and its newest header if the file may lack commits that are in it.
  private static func pending(
    _ path: String, forReading: Bool
  ) throws(StoreError) -> (JournalFile, JournalHeader, Cause)? {
    guard let journal = try JournalFile.existing(of: path, forReading: forReading) else {
      return nil
    }
    // A journal gets its first header before its first entry. Another process may be writing both,
    // so they are read in the opposite order.
    let hasEntries = try journal.firstFrame() != nil
    guard let header = try journal.newestHeader() else {
      if hasEntries { throw headless(journal.path) }
      return nil
    }
    if header.isEnded { return nil }
    if header.bootID != StoreHeader.bootID { return (journal, header, .restart) }
    if header.hasFailedSync { return (journal, header, .failedSync) }
    return try lacksCommits(path, journal, header) ? (journal, header, .lostPages) : nil
  }

  /// Returns whether a file lacks more commits than the one that its process didn't live to commit.
  private static func lacksCommits(
    _ path: String, _ journal: JournalFile, _ header: JournalHeader
  ) throws(StoreError) -> Bool {
    // While another process writes, the file has its commits.
    guard journal.isUnused else { return false }
    // Read before the file, in case that a process begins to write.
    let end = try endOfEntries(journal, header)
    return try newestTransaction(path).map { $0 + 1 < end.transactionID } ?? false
  }

  /// Returns whether a store's journal says that the file is complete.
  static func hasEndedJournal(_ path: String) throws(StoreError) -> Bool {
    try JournalFile.existing(of: path, forReading: true)?.newestHeader()?.isEnded ?? false
  }

  /// Returns the position after the last valid entry.
  private static func endOfEntries(
    _ journal: JournalFile, _ header: JournalHeader
  ) throws(StoreError) -> JournalPosition {
    var position = header.start
    try journal.advance(&position, to: .max, epoch: header.epoch)
    return position
  }

  /// Throws if a valid entry follows a damaged one.
  ///
  /// - Parameter position: The position after the last entry that is valid.
  private static func check(
    _ journal: JournalFile, _ header: JournalHeader, behind position: JournalPosition
  ) throws(StoreError) {
    guard journal.size >= header.fileSize else { throw truncated(journal.path) }
    // Entries of earlier epochs belong to earlier transactions.
    if let frame = try journal.firstFrame(), frame.epoch != header.epoch,
      frame.transactionID > header.root.transactionID
    {
      throw headless(journal.path)
    }
    if let later = try journal.entry(behind: position, epoch: header.epoch) {
      throw .journal(
        ArborError(
          .corrupted,
          "The journal \(journal.path) is damaged: it has transaction \(later), but not "
            + "\(position.transactionID + 1). \(remedy)"))
    }
    guard try journal.isDamaged(at: position, epoch: header.epoch) else { return }
    throw .journal(
      ArborError(
        .corrupted,
        "The journal \(journal.path) is damaged after transaction \(position.transactionID), so the "
          + "next commit may be lost. \(remedy)"))
  }

  /// Returns the store's header as of the checkpoint, which shows that the journal belongs to the
  /// file.
  private static func storedHeader(
    _ header: JournalHeader, _ path: String, _ journal: JournalFile
  ) throws(StoreError) -> HeaderRecord {
    guard try StoreFiles.exists(path) else {
      throw .journal(
        ArborError(
          .fileUnreadable,
          "The journal \(journal.path) has commits of a store whose file is missing. Put the file "
            + "back, or move the journal to another folder to create a new store."))
    }
    var found: HeaderRecord?
    // Whether journaling ended after the checkpoint, so that the store's own journal is already
    // removed.
    var isLater = false
    let note = { (entry: DamagedEntry, _: Bool) throws(LMDBError) in
      guard entry.key.elementsEqual(StoreFormat.headerKey.utf8), let bytes = entry.inlineValue
      else { return }
      do throws(HeaderRecord.Problem) { found = try HeaderRecord(bytes) } catch {}
    }
    do throws(LMDBError) {
      let file = try DamagedFile(path: path)
      for transaction in file.transactions where transaction > header.root.transactionID {
        _ = try file.begin(with: transaction, note)
        if let found, found.transactionID == transaction, !found.isJournaled { isLater = true }
      }
      found = nil
      _ = try file.begin(with: header.root, note)
    } catch { throw StoreError(error, path: path) }
    guard !isLater, let found, found.isJournaled, found.storeID == header.storeID,
      found.transactionID == header.root.transactionID
    else { throw foreign(journal.path) }
    return found
  }

  /// Returns the number of transactions in the file that are later than the journal's last entry.
  ///
  /// A power failure leaves at most one, which was not acknowledged. More mean that the end of the
  /// journal is lost, or that the journal is a former one.
  private static func transactionsAhead(
    of position: JournalPosition, _ path: String
  ) throws(StoreError) -> UInt64 {
    let newest = try newestTransaction(path) ?? 0
    return newest - min(newest, position.transactionID)
  }

  /// Returns the last transaction of a file, or `nil` if it is missing or both root pages are
  /// damaged.
  private static func newestTransaction(_ path: String) throws(StoreError) -> UInt64? {
    do throws(LMDBError) { return try DamagedFile.newestTransaction(path: path) } catch {
      if case .noSuchFile = error { return nil }
      throw StoreError(error, path: path)
    }
  }

  /// Returns whether a file is completely in the state of its newest transaction. If so, ends
  /// journaling.
  private static func isWhole(
    _ path: String, _ checkpoint: HeaderRecord
  ) throws(StoreError) -> Bool {
    let arePagesSound = try areSound(path) { () throws(LMDBError) in
      try Environment.verifyPages(path: path)
    }
    guard arePagesSound else { return false }
    do throws(StoreError) {
      let store = try open(path, checkpoint, looksForDamage: false)
      defer { store.close() }
      try store.compareWithDigests()
      _ = try StoreJournal.endLeft(by: store.environment)
      return true
    } catch {
      if error.isCorruption || error.isNoStore { return false }
      throw error
    }
  }

  /// Returns whether `verify` finds no damage.
  private static func areSound(
    _ path: String, _ verify: () throws(LMDBError) -> Void
  ) throws(StoreError) -> Bool {
    do throws(LMDBError) {
      try verify()
      return true
    } catch {
      let reason = StoreError(error, path: path)
      if error.isForeignContent || reason.isCorruption { return false }
      throw reason
    }
  }

  private static func behind(_ path: String, by count: UInt64) -> StoreError {
    .journal(
      ArborError(
        .corrupted,
        "The store's file has \(count) later transactions than the journal \(path), but is damaged "
          + "itself. The end of the journal is lost, or the journal is a former one. \(remedy)"))
  }

  private static let remedy =
    "Restore the store from a backup, or salvage it into a new file."

  static func foreign(_ path: String) -> StoreError {
    .journal(
      ArborError(
        .notAStore,
        "The journal \(path) doesn't belong to the store's file. If the file was restored from a "
          + "copy, move the journal to another folder; otherwise put back the file that the "
          + "journal belongs to."))
  }

  static func headless(_ path: String) -> StoreError {
    .journal(
      ArborError(
        .corrupted,
        "A header of the journal \(path) is damaged, so its commits cannot be recovered. \(remedy)")
    )
  }

  static func missing(_ path: String) -> StoreError {
    .journal(
      ArborError(
        .corrupted,
        "The journal \(path) is missing, and the machine stopped while the store was open, so its last "
          + "commits may be lost. Put the journal back. If it is lost, set "
          + "options.acceptsMissingJournal to open the store as its file is."))
  }

  static func truncated(_ path: String) -> StoreError {
    .journal(
      ArborError(
        .corrupted,
        "The journal \(path) is shorter than it was, so commits may be missing. \(remedy)"))
  }

  static func stuck(_ path: String, after seconds: Double) -> StoreError {
    .journal(
      ArborError(
        .busy,
        "A process has been writing an entry of the journal \(path) for \(seconds) s. It may be "
          + "stopped. Continue or end it."))
  }

  /// The error of a transaction after the system failed to sync the store's file.
  static func unsynced(_ path: String) -> StoreError {
    .journal(
      ArborError(
        .inputOutput,
        "The system failed to write the store's pages to the disk, and its last commits are in the "
          + "journal \(path). Close the store in all processes, then open it for writing to recover "
          + "them."))
  }

  private static func shared(_ path: String, _ cause: Cause) -> StoreError {
    .journal(
      ArborError(
        .logUnavailable,
        "\(cause.text(path)), and the store's last commits are in its "
          + "shared log. Open the store with the log. If the log is lost, salvage the store into a "
          + "new file."))
  }

  private static func unrecovered(_ path: String, _ cause: Cause) -> StoreError {
    .journal(
      ArborError(
        .readOnly,
        "\(cause.text(path)), and the store's last commits are in its "
          + "journal. Open the store for writing once to recover the commits."))
  }

  private static func replay(
    _ journal: JournalFile, _ header: JournalHeader, in store: StoreEngine
  ) throws(StoreError) {
    let pin = try storing(path: store.path, store.environment.pinNewest())
    defer { store.environment.release(pin) }
    var position = header.start
    while let next = try journal.entry(at: position, epoch: header.epoch) {
      let entry = next.entry
      let commits = try entry.commits.enumerated().map { (index, bytes) throws(StoreError) in
        let sequence = entry.first + UInt64(index)
        let commit = bytes.withUnsafeBytes {
          LoggedCommitCodec.decode($0, sequence: sequence, store.schema)
        }
        guard let commit else {
          throw StoreError.journal(
            ArborError(
              .corrupted,
              "Commit \(sequence) in the journal \(journal.path) is damaged. \(remedy)"))
        }
        return commit
      }
      let counters = Dictionary(entry.counters.map { ($0.name, $0.value) }) { max($0, $1) }
      try store.replay(commits, counters: counters)
      position = next.end
    }
  }
}
