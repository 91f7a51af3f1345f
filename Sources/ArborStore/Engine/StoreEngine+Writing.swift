internal import ArborModel
internal import LMDB

extension StoreEngine {
  /// The results of the last attempt at a transaction.
  private struct WriteAttempt {
    var sequences: Range<UInt64> = 0..<0
    var reservations: [NumberReservation] = []
    var written: (header: HeaderRecord, unfinished: UnfinishedIndexes?)?
    var journalPart = StoreJournal.Part.none
    /// The flight of the transaction's entry, until it has landed.
    var flight: JournalFlight?
    var hasLanded = true

    /// Waits until the entry has landed.
    mutating func land(_ journal: StoreJournal) {
      guard let flight else { return }
      hasLanded = journal.land(flight)
      self.flight = nil
    }
  }

  /// Runs `body` in a write transaction of which neither the journal nor a shared log has a copy, so
  /// that committing it waits for the disk. The transactions of commits use
  /// ``runRedoable(topsUpNumbers:passesMarker:inFollower:_:)``, whose parameters and errors are the
  /// same.
  func runTransaction(
    passesMarker: Bool = false, inFollower: Bool = false,
    _ body: (borrowing WriteTransaction, inout HeaderRecord) throws(StoreError) -> Void
  ) throws(StoreError) {
    try runRedoable(passesMarker: passesMarker, inFollower: inFollower) {
      (transaction, header) throws(StoreError) -> Redo in
      try body(transaction, &header)
      return .none
    }
  }

  /// Runs `body` in a write transaction and commits, with a header that contains the transaction's
  /// number. Commits, and all other changes of an open store's contents, pass through here:
  ///
  /// 1. The header is read and checked, and the journal is prepared.
  /// 2. `body` writes, and returns the source from which the transaction can be restored after a
  ///    power failure.
  /// 3. The header is written. If the source is the journal, an entry is submitted to it.
  /// 4. LMDB commits, without waiting for the disk if the store is journaled.
  /// 5. The entry is waited for.
  /// 6. The new state is published to later snapshots and to listeners, and a checkpoint is made if
  ///    it is due; see ``StoreJournal``.
  ///
  /// `body` may run again and must change nothing but the file and state that it overwrites.
  ///
  /// - Parameters:
  ///   - topsUpNumbers: Whether to refill blocks of object numbers that are running low in the same
  ///     transaction.
  ///   - passesMarker: Whether to write even if the file is being migrated in a copy.
  ///   - inFollower: Whether `body` may also run in a store that follows a log: it replays commits
  ///     of the log or only writes data of the file itself, such as the progress of a scrub.
  ///   - body: Writes, and returns the source from which the transaction can be restored.
  /// - Throws: `follower` if the store follows a log and `inFollower` is `false`; `modelChanged` if
  ///   the file's model has changed; `migrationUnderWay` while the file is being migrated in a
  ///   copy; `corrupted` if another program has written to it or damage was found in its pages;
  ///   errors of `body`. In these cases, nothing has been written, except after `engine(.panic)`,
  ///   whose outcome is unknown until the file is opened again, and after a failed checkpoint of a
  ///   journaled store: a transaction without an entry, or whose entry could not be written, takes
  ///   effect then, but may be lost in a power failure.
  func runRedoable(
    topsUpNumbers: Bool = false, passesMarker: Bool = false, inFollower: Bool = false,
    _ body: (borrowing WriteTransaction, inout HeaderRecord) throws(StoreError) -> Redo
  ) throws(StoreError) {
    try health.permitWriting()
    if isFollower, !inFollower { throw .follower(path: path) }
    var attempt = WriteAttempt()
    var failure: StoreError?
    do throws(LMDBError) {
      try environment.runWrite { transaction in
        failure = nil
        attempt.reservations = []
        attempt.journalPart = .none
        attempt.land(journal)
        attempt.hasLanded = true
        do throws(StoreError) {
          var header = try currentHeader(transaction, passesMarker: passesMarker || isMigrating)
          attempt.flight = try journal.begin(self, header, transaction)
          let first = header.sequence + 1
          let redo = try body(transaction, &header)
          attempt.sequences = first..<(header.sequence + 1)
          if topsUpNumbers { attempt.reservations = try topUpNumbers(transaction) }
          attempt.journalPart = journal.decidePart(&header, redo, self, transaction)
          try writeHeader(header, transaction, &attempt)
          if attempt.journalPart == .entry, case .commits(let commits) = redo {
            let entry = JournalEntry(
              transactionID: transaction.id, counters: attempt.reservations.map(counter(of:)),
              first: first, commits: commits)
            try journal.append(entry, self, transaction)
          }
          return true
        } catch {
          failure = error
          return false
        }
      } beforeOthers: {
        attempt.land(journal)
      }
    } catch {
      notifications.didNotWrite(attempt.sequences)
      try journal.finish(attempt.journalPart, self, isCommitted: false, hasLanded: false)
      guard let written = attempt.written, try isInFile(written.header.transactionID) else {
        throw StoreError(error, path: path)
      }
    }
    if let failure {
      try journal.finish(attempt.journalPart, self, isCommitted: false, hasLanded: false)
      throw failure
    }
    blocks.install(attempt.reservations)
    // Listeners of this process are told once the commit is durable, or if that has failed.
    defer { publish(attempt) }
    try journal.finish(
      attempt.journalPart, self, isCommitted: true, hasLanded: attempt.hasLanded)
  }

