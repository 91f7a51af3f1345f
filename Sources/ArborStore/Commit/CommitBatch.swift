internal import ArborFoundation
internal import ArborModel
internal import LMDB

/// Group commit: writes the change sets that wait in the ``CommitQueue`` in one transaction.
///
/// The transaction is run by four functions, each of which hands a closure to the next. Read the
/// closures from the inside out:
///
/// - ``commitGroup(to:_:)`` writes the group's sets with a ``CommitWriter``;
/// - ``SharedCommit`` appends what was written to the shared log, if the store has one;
/// - ``StoreEngine/runRedoable(topsUpNumbers:passesMarker:inFollower:_:)`` reads the header before
///   and writes it after, and appends an entry to the ``StoreJournal``, if the store has one;
/// - `Environment.runWrite` begins and commits LMDB's transaction.
///
/// `@unchecked Sendable`: only the leader of the queue calls it, and the lead passes under the
/// queue's lock.
final class CommitBatch: @unchecked Sendable {
  /// The minimum number of records of a change set that is assumed to fill hundreds of pages.
  private static let manyRecords = 1 << 12

  private var workspace: CommitWorkspace?

  /// The sets of one transaction, in the order in which they are written.
  private struct Group {
    var tickets: [CommitTicket]
    /// The number of leading sets that have been written or rejected.
    var finishedCount = 0

    mutating func restart() {
      finishedCount = 0
      for ticket in tickets { ticket.result = nil }
    }

    /// Makes the error of a transaction that was not committed the result of all its sets. A set
    /// that was rejected individually keeps its own error.
    func fail(_ error: StoreError) {
      for (index, ticket) in tickets.enumerated() {
        if index < finishedCount, case .failure? = ticket.result { continue }
        ticket.result = .failure(error)
      }
    }
  }

  /// Writes the waiting sets in one transaction. Only the leader of the queue calls it.
  ///
  /// - Parameter take: Returns the sets that have been queued meanwhile; called again until there
  ///   are none.
  /// - Returns: The tickets that are done, each with its result.
  func commitGroup(to store: StoreEngine, _ take: () -> [CommitTicket]) -> [CommitTicket] {
    var group = Group(tickets: take())
    var transactionID: UInt64 = 0
    do throws(StoreError) {
      let workspace = try workspace(for: store)
      if group.tickets.contains(where: { $0.set.records.count >= Self.manyRecords }) {
        try store.releaseFreedPages()
      }
      // The closure writes all sets of the group; it runs again if the transaction has to.
      try SharedCommit.run(in: store) { (transaction, header, encodingLimit) throws(StoreError) in
        group.restart()
        transactionID = transaction.id
        workspace.begin(transactionID)
        var writer = CommitWriter(
          store: store, workspace: workspace, header: header, encodingLimit: encodingLimit)
        try Self.writeChangeSets(of: &group, &writer, transaction, take)
        header = writer.header
        return writer.encoded
      }
      workspace.end(transactionID, isCommitted: true)
    } catch {
      workspace?.end(transactionID, isCommitted: false)
      group.fail(error)
    }
    return group.tickets
  }

  /// Writes the sets one after the other, then those that have been queued meanwhile.
  private static func writeChangeSets(
    of group: inout Group, _ writer: inout CommitWriter,
    _ transaction: borrowing WriteTransaction, _ take: () -> [CommitTicket]
  ) throws(StoreError) {
    while group.finishedCount < group.tickets.count {
      let ticket = group.tickets[group.finishedCount]
      do throws(StoreError) {
        ticket.result = .success(try writer.writeChangeSet(ticket.set, transaction))
      } catch {
        if error.spoilsTransaction { throw error }
        ticket.result = .failure(error)
      }
      group.finishedCount += 1
      if group.finishedCount == group.tickets.count { group.tickets += take() }
    }
    // If every set was rejected, there is nothing to commit.
    if !writer.hasWritten, case .failure(let reason)? = group.tickets.last?.result { throw reason }
  }

  private func workspace(for store: StoreEngine) throws(StoreError) -> CommitWorkspace {
    if let workspace { return workspace }
    let made = try CommitWorkspace(store)
    workspace = made
    return made
  }
}

extension StoreError {
  /// Whether the error concerns the transaction rather than one change set, so that the transaction
  /// can't continue.
  fileprivate var spoilsTransaction: Bool {
    switch self {
    case .engine, .diskFull, .readOnly, .follower, .inputOutput, .closed, .inUse, .busy, .exhausted,
      .fileReplaced, .unsupportedEngine, .invalidPath, .behindLog, .outcomeUnknown,
      .inLogOnly, .log, .journal:
      true
    case .corrupted, .conflict, .missingTargets, .stillLinked, .miscounted, .notUnique,
      .modelMismatch, .modelChanged, .migrationUnderWay, .notReverted, .formatTooNew, .notAStore,
      .foreignObject, .invalidChange, .unfitValue, .missing, .invalidModel, .query, .nothingToClaim,
      .metadataExists, .duplicateValues, .duplicatesBuilt, .interrupted:
      false
    }
  }
}
