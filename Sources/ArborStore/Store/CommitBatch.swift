internal import ArborModel
internal import Foundation
internal import LMDB

/// Writes queued change sets in one transaction of the engine.
///
/// `@unchecked Sendable`: only the leader of the queue calls it, and the lead passes under the
/// queue's lock.
final class CommitBatch: CommitBatchWriter, @unchecked Sendable {
  /// So many records fill hundreds of pages.
  private static let manyRecords = 1 << 12

  private var workspace: CommitWorkspace?

  /// What a log that is shared answered.
  private enum Answer {
    case none
    /// The store has begun to share a log, or ended it, while its transaction was waited for.
    case other
    case written(CommitGroup)
    case behind([CommitGroup])
  }

  func write(to store: StoreEngine, _ take: () -> [CommitTicket]) -> [CommitTicket] {
    var (tickets, validated) = (take(), 0)
    while true {
      var answer = Answer.none
      do throws(StoreError) {
        try write(&tickets, &validated, to: store, take, &answer)
        return tickets
      } catch {
        do throws(StoreError) {
          switch answer {
          case .behind(let groups):
            // What others did comes first, and everything is validated by it.
            let count = try store.takeOver(groups)
            store.sharedLog?.noteTakenOver(count)
            for ticket in tickets { ticket.result = nil }
            continue
          case .written(let group):
            // The log has them, so they are commits, whatever keeps them from this file.
            do throws(StoreError) { _ = try store.takeOver([group]) } catch {
              Self.tell(tickets, group, error)
            }
            return tickets
          case .other:
            for ticket in tickets { ticket.result = nil }
            continue
          case .none: throw error
          }
        } catch {
          for (index, ticket) in tickets.enumerated() {
            // A set that was refused for itself keeps its reason.
            if index < validated, case .failure? = ticket.result { continue }
            ticket.result = .failure(error)
          }
          return tickets
        }
      }
    }
  }

  private func write(
    _ tickets: inout [CommitTicket], _ validated: inout Int, to store: StoreEngine,
    _ take: () -> [CommitTicket], _ answer: inout Answer
  ) throws(StoreError) {
    let workspace = try workspace(for: store)
    if tickets.contains(where: { $0.set.records.count >= Self.manyRecords }) {
      try store.releaseFreedPages()
    }
    let log = store.sharedLog
    var transactionID: UInt64 = 0
    do throws(StoreError) {
      try store.write(topsUpNumbers: true, isLogged: log != nil) {
        (transaction, header) throws(StoreError) in
        // The closure runs again after the map has grown: results count anew, tickets stay. What
        // is in the log already is not added again.
        if case .written = answer { throw .behindLog }
        // A log begins within a transaction that this one may have waited for.
        guard (store.sharedLog == nil) == (log == nil) else {
          answer = .other
          throw .behindLog
        }
        transactionID = transaction.reader.id
        workspace.begin(transactionID)
        var writer = CommitWriter(
          store: store, workspace: workspace, header: header, logs: log != nil)
        try Self.write(&tickets, &validated, &writer, transaction, take)
        if let log, let logged = writer.logged, !logged.isEmpty {
          try Self.append(logged, behind: header, of: store, to: log, transaction, &answer)
        }
        header = writer.header
      }
    } catch {
      workspace.end(transactionID, isCommitted: false)
      throw error
    }
    workspace.end(transactionID, isCommitted: true)
  }

  /// Writes the sets one after the other, and those that are queued meanwhile.
  private static func write(
    _ tickets: inout [CommitTicket], _ validated: inout Int, _ writer: inout CommitWriter,
    _ transaction: borrowing WriteTransaction, _ take: () -> [CommitTicket]
  ) throws(StoreError) {
    validated = 0
    while validated < tickets.count {
      try write(tickets[validated], &writer, transaction)
      validated += 1
      if validated == tickets.count { tickets += take() }
    }
    // Where every set was refused there is nothing to commit.
    if !writer.hasWritten, case .failure(let reason)? = tickets.last?.result { throw reason }
  }

  /// Tells those whose sets the log has that this file does not have them.
  private static func tell(_ tickets: [CommitTicket], _ group: CommitGroup, _ reason: StoreError) {
    for ticket in tickets {
      guard case .success? = ticket.result else { continue }
      ticket.result = .failure(.inLogOnly(batch: group.batch, reason))
    }
  }

  /// Adds the commits of a transaction to the log that is shared, before it is committed here.
  private static func append(
    _ commits: [[UInt8]], behind header: HeaderRecord, of store: StoreEngine,
    to log: any SharedLog, _ transaction: borrowing WriteTransaction, _ answer: inout Answer
  ) throws(StoreError) {
    let position = try store.sharedPosition(transaction.reader, header)
    let group = CommitGroup(
      batch: CommitGroup.newBatch(), first: header.sequence + 1, before: position.chain,
      commits: commits)
    answer = try append(group, to: log)
    guard case .written = answer else { throw .behindLog }
    try store.write(position.after(group), transaction)
  }

  private static func append(
    _ group: CommitGroup, to log: any SharedLog
  ) throws(StoreError) -> Answer {
    switch try log.append(group) {
    case .written: return .written(group)
    case .behind(let groups): return .behind(groups)
    case .refused(let reason): throw reason
    case .unknown: throw .outcomeUnknown(batch: group.batch)
    }
  }

  private func workspace(for store: StoreEngine) throws(StoreError) -> CommitWorkspace {
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
  /// Whether the error is of the engine, so that its transaction cannot go on.
  fileprivate var spoilsTransaction: Bool {
    switch self {
    case .engine, .diskFull, .readOnly, .follower, .inputOutput, .closed, .inUse, .exhausted,
      .fileReplaced, .unsupportedEngine, .invalidPath, .behindLog, .outcomeUnknown,
      .inLogOnly, .log:
      true
    case .corrupted, .conflict, .missingTargets, .stillLinked, .notUnique, .modelMismatch,
      .modelChanged, .migrationUnderWay, .notReverted, .formatTooNew, .notAStore, .foreignObject,
      .invalidChange, .missing, .invalidModel, .query, .metadataExists, .duplicateValues,
      .duplicatesBuilt, .interrupted:
      false
    }
  }
}
