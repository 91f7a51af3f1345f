internal import ArborFoundation
package import ArborModel
package import LMDB

extension StoreEngine {
  /// Returns the space usage of the store's file. Lists the readers that pin more than `limit`
  /// pages, or none if `limit` is `nil`.
  package func space(longReadersPinning limit: Int?) throws(StoreError) -> StoreSpace {
    // Before this call takes its own snapshot.
    let readers = try readers()
    let snapshot = try snapshot()
    defer { snapshot.close() }
    return try snapshot.space(readers, longReadersPinning: limit)
  }

  /// Returns the snapshots that processes hold of the store, oldest state first.
  package func readers() throws(StoreError) -> [StoreReader] {
    guard !hasEnded else { throw .closed }
    let held = try storing(path: path, environment.heldSnapshots())
    return describe(held)
  }

  /// Returns descriptions of snapshots that processes hold of this store.
  package func describe(_ held: [HeldSnapshot]) -> [StoreReader] {
    if held.isEmpty { return [] }
    // Readers are also listed for a store whose model has changed, but without dates.
    let snapshot = try? snapshot(reportsFindings: false)
    defer { snapshot?.close() }
    return held.map { held in
      StoreReader(
        processID: held.processID, processName: ProcessName.of(held.processID),
        transaction: held.transactionID,
        since: (try? snapshot?.date(ofCommitBack: held.transactionsBehind)) ?? nil,
        transactionsBehind: held.transactionsBehind, pinnedPages: held.pinnedPages,
        pinnedBytes: held.pinnedBytes)
    }
  }

  /// Ends the snapshots of dead processes and returns their number.
  package func clearStaleReaders() throws(StoreError) -> Int {
    guard !hasEnded else { throw .closed }
    return try storing(path: path, environment.endStaleSnapshots())
  }
}
