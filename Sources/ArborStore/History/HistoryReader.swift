internal import ArborModel
internal import LMDB

/// Reads history entries, whether they are stored after the header or in the history database.
struct HistoryReader {
  let reader: TransactionReader
  let history: Database
  let schema: ModelSchema
  let header: HeaderRecord

  /// Returns the entry of a commit, or `nil` if it has been trimmed or does not exist yet.
  ///
  /// - Throws: `corrupted` if the entry is damaged.
  func entry(_ sequence: UInt64) throws(StoreError) -> HistoryEntry? {
    try withRecord(of: sequence) { (bytes) throws(StoreError) in try decode(bytes, sequence) }
  }

  /// Returns the bytes of a commit's entry, or `nil` if it has been trimmed or does not exist yet.
  func record(_ sequence: UInt64) throws(StoreError) -> [UInt8]? {
    try withRecord(of: sequence) { Array($0) }
  }

  private func withRecord<R>(
    of sequence: UInt64, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> R
  ) throws(StoreError) -> R? {
    guard sequence > header.sequence - header.latestCommits.count else {
      return try storing(reader.get(history, key: sequence)).map(body)
    }
    var found: R?
    try header.latestCommits.forEach(endingWith: header.sequence) {
      (index, bytes) throws(StoreError) in
      if index == sequence { found = try body(bytes) }
    }
    return found
  }

  /// Returns the oldest entry, or `nil` if the history is empty.
  ///
  /// - Throws: `corrupted` if the entry is damaged.
  func oldest() throws(StoreError) -> HistoryEntry? {
    let first = try storing(reader.cursor(history).first()?.integerKey)
    if let first { return try entry(first) }
    let count = header.latestCommits.count
    return count > 0 ? try entry(header.sequence - count + 1) : nil
  }

  private func decode(
    _ bytes: UnsafeRawBufferPointer, _ sequence: UInt64
  ) throws(StoreError) -> HistoryEntry {
    guard let entry = HistoryCodec.decode(bytes, sequence: sequence, schema) else {
      throw .corrupted(what: "The history's entry \(sequence) is damaged.")
    }
    return entry
  }
}
