internal import ArborModel
internal import LMDB

extension StoreEngine {
  /// The results of the last attempt at a transaction.
  private struct WriteAttempt {
    var sequences: Range<UInt64> = 0..<0
    var reservations: [NumberReservation] = []
    var written: (header: HeaderRecord, unfinished: UnfinishedIndexes?)?
  }

  /// Runs `body` in a write transaction and commits, with a header that names the transaction.
  ///
  /// `body` may run again and must change nothing but the file and what it overwrites.
  ///
  /// - Parameters:
  ///   - topsUpNumbers: Whether blocks of object numbers that run low are refilled in the same
  ///     transaction.
  ///   - passesMarker: Whether to write although the file is being migrated in a copy.
  ///   - repeats: Whether `body` writes commits of the log that the store follows.
  /// - Throws: `modelChanged` if the file has another model by now; `migrationUnderWay` while it is
  ///   being migrated in a copy; `corrupted` if another program wrote to it or damage was found in
  ///   its pages; what `body` throws. Nothing has been written then, except after `engine(.panic)`,
  ///   whose outcome is unknown until the file is opened again.
  func runTransaction(
    topsUpNumbers: Bool = false, passesMarker: Bool = false, repeats: Bool = false,
    _ body: (borrowing WriteTransaction, inout HeaderRecord) throws(StoreError) -> Void
  ) throws(StoreError) {
    try health.permitWriting()
    if isFollower, !repeats { throw .follower(path: path) }
    var attempt = WriteAttempt()
    var failure: StoreError?
    do throws(LMDBError) {
      try environment.runWrite { transaction in
        failure = nil
        attempt.reservations = []
        do throws(StoreError) {
          var header = try currentHeader(transaction, passesMarker: passesMarker || isMigrating)
          let first = header.sequence + 1
          try body(transaction, &header)
          attempt.sequences = first..<(header.sequence + 1)
          if topsUpNumbers { attempt.reservations = try topUpNumbers(transaction) }
          try writeHeader(header, transaction, &attempt)
          return true
        } catch {
          failure = error
          return false
        }
      }
    } catch {
      notifications.didNotWrite(attempt.sequences)
      guard let written = attempt.written, try isInFile(written.header.transactionID) else {
        throw StoreError(error, path: path)
      }
    }
    if let failure { throw failure }
    blocks.install(attempt.reservations)
    publish(attempt)
  }

  /// Makes what is in the file now known to this process: to later snapshots and to listeners.
  private func publish(_ attempt: WriteAttempt) {
    guard let written = attempt.written else { return }
    if written.header.isBeingMigrated || modelState != nil {
      // What there is to tell of the model is in the file.
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
  /// Each of several large commits would grow the file by the pages that the one before has
  /// replaced; a commit of the header between them costs a few pages.
  func releaseFreedPages() throws(StoreError) {
    let count = try storing(environment.pagesFreedByLastCommit())
    guard count >= Self.manyPages else { return }
    try runTransaction { _, _ in }
  }

  private static var manyPages: Int { 256 }

  /// Returns the header that the transaction finds, after checking that this process may write.
  private func currentHeader(
    _ transaction: borrowing WriteTransaction, passesMarker: Bool
  ) throws(StoreError) -> HeaderRecord {
    let header = try writtenHeader.read(transaction.reader, path: path)
    guard header.modelGeneration == modelGeneration else { throw .modelChanged }
    if header.isBeingMigrated, !passesMarker {
      // The copy that it was migrated in may have taken its place.
      guard environment.isInPlace else { throw .modelChanged }
      throw .migrationUnderWay(try MigrationMarker.read(transaction.reader, databases.arbor))
    }
    try header.checkPrecedes(transaction)
    return header
  }

  /// Returns whether a commit that failed is in the file nevertheless.
  ///
  /// A failure to write data pages leaves everything as it was. After a failure to write the root
  /// page, LMDB refuses to continue, and only opening the file again can tell what the disk has. The
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
  /// Refuses a file that another program has written to since the header was written.
  func checkPrecedes(_ transaction: borrowing WriteTransaction) throws(StoreError) {
    guard transactionID + 1 == transaction.id else {
      throw .corrupted(
        what: "Another program has written to the file. Check it before you continue to use it.")
    }
  }

  /// Records in the header which transaction writes it and when the machine started.
  mutating func sign(_ transaction: borrowing WriteTransaction) {
    transactionID = transaction.id
    // A file that has to be verified after a crash of the machine keeps its mark until it has been.
    if !isUnsettled { bootID = StoreHeader.bootID }
  }
}