  /// Publishes the committed state to later snapshots and to listeners of this process.
  private func publish(_ attempt: WriteAttempt) {
    guard let written = attempt.written else { return }
    if written.header.isBeingMigrated || modelState != nil {
      // The state of the model is read from the file.
      _ = lookAtNewest()
    } else {
      note(written.header, written.unfinished, transactionID: written.header.transactionID)
      if attempt.sequences.isEmpty { return }
    }
    notifications.announce(self)
  }

  /// Signs and writes the header. Nothing may be written in the transaction after it.
  private func writeHeader(
    _ header: HeaderRecord, _ transaction: borrowing WriteTransaction, _ attempt: inout WriteAttempt
  ) throws(StoreError) {
    var header = header
    header.sign(transaction)
    let unfinished = try UnfinishedIndexes.read(header, transaction.reader, schema, databases)
    attempt.written = (header, unfinished)
    try writtenHeader.write(header, in: transaction)
    notifications.willWrite(attempt.sequences)
  }

  /// Makes the pages that the last commit has freed available to the next one.
  ///
  /// LMDB reuses the pages that a transaction has freed only after another one has been committed.
  /// Each of several large commits would therefore grow the file by the pages that the previous one
  /// has replaced. A commit of only the header in between costs a few pages.
  func releaseFreedPages() throws(StoreError) {
    let count = try storing(environment.pagesFreedByLastCommit())
    guard count >= Self.manyPages else { return }
    try runRedoable { (_, _) throws(StoreError) in sharedLog == nil ? .none : .sharedLog }
  }

  private static var manyPages: Int { 256 }

  /// Returns the header that the transaction finds, after checking that this process may write.
  private func currentHeader(
    _ transaction: borrowing WriteTransaction, passesMarker: Bool
  ) throws(StoreError) -> HeaderRecord {
    let header = try writtenHeader.read(transaction.reader, path: path)
    guard header.modelGeneration == modelGeneration else { throw .modelChanged }
    if header.isBeingMigrated, !passesMarker {
      // The file may have been replaced by the copy in which it was migrated.
      guard environment.isInPlace else { throw .modelChanged }
      throw .migrationUnderWay(try MigrationMarker.read(transaction.reader, databases.arbor))
    }
    try header.checkPrecedes(transaction)
    return header
  }

  /// Returns whether a commit that failed is in the file after all.
  ///
  /// A failure to write data pages leaves everything unchanged. After a failure to write the root
  /// page, LMDB refuses to continue, and only opening the file again reveals the state on disk. The
  /// store is closed for that, and stays closed.
  ///
  /// - Throws: `engine(.panic)` if an open snapshot keeps the file from being closed.
  private func isInFile(_ transactionID: UInt64) throws(StoreError) -> Bool {
    guard isInDoubt, let path else { return false }
    do throws(LMDBError) { try environment.close() } catch { throw .engine(.panic) }
    let fresh = try storing(Environment.open(path: path))
    let arbor = try storing(fresh.openDatabase(StoreFormat.arborDatabase, StoreFormat.arborFlags))
    guard arbor != nil else { return false }
    let transaction = try storing(fresh.beginRead())
    return try StoreHeader.read(transaction.reader).transactionID >= transactionID
  }

  private var isInDoubt: Bool {
    do throws(LMDBError) {
      _ = try environment.beginRead()
      return false
    } catch {
      return error == .panic
    }
  }
}

extension HeaderRecord {
  /// Throws if another program has written to the file since the header was written.
  func checkPrecedes(_ transaction: borrowing WriteTransaction) throws(StoreError) {
    guard transactionID + 1 == transaction.id else {
      throw .corrupted(
        what: "Another program has written to the file. Check the store before you continue to use "
          + "it.")
    }
  }

  /// Records the current transaction's ID and the machine's boot ID in the header.
  mutating func sign(_ transaction: borrowing WriteTransaction) {
    transactionID = transaction.id
    bootID = StoreHeader.bootID
  }
}
