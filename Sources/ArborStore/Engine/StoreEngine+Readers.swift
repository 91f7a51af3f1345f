package import ArborModel
internal import Foundation
package import LMDB

extension StoreEngine {
  /// Returns what the store's file is made of, with the readers that pin more than a number of
  /// pages; nil for none.
  package func space(longReadersPinning limit: Int?) throws(StoreError) -> StoreSpace {
    // Before the snapshot that this takes itself.
    let readers = try readers()
    let snapshot = try snapshot()
    defer { snapshot.close() }
    return try snapshot.space(readers, longReadersPinning: limit)
  }

  /// Returns the snapshots that processes hold of the store, those of the oldest state first.
  package func readers() throws(StoreError) -> [StoreReader] {
    guard !hasEnded else { throw .closed }
    let held = try storing(path: path, environment.heldSnapshots())
    return describe(held)
  }

  /// Describes snapshots that processes hold of this store.
  package func describe(_ held: [HeldSnapshot]) -> [StoreReader] {
    if held.isEmpty { return [] }
    // Readers are listed in a store of another model too, which tells no dates.
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

  /// Ends the snapshots of processes that died; returns how many.
  package func clearStaleReaders() throws(StoreError) -> Int {
    guard !hasEnded else { throw .closed }
    return try storing(path: path, environment.endStaleSnapshots())
  }
}
