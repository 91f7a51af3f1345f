internal import ArborLocks
public import ArborLog
public import ArborModel
internal import Foundation

extension PostgresLog {
  static let largestBody = 512 << 20

  /// Adds an entry, where its predecessor is the newest one, in one round trip; in two, where it is
  /// not and the call before added one.
  ///
  /// Where an answer is lost, it asks again within its time, on another server if need be. An
  /// answer that comes with a warning, as of a wait for standbys that was cancelled, counts as
  /// none.
  ///
  /// - Returns: `AppendResult.unknown` where nobody could say until the time was over; the entry may
  ///   still come to be in the log then.
  /// - Throws: `ArborError` `logUnavailable` where the entry is not in the log; `invalidArgument`
  ///   for one that no log takes: without a body, with more than 512 MiB, or with a last sequence
  ///   before its first one or above 2⁶³ - 1.
  public func append(_ entry: CommitLogEntry) throws(ArborError) -> AppendResult {
    guard isPossible(entry) else {
      throw ArborError(
        .invalidArgument,
        "The log \(name) doesn't accept an entry of \(entry.body.count) bytes from \(entry.first) "
          + "to \(entry.last). Use 1 to \(Self.largestBody) bytes, and a last sequence not before "
          + "the first one.")
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
    // What a loser needs takes a server as long as adding does. A store that won the last
    // time asks for it only after a loss.
    let expectsLoss = lostLast.withLock { $0 }
    var results = try connection.run(expectsLoss ? [append, newer] : [append], deadline: deadline)
    let isLost = results[0].changedCount == 0
    if isLost != expectsLoss { lostLast.withLock { $0 = isLost } }
    if !isLost { return .written }
    if !expectsLoss { results += try connection.run([newer], deadline: deadline) }
    let found = try self.newer(results[1], than: entry)
    guard found == .written else { return found }
    // It was there, but the store that put it there had no answer: standbys may not have it. A
    // transaction that ends after it has waited for them says that they do.
    let confirm = PostgresStatement(entryTexts.confirm, .text(store))
    do throws(PostgresFailure) { _ = try connection.run([confirm], deadline: deadline) } catch {
      throw error.leavesDoubt
        ? error : PostgresFailure(.doubtful, state: error.state, error.message)
    }
    return .written
  }

  /// Whether a log takes such entries.
  func isPossible(_ entry: CommitLogEntry) -> Bool {
    entry.first > 0 && entry.first <= entry.last && entry.last <= Int64.max
      && (1...Self.largestBody).contains(entry.body.count)
  }
}
