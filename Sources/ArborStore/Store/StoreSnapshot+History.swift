internal import ArborModel
internal import LMDB

extension StoreSnapshot {
  /// The commits after a sequence, up to this snapshot's own.
  package func history(after last: UInt64) throws(StoreError) -> HistoryReading {
    guard last < sequence else { return .entries([]) }
    let history = try history()
    var entries: [HistoryEntry] = []
    for expected in last + 1...sequence {
      guard let entry = try history.entry(expected) else { return .tooOld }
      entries.append(entry)
    }
    return .entries(entries)
  }

  /// The first commit after a sequence, for those who take the history in one by one.
  package func nextEntry(after last: UInt64) throws(StoreError) -> NextEntry {
    guard last < sequence else { return .none }
    guard let entry = try history().entry(last + 1) else { return .tooOld(sequence) }
    return .entry(entry)
  }

  private func history() throws(StoreError) -> HistoryReader {
    let reader = try reader
    let header = try StoreHeader.read(reader, store.databases.arbor, path: store.path)
    return HistoryReader(reader, store, header: header)
  }
}
