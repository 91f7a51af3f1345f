internal import ArborLocks
public import ArborLog
public import ArborModel
internal import Foundation

extension PostgresLog {
  /// Returns the entries after a sequence, oldest first: at most 500, and about 16 MiB.
  ///
  /// An entry whose append was not acknowledged is returned once it is durable.
  ///
  /// - Throws: `ArborError` `logUnavailable`; `invalidArgument` for a limit below 1; `corrupted`
  ///   for rows that a log doesn't write.
  public func entries(after sequence: UInt64, limit: Int) throws(ArborError) -> [CommitLogEntry] {
    guard limit > 0 else {
      throw ArborError(
        .invalidArgument, "The limit of \(limit) entries is not valid. Use at least 1.")
    }
    // A larger sequence cannot occur in the database.
    guard let sequence = Int64(exactly: sequence) else { return [] }
    let limit = Int64(min(limit, EntryTexts.maximumEntries))
    let rows = try read(
      PostgresStatement(entryTexts.behind, .text(store), .integer(sequence), .integer(limit)),
      bytes: EntryTexts.maximumBytes)
    let entries = try (0..<rows.count).map { (row) throws(ArborError) in
      let found = try entry(rows, row)
      return found.entry(body: rows.bytes(row, 5) ?? [])
    }
    try confirm(entries)
    return entries
  }

  /// Waits until entries whose append returned `AppendResult.unknown` are durable, because
  /// returning them acknowledges them.
  private func confirm(_ entries: [CommitLogEntry]) throws(ArborError) {
    let found = doubted.withLock { doubted in
      doubted.isEmpty ? [] : doubted.intersection(entries.map(\.batch))
    }
    guard !found.isEmpty else { return }
    _ = try read(PostgresStatement(entryTexts.confirm, .text(store)))
    doubted.withLock { $0.subtract(found) }
  }

  /// Returns the result of a failed append, given the rows of the entry before its first commit, if
  /// there is one, and of later entries.
  func newer(_ rows: PostgresResult, than entry: CommitLogEntry) throws(PostgresFailure)
    -> AppendResult
  {
    var newer: [CommitLogEntry] = []
    for row in 0..<rows.count {
      let found: EntryRow
      do { found = try self.entry(rows, row) } catch { throw PostgresFailure(error) }
      if found.first < entry.first {
        // The expected predecessor is not the one in the log: the histories differ.
        guard found.last == entry.first - 1, found.digest == entry.previous else { return .forked }
      } else if found.batch == entry.batch {
        return .written
      } else if let body = rows.bytes(row, 5), !body.isEmpty {
        newer.append(found.entry(body: body))
      }
    }
    if !newer.isEmpty { return .behind(newer) }
    // The predecessor is the newest entry, yet nothing was inserted: it was added between the two
    // statements.
    if rows.count == 1, rows.number(0, 0) ?? entry.first < entry.first {
      throw PostgresFailure(.refused, state: "40001", "The log changed in the meantime")
    }
    return .forked
  }

  // MARK: Rows

  /// An entry without its body.
  struct EntryRow {
    let batch: UUID
    let first: UInt64
    let last: UInt64
    let previous: CommitLogDigest
    let digest: CommitLogDigest

    func entry(body: [UInt8]) -> CommitLogEntry {
      CommitLogEntry(
        batch: batch, first: first, last: last, previous: previous, digest: digest, body: body)
    }
  }

  func entry(_ rows: PostgresResult, _ row: Int) throws(ArborError) -> EntryRow {
    guard let first = rows.number(row, 0), let last = rows.number(row, 1), last >= first,
      let batch = rows.uuid(row, 2),
      let previous = rows.bytes(row, 3).flatMap({ CommitLogDigest(bytes: $0) }),
      let digest = rows.bytes(row, 4).flatMap({ CommitLogDigest(bytes: $0) })
    else { throw damaged("the row of entry \(rows.integer(row, 0) ?? 0) is damaged") }
    return EntryRow(batch: batch, first: first, last: last, previous: previous, digest: digest)
  }
}
