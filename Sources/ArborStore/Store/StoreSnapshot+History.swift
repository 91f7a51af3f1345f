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

  /// The first commit after a sequence, for those who take the history in one by one.
  package func nextEntry(after last: UInt64) throws(StoreError) -> NextEntry {
    guard last < sequence else { return .none }
    let reader = try reader
    let history = store.databases.history
    let found = try storing { () throws(LMDBError) in try reader.get(history, key: last + 1) }
    guard let found else { return .tooOld(sequence) }
    guard let entry = HistoryCodec.decode(found, sequence: last + 1) else {
      throw .corrupted(
        entity: nil, object: nil, what: "The history's entry \(last + 1) is damaged.")
    }
    return .entry(entry)
  }
}
