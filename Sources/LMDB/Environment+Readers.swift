/// A snapshot that some process holds of a file.
package struct HeldSnapshot: Sendable, Hashable {
  package let processID: Int32
  /// The commit that it sees.
  package let transactionID: UInt64
  /// Later commits.
  package let transactionsBehind: Int
  /// Bytes of pages that later commits have replaced: none is used again while it lives.
  package let pinnedBytes: Int
}

extension Environment {
  /// The snapshots of all processes, those that see the oldest state first. Those of processes that
  /// died are ended. Costs a scan of the list of free pages.
  package func heldSnapshots() throws(LMDBError) -> [HeldSnapshot] {
    try checkStaleReaders()
    // Before the snapshot that this takes itself.
    let held = try readers()
    let transaction = try beginRead()
    let replaced = try replacedPages(in: transaction.reader)
    let pageSize = try info().pageSize
    var list: [HeldSnapshot] = []
    for reader in held {
      guard let id = reader.transactionID, id <= transaction.id else { continue }
      let pages = replaced.reduce(0) { $1.transactionID > id ? $0 + $1.count : $0 }
      list.append(
        HeldSnapshot(
          processID: reader.processID, transactionID: id,
          transactionsBehind: Int(clamping: transaction.id - id), pinnedBytes: pages * pageSize))
    }
    return list.sorted {
      ($0.transactionID, $0.processID) < ($1.transactionID, $1.processID)
    }
  }
}
