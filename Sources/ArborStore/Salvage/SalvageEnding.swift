internal import ArborFoundation
internal import ArborModel
internal import LMDB

/// Writes the metadata of a salvaged store: counters above all numbers found, application metadata,
/// a history that makes readers of the damaged store treat everything as changed, and the header.
struct SalvageEnding {
  let source: SalvageSource
  let target: SalvageTarget

  /// The start of the application's unique numbers if their counter is lost: above any number that
  /// can have been assigned.
  private static let firstUniqueID: UInt64 = 1 << 48
  /// The distance by which possibly outdated counters are raised. It exceeds any increase since the
  /// surviving pages were written.
  private static let margin: UInt64 = 1 << 20

  /// - Parameters:
  ///   - greatest: The greatest sequence number found, by entity number.
  ///   - expected: The number of objects according to the trees, by entity number. At least that
  ///     many numbers have been assigned.
  ///   - commit: The greatest commit that a record names.
  func write(
    greatest: [UInt16: UInt64], expected: [UInt16: UInt64], commit: UInt64,
    _ outcome: inout SalvageOutcome
  ) throws(StoreError) {
    // If the last page of the counters may be lost, the values found may be outdated.
    let margin = source.isArborWhole ? 0 : Self.margin
    let counters = source.entries.counters.mapValues { $0 + margin }
    // A damaged tree record may contain any count, but there cannot be more objects than fit in the
    // file.
    let maximumObjects =
      source.file.pageCount * UInt64(source.file.pageSize / RecordLayout.headerSize)
    let uniqueID = counters[StoreFormat.uniqueIDCounter]
    outcome.isUniqueIDLost = uniqueID == nil
    outcome.doubtfulMetadata = source.entries.metadata.filter { $0.value.rank < .current }
      .map(\.key).sorted()
    try target.write { (transaction) throws(StoreError) in
      let arbor = target.databases.arbor
      for plan in target.entities {
        let name = StoreFormat.objectCounter(plan.entity.number)
        let number = plan.entity.number
        let given = max(greatest[number] ?? 0, min(expected[number] ?? 0, maximumObjects))
        let met = given + 1 + margin
        try StoreCounter.raise(name, to: max(met, counters[name] ?? 1), arbor, transaction)
      }
      try StoreCounter.raise(
        StoreFormat.uniqueIDCounter, to: uniqueID ?? Self.firstUniqueID, arbor, transaction)
      for (key, found) in source.entries.metadata {
        try StoreCreation.put(StoreFormat.applicationKey(key), found.bytes, arbor, transaction)
      }
      try storing(transaction.deleteDatabase(target.doubtful))
      try writeHeader(after: commit, transaction)
    }
  }

  /// Writes the header. The sequence number continues after that of the damaged store, with commits
  /// that may have changed everything, so that logs and tokens of the damaged store are not
  /// mistaken for those of this one. If the last header may be lost, the sequence number skips far
  /// ahead. Of earlier commits, only their existence is recorded.
  ///
  /// - Parameter commit: The greatest commit that a record names.
  private func writeHeader(
    after commit: UInt64, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    var header = try StoreHeader.read(transaction.reader)
    let step = source.isHeaderCertain ? 1 : Self.margin
    let last = min(
      max(source.header?.sequence ?? 0, commit) + step, HeaderRecord.maximumCommits)
    let first = last >= StoreFormat.historyLength ? last - StoreFormat.historyLength : 0
    header.sequence = first
    while header.sequence < last {
      header.sequence += 1
      let entry = CommitHistory.everything.encoded(
        sequence: header.sequence, date: Date(), target.schema)
      try storing(
        CommitHistory.write(entry, behind: &header, target.databases.history, transaction))
    }
    header.transactionID = transaction.id
    header.bootID = StoreHeader.bootID
    try StoreHeader.write(header, in: transaction)
  }
}
