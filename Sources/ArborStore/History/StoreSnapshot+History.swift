internal import ArborFoundation
internal import ArborModel

extension StoreSnapshot {
  /// Returns the commits after a sequence number, up to that of this snapshot.
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

  /// Returns the first commit after a sequence number, for callers that process the history commit
  /// by commit.
  package func nextEntry(after last: UInt64) throws(StoreError) -> NextEntry {
    guard last < sequence else { return .none }
    guard let entry = try history().entry(last + 1) else { return .tooOld(sequence) }
    return .entry(entry)
  }

  /// Returns the history's bytes for a commit, or `nil` if it has been trimmed or does not exist.
  package func historyRecord(of sequence: UInt64) throws(StoreError) -> [UInt8]? {
    try history().record(sequence)
  }

  /// Returns the checksum of the history's bytes for a commit, or `nil` if it has been trimmed or
  /// does not exist.
  package func historyChecksum(of sequence: UInt64) throws(StoreError) -> UInt32? {
    guard let record = try historyRecord(of: sequence) else { return nil }
    return record.suffix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// Returns the sequence number of the oldest commit in the history, or `nil` if there isn't one.
  package func oldestCommit() throws(StoreError) -> UInt64? { try history().oldest()?.sequence }

  /// Returns the date of one of the last commits. If it has been trimmed, returns the date of the
  /// oldest remaining commit, or `nil` if there isn't one.
  ///
  /// - Parameter count: 1 for the newest commit, 2 for the one before it.
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
