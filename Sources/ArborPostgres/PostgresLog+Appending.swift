internal import ArborLocks
public import ArborLog
public import ArborModel
internal import Foundation

extension PostgresLog {
  static let largestBody = 512 << 20

  /// Appends an entry if its predecessor is the newest entry.
  ///
  /// Needs one round trip, or two if another entry was appended first and the previous call
  /// succeeded. If a response is lost, the call is retried within the timeout, on another server if
  /// necessary. A response with a warning, for example because waiting for standbys was cancelled,
  /// counts as lost.
  ///
  /// - Returns: `AppendResult.unknown` if the outcome could not be determined within the timeout.
  ///   The entry may still be added to the log later.
  /// - Throws: `ArborError` `logUnavailable` if the entry is not in the log; `invalidArgument` for
  ///   an empty body, a body of more than 512 MiB, a first sequence of 0, a last sequence before
  ///   the first one, or a sequence above 2⁶³ - 1.
  public func append(_ entry: CommitLogEntry) throws(ArborError) -> AppendResult {
    guard isPossible(entry) else {
      throw ArborError(
        .invalidArgument,
        "The log \(name) doesn't accept an entry of \(entry.body.count) bytes for the commits "
          + "\(entry.first) to \(entry.last). Use 1 to \(Self.largestBody) bytes, and ascending "
          + "commits from 1 to \(Int64.max).")
    }
    let first = PostgresValue.integer(Int64(entry.first))
    let append = PostgresStatement(
      entryTexts.append, .text(store), first, .integer(Int64(entry.last)), .uuid(entry.batch),
      .bytes(entry.previous.bytes), .bytes(entry.digest.bytes), .bytes(entry.body))
    let newer = PostgresStatement(entryTexts.newer, .text(store), first, .uuid(entry.batch))
    let outcome = try attempt(bytes: entry.body.count) {
      (connection, deadline) throws(PostgresFailure) -> AppendResult in
      try add(entry, append, newer, over: connection, deadline)
    }
    guard case .done(let appended) = outcome else {
      doubted.withLock { _ = $0.insert(entry.batch) }
      return .unknown
    }
    doubted.withLock { _ = $0.remove(entry.batch) }
    if appended == .written { notifier.send() }
    return appended
  }

  private func add(
    _ entry: CommitLogEntry, _ append: PostgresStatement, _ newer: PostgresStatement,
    over connection: PostgresConnection, _ deadline: Deadline
  ) throws(PostgresFailure) -> AppendResult {
    // Selecting the newer entries costs the server as much as appending. They are requested in the
    // same round trip only if the last append was behind, too.
    let expectsLoss = lostLast.withLock { $0 }
    var results = try connection.run(expectsLoss ? [append, newer] : [append], deadline: deadline)
    let isLost = results[0].changedCount == 0
    if isLost != expectsLoss { lostLast.withLock { $0 = isLost } }
    if !isLost { return .written }
    if !expectsLoss { results += try connection.run([newer], deadline: deadline) }
    let found = try self.newer(results[1], than: entry)
    guard found == .written else { return found }
    // The entry is in the log, but its append was never acknowledged, so standbys may lack it. A
    // later transaction that waits for them confirms that they have it.
    let confirm = PostgresStatement(entryTexts.confirm, .text(store))
    do throws(PostgresFailure) { _ = try connection.run([confirm], deadline: deadline) } catch {
      throw error.leavesDoubt
        ? error : PostgresFailure(.doubtful, state: error.state, error.message)
    }
    return .written
  }

  /// Returns whether the database can store an entry.
  func isPossible(_ entry: CommitLogEntry) -> Bool {
    entry.first > 0 && entry.first <= entry.last && entry.last <= Int64.max
      && (1...Self.largestBody).contains(entry.body.count)
  }
}
