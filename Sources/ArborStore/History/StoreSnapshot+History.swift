internal import ArborModel
internal import Foundation

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

  /// Returns when one of the last commits was made; of one that is forgotten, when the oldest was
  /// made that is remembered, and nil where none is.
  ///
  /// - Parameter count: 1 for the newest commit, 2 for the one before.
  func date(ofCommitBack count: Int) throws(StoreError) -> Date? {
    guard count > 0 else { return nil }
    let history = try history()
    let back = UInt64(count)
    if back <= sequence, let entry = try history.entry(sequence - back + 1) { return entry.date }
    return try history.oldest()?.date
  }

  private func history() throws(StoreError) -> HistoryReader {
    let reader = try reader
    let header = try StoreHeader.read(reader, path: store.path)
    return HistoryReader(
      reader: reader, history: store.databases.history, schema: store.schema, header: header)
  }
}
