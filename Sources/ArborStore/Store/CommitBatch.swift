internal import ArborModel
internal import Foundation
internal import LMDB

/// Writes queued change sets in one transaction of the engine.
///
/// `@unchecked Sendable`: only the leader of the queue calls it, and the lead passes under the
/// queue's lock.
final class CommitBatch: @unchecked Sendable {
  private var workspace: CommitWorkspace?

  /// Writes what waits.
  ///
  /// - Parameter take: Gives what has come meanwhile; asked again until it gives nothing.
  /// - Returns: The tickets that are done, each with its result.
  func write(to store: StoreFile, _ take: () -> [CommitTicket]) -> [CommitTicket] {
    var tickets = take()
    var results: [Result<CommitReceipt, StoreError>] = []
    do throws(StoreError) {
      let workspace = try workspace(for: store)
      try store.write(topsUpNumbers: true) { (transaction, header) throws(StoreError) in
        // The closure runs again after the map has grown: results count anew, tickets stay.
        results.removeAll(keepingCapacity: true)
        var writer = CommitWriter(store: store, workspace: workspace, header: header)
        while results.count < tickets.count {
          results.append(
            try Self.write(tickets[results.count].set, &writer, transaction))
          if results.count == tickets.count { tickets += take() }
        }
        // Where every set was refused there is nothing to commit.
        if !writer.hasWritten, case .failure(let reason)? = results.last { throw reason }
        header = writer.header
      }
    } catch {
      results = tickets.indices.map { place in
        // A set that was refused for itself keeps its reason.
        if place < results.count, case .failure(let own) = results[place] { return .failure(own) }
        return .failure(error)
      }
    }
    workspace?.removeAll()
    for (place, ticket) in tickets.enumerated() {
      ticket.result = place < results.count ? results[place] : .failure(.closed)
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
    _ set: ChangeSet, _ writer: inout CommitWriter, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> Result<CommitReceipt, StoreError> {
    do throws(StoreError) {
      return .success(try writer.write(set, transaction))
    } catch {
      if error.spoilsTransaction { throw error }
      return .failure(error)
    }
  }
}

extension StoreError {
  /// Whether the error is of the engine, so that its transaction can not go on.
  fileprivate var spoilsTransaction: Bool {
    switch self {
    case .engine, .diskFull, .readOnly, .inputOutput, .closed, .inUse, .exhausted: true
    case .corrupted, .conflict, .missingTargets, .stillLinked, .notUnique, .modelMismatch,
      .modelChanged, .formatTooNew, .notAStore, .foreignObject, .invalidChange, .missing,
      .invalidModel, .query, .metadataExists, .duplicateValues:
      false
    }
  }
}
