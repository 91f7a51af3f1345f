internal import ArborModel
internal import Foundation
internal import LMDB

/// Writes queued change sets in one transaction of the engine.
///
/// `@unchecked Sendable`: only the leader of the queue calls it, and the lead passes under the
/// queue's lock.
final class CommitBatch: @unchecked Sendable {
  /// So many records fill hundreds of pages.
  private static let manyRecords = 1 << 12

  private var workspace: CommitWorkspace?

  /// Writes what waits.
  ///
  /// - Parameter take: Gives what has come meanwhile; asked again until it gives nothing.
  /// - Returns: The tickets that are done, each with its result.
  func write(to store: StoreFile, _ take: () -> [CommitTicket]) -> [CommitTicket] {
    var tickets = take()
    var judged = 0
    var transactionID: UInt64 = 0
    do throws(StoreError) {
      let workspace = try workspace(for: store)
      if tickets.contains(where: { $0.set.records.count >= Self.manyRecords }) {
        try store.releaseFreedPages()
      }
      try store.write(topsUpNumbers: true) { (transaction, header) throws(StoreError) in
        // The closure runs again after the map has grown: results count anew, tickets stay.
        judged = 0
        transactionID = transaction.reader.id
        workspace.begin(transactionID)
        var writer = CommitWriter(store: store, workspace: workspace, header: header)
        while judged < tickets.count {
          try Self.write(tickets[judged], &writer, transaction)
          judged += 1
          if judged == tickets.count { tickets += take() }
        }
        // Where every set was refused there is nothing to commit.
        if !writer.hasWritten, case .failure(let reason)? = tickets.last?.result { throw reason }
        header = writer.header
      }
      workspace.end(transactionID, isCommitted: true)
    } catch {
      workspace?.end(transactionID, isCommitted: false)
      for (place, ticket) in tickets.enumerated() {
        // A set that was refused for itself keeps its reason.
        if place < judged, case .failure? = ticket.result { continue }
        ticket.result = .failure(error)
      }
    }
    return tickets
  }

  private func workspace(for store: StoreFile) throws(StoreError) -> CommitWorkspace {
    if let workspace { return workspace }
    let made = try CommitWorkspace(store)
    workspace = made
    return made
  }

  private static func write(
    _ ticket: CommitTicket, _ writer: inout CommitWriter, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    do throws(StoreError) {
      ticket.result = .success(try writer.write(ticket.set, transaction))
    } catch {
      if error.spoilsTransaction { throw error }
      ticket.result = .failure(error)
    }
  }
}

extension StoreError {
  /// Whether the error is of the engine, so that its transaction can not go on.
  fileprivate var spoilsTransaction: Bool {
    switch self {
    case .engine, .diskFull, .readOnly, .follower, .inputOutput, .closed, .inUse, .exhausted,
      .fileReplaced, .unsupportedEngine, .invalidPath:
      true
    case .corrupted, .conflict, .missingTargets, .stillLinked, .notUnique, .modelMismatch,
      .modelChanged, .migrationUnderWay, .notReverted, .formatTooNew, .notAStore,
      .foreignObject, .invalidChange,
      .missing,
      .invalidModel, .query, .metadataExists, .duplicateValues, .duplicatesBuilt,
      .interrupted:
      false
    }
  }
}
