package import ArborFoundation
internal import ArborLocks
package import ArborModel
package import ArborStore

/// The log as used by a store's commits. Converts between entries and commits, retries if a
/// response was lost, and keeps counts.
package final class LogClient: SharedLog {
  /// The counts of a store's log operations since it was opened.
  package struct Counts: Sendable, Hashable {
    /// The sequence of the newest commit seen in the log so far.
    package var newest: UInt64 = 0
    package var appends: UInt64 = 0
    package var appendedCommits: UInt64 = 0
    package var lostRaces: UInt64 = 0
    package var takenOver: UInt64 = 0
    package var unknown: UInt64 = 0
  }

  package let log: any CommitLog
  /// The first pause before a retry. Later ones are longer.
  private let firstPause: Duration
  private let counted = Lock(Counts())
  /// The most recent batches and the sequences of their first commits, from which unknown outcomes
  /// are determined.
  private let batches = Lock<[(id: UUID, first: UInt64)]>([])
  private static let maximumBatches = 256

  package init(_ log: any CommitLog, firstPause: Duration = .milliseconds(5)) {
    self.log = log
    self.firstPause = firstPause
  }

  package var counts: Counts { counted.withLock { $0 } }

  // MARK: Appending

  package func append(_ group: LoggedGroup) throws(StoreError) -> Appending {
    let entry = CommitLogEntry(group)
    batches.withLock { batches in
      if batches.count == Self.maximumBatches { batches.removeFirst(Self.maximumBatches / 2) }
      batches.append((group.batch, group.first))
    }
    let answer: AppendResult
    do throws(ArborError) { answer = try append(asking: entry) } catch { throw .log(error) }
    switch answer {
    case .written:
      counted.withLock {
        $0.appends += 1
        $0.appendedCommits += entry.last - entry.first + 1
        $0.newest = max($0.newest, entry.last)
      }
      return .written
    case .behind(let entries):
      counted.withLock { $0.lostRaces += 1 }
      do throws(ArborError) { return .behind(try groups(entries)) } catch {
        return .refused(.log(error))
      }
    case .forked: return .refused(.log(forked(at: entry.first - 1)))
    case .unknown:
      counted.withLock { $0.unknown += 1 }
      return .unknown
    }
  }

  /// Appends an entry that doesn't come from a commit of the open store, such as a change of the
  /// model.
  ///
  /// - Returns: Whether it is in the log; `false` if other entries were appended first.
  /// - Throws: ``ArborError`` `forked`, `outcomeUnknown`, `logUnavailable`.
  func append(entry: CommitLogEntry) throws(ArborError) -> Bool {
    switch try append(asking: entry) {
    case .written: return true
    case .behind: return false
    case .forked: throw forked(at: entry.first - 1)
    case .unknown:
      throw ArborError(
        .outcomeUnknown,
        "It is unknown whether an entry was appended to the log \(log.name). Reopen the store once "
          + "the log is reachable again.")
    }
  }

  /// Appends an entry, and retries if the response was lost.
  private func append(asking entry: CommitLogEntry) throws(ArborError) -> AppendResult {
    var pause = firstPause
    var deadline: ContinuousClock.Instant?
    while true {
      do throws(ArborError) {
        let answer = try log.append(entry)
        switch answer {
        case .written, .forked: return answer
        case .behind(let entries):
          return entries.contains { $0.batch == entry.batch } ? .written : answer
        case .unknown: break
        }
      } catch {
        // Only for the first attempt does an error guarantee that nothing was appended.
        if deadline == nil { throw error }
      }
      let end = deadline ?? .now + log.waitLimit
      deadline = end
      guard .now < end else { return .unknown }
      usleep(UInt32(pause / .microseconds(1)))
      pause = min(pause * 2, .milliseconds(500))
    }
  }

  private func forked(at sequence: UInt64) -> ArborError {
    ArborError(
      .forked,
      "The log \(log.name) doesn't have the store's commit \(sequence), or has a different commit "
        + "with that number: the store and the log have diverged. Close and reopen the store, "
        + "which keeps the commits that the log doesn't have.")
  }

  /// Determines the outcome of a recent batch.
  ///
  /// - Returns: Whether it is in the log, or `nil` if that is not yet known or the batch is not
  ///   among the recent ones of this client.
  package func outcome(of batch: UUID) throws(ArborError) -> Bool? {
    let known = batches.withLock { $0.last { $0.id == batch } }
    guard let first = known?.first else { return nil }
    // Until another entry follows, the server may still append it.
    guard let entry = try log.entries(after: first - 1, limit: 1).first, entry.first == first
    else { return nil }
    return entry.batch == batch
  }

  // MARK: Reading

  package func groups(after sequence: UInt64) throws(StoreError) -> [LoggedGroup] {
    do throws(ArborError) {
      return try groups(try log.entries(after: sequence, limit: Self.maximumEntries))
    } catch {
      throw .log(error)
    }
  }

  private static let maximumEntries = 500

  /// Returns the sequence of the log's newest commit. Throws `forked` if the log ends before a
  /// position, or ends there with a different history.
  package func head(beyond position: SharedPosition) throws(ArborError) -> UInt64 {
    guard let head = try log.head() else { throw forked(at: position.sequence) }
    counted.withLock { $0.newest = head.sequence }
    guard head.sequence >= position.sequence else { throw forked(at: position.sequence) }
    if head.sequence == position.sequence, head.digest.bits != position.chain.bits {
      throw forked(at: position.sequence)
    }
    return head.sequence
  }

  /// Applies the log's newer commits to a store.
  ///
  /// - Returns: The sequence of the log's newest commit.
  /// - Throws: ``ArborError`` `forked`, `modelChanged`, `logUnavailable`; `StoreError`.
  package func catchUp(_ file: StoreEngine) throws -> UInt64 {
    guard let position = try file.position() else { throw StoreError.closed }
    let newest = try head(beyond: position)
    if newest > position.sequence { try file.takeOverNews() }
    return newest
  }

  /// - Throws: ``ArborError`` `modelChanged` if the first entry is a change of the model.
  private func groups(_ entries: [CommitLogEntry]) throws(ArborError) -> [LoggedGroup] {
    var groups: [LoggedGroup] = []
    for (index, entry) in entries.enumerated() {
      switch try entry.content(of: log) {
      case .commits(let commits):
        groups.append(
          LoggedGroup(
            batch: entry.batch, first: entry.first,
            before: CommitChain(bits: entry.previous.bits), commits: commits))
        continue
      case .model(_, let name):
        if groups.isEmpty {
          throw try modelChanged(to: name, before: entries.dropFirst(index + 1).first)
        }
      case .snapshot: if groups.isEmpty { throw try modelChanged(to: nil) }
      }
      break
    }
    if let last = groups.last?.last {
      counted.withLock { $0.newest = max($0.newest, last) }
    }
    return groups
  }

  package func noteTakenOver(_ count: Int) { counted.withLock { $0.takenOver += UInt64(count) } }

  /// Returns the error for a change of the model.
  ///
  /// - Parameter next: The entry after the change, which tells whether its migration failed.
  private func modelChanged(
    to name: String?, before next: CommitLogEntry? = nil
  ) throws(ArborError) -> ArborError {
    if case .snapshot(_, .some) = try next?.content(of: log) {
      return ArborError(
        .modelChanged,
        "A change of the model failed, and the log \(log.name) continues with a snapshot. Reading "
          + "still works; reopen the store to follow and commit.")
    }
    return ArborError(
      .modelChanged,
      "The log \(log.name) continues with another model\(name.map { ", \($0)" } ?? ""). Reading "
        + "still works; reopen the store with that model to follow and commit.")
  }

  package func reserve(
    _ counter: String, _ count: UInt64, from least: UInt64
  ) throws(StoreError) -> Range<UInt64> {
    do throws(ArborError) { return try log.reserve(counter, count, from: least) } catch {
      throw .log(error)
    }
  }

  /// Raises the store's counters above all numbers that any copy of the store has reserved.
  package func raiseCounters(of file: StoreEngine) throws {
    try file.raiseCounters(to: try log.counters())
  }
}
