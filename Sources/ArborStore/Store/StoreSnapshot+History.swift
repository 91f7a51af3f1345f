internal import ArborModel
internal import LMDB

extension StoreSnapshot {
  /// The commits after a sequence, up to this snapshot's own.
  package func history(after last: UInt64) throws(StoreError) -> HistoryReading {
    guard last < sequence else { return .entries([]) }
    let reader = try reader
    let history = store.databases.history
    let cursor = try storing { () throws(LMDBError) in try reader.cursor(history) }
    var entry = try storing { () throws(LMDBError) in try cursor.seek(last + 1) }
    var entries: [HistoryEntry] = []
    var expected = last + 1
    while let found = entry {
      guard found.integerKey == expected else { return .tooOld }
      guard let decoded = HistoryCodec.decode(found.value, sequence: expected) else {
        throw .corrupted(
          entity: nil, object: nil, what: "The history's entry \(expected) is damaged.")
      }
      entries.append(decoded)
      expected += 1
      entry = try storing { () throws(LMDBError) in try cursor.next() }
    }
    return expected == sequence + 1 ? .entries(entries) : .tooOld
  }
}
