internal import ArborModel
internal import Foundation
internal import LMDB

/// Writes what a salvaged store says of itself: counters above everything that was met, metadata,
/// a history that tells those who knew the damaged store to take everything as changed, and the
/// header.
struct SalvageEnding {
  let source: SalvageSource
  let target: SalvageTarget

  /// Where the application's unique numbers go on when their counter is lost: above any that a
  /// program can have been given.
  private static let firstUniqueID: UInt64 = 1 << 48
  /// How far behind what was met counts go on that may have been further: more than was counted
  /// since the pages were written that are left.
  private static let margin: UInt64 = 1 << 20

  /// - Parameters:
  ///   - greatest: The greatest sequence that was met, by the numbers of entities.
  ///   - expected: How many objects the trees say that they have, by the numbers of entities: as
  ///     many numbers at least were given out.
  func write(
    greatest: [UInt16: UInt64], expected: [UInt16: UInt64], _ outcome: inout SalvageOutcome
  ) throws(StoreError) {
    // Where the last page of the counters may be lost, those that were found are older.
    let margin = source.isArborWhole ? 0 : Self.margin
    let counters = source.entries.counters.mapValues { $0 + margin }
    // A tree whose record is damaged may say any number, but has no more than fit into the file.
    let mostObjects = source.file.pageCount * UInt64(source.file.pageSize / RecordLayout.headerSize)
    let uniqueID = counters[StoreFormat.uniqueIDCounter]
    outcome.isUniqueIDLost = uniqueID == nil
    outcome.doubtfulMetadata = source.entries.metadata.filter { $0.value.rank < .current }
      .map(\.key).sorted()
    try target.write { (transaction) throws(StoreError) in
      let arbor = target.databases.arbor
      for plan in target.entities {
        let name = StoreFormat.objectCounter(plan.entity.number)
        let number = plan.entity.number
        let given = max(greatest[number] ?? 0, min(expected[number] ?? 0, mostObjects))
        let met = given + 1 + margin
        try StoreCounter.raise(name, to: max(met, counters[name] ?? 1), arbor, transaction)
      }
      try StoreCounter.raise(
        StoreFormat.uniqueIDCounter, to: uniqueID ?? Self.firstUniqueID, arbor, transaction)
      for (key, found) in source.entries.metadata {
        try StoreCreation.put(StoreFormat.applicationKey(key), found.bytes, arbor, transaction)
      }
      try storing(transaction.deleteDatabase(target.doubtful))
      try writeHeader(transaction)
    }
  }

  /// The sequence goes on behind that of the damaged store, or far behind it where the last header
  /// may be lost, with a commit that changed everything,
  /// so that neither its logs nor its tokens are taken for this one's. The commits before are known
  /// to have been, and no more.
  private func writeHeader(_ transaction: borrowing WriteTransaction) throws(StoreError) {
    var header = try StoreHeader.read(transaction.reader)
    let step = source.isHeaderCertain ? 1 : Self.margin
    let last = min((source.header?.sequence ?? 0) + step, HeaderRecord.mostCommits)
    let first = last >= StoreFormat.historyLength ? last - StoreFormat.historyLength : 0
    header.sequence = first
    while header.sequence < last {
      header.sequence += 1
      let entry = CommitHistory.everything.encoded(sequence: header.sequence, target.schema)
      try storing(
        CommitHistory.write(entry, behind: &header, target.databases.history, transaction))
    }
    header.transactionID = transaction.id
    header.bootID = StoreHeader.bootID
    try StoreHeader.write(header, in: transaction)
  }
}
