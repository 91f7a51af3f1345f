package import ArborLog
import ArborModel
import Foundation
import Testing

/// The guarantees of every commit log, as checks that the tests of each implementation run.
package struct CommitLogContract {
  private let log: any CommitLog
  /// The same log as seen from another machine.
  private let other: any CommitLog
  private let folder: TemporaryFolder
  private let seed: UInt64

  /// - Parameters:
  ///   - log: A log that hasn't been started yet.
  ///   - other: Another instance for the same log, or the same instance.
  package init(_ log: any CommitLog, _ other: any CommitLog, seed: UInt64) throws {
    self.log = log
    self.other = other
    self.seed = seed
    folder = try TemporaryFolder()
  }

  /// Runs all checks.
  package func check() throws {
    var history = LogHistory(sequence: 7, seed: seed)
    let snapshot = try checkBeginning(&history)
    try checkAppending(&history)
    try checkEntries(after: snapshot)
    try checkCounters()
    try checkSnapshots(&history, snapshot)
  }

  private func checkBeginning(_ history: inout LogHistory) throws -> CommitLogSnapshot {
    #expect(try log.head() == nil)
    #expect(try log.newestSnapshot() == nil)
    #expect(try log.entries(after: 0, limit: 10) == [])
    #expect(try log.append(history.draft()) == .forked)
    let snapshot = history.snapshot()
    try log.publish(snapshot, in: try file(of: 3_000_000))
    #expect(try log.newestSnapshot() == nil)
    let entries = [history.next(), history.next(commits: 3)]
    #expect(try log.begin(with: snapshot, then: entries))
    #expect(try other.begin(with: snapshot, then: entries), "asked again")
    var stranger = LogHistory(store: history.store, sequence: 7, seed: seed + 1)
    let rival = stranger.snapshot()
    #expect(try !other.begin(with: rival, then: [stranger.next()]), "begun already")
    #expect(try other.head() == head(history))
    #expect(try other.entries(after: 7, limit: 10) == entries)
    #expect(try other.newestSnapshot() == snapshot)
    return snapshot
  }

  private func head(_ history: LogHistory) -> CommitLogHead {
    CommitLogHead(store: history.store, sequence: history.sequence, digest: history.digest)
  }

  private func checkAppending(_ history: inout LogHistory) throws {
    let loser = history.draft()
    let late = history.draft(commits: 2)
    let entry = history.next(commits: 2)
    #expect(try log.append(entry) == .written)
    #expect(try log.append(entry) == .written, "asked again")
    #expect(try other.append(loser) == .behind([entry]))
    let second = history.next()
    #expect(try other.append(second) == .written)
    #expect(try log.append(entry) == .written, "others have come behind it")
    #expect(try log.append(late) == .behind([entry, second]))
    #expect(try log.head() == head(history))

    // From a diverged history: another predecessor, the middle of an entry, and far ahead.
    let end = history.sequence
    for sequence in [end, entry.first, end + 5] {
      var stranger = LogHistory(store: history.store, sequence: sequence, seed: seed + 2)
      #expect(try log.append(stranger.draft()) == .forked, "behind \(sequence)")
    }
    #expect(try log.head() == head(history))
  }

  private func checkEntries(after snapshot: CommitLogSnapshot) throws {
    let all = try log.entries(after: snapshot.sequence, limit: 100)
    #expect(all.count == 4)
    for (entry, next) in zip(all, all.dropFirst()) {
      #expect(next.first == entry.last + 1)
      #expect(next.previous == entry.digest)
    }
    let two = try log.entries(after: all[0].last, limit: 2)
    #expect(!two.isEmpty && two.count <= 2)
    #expect(two == Array(all[1...].prefix(two.count)))
    #expect(try log.entries(after: all[3].last, limit: 1) == [])
    #expect(try log.entries(after: .max, limit: 1) == [])
  }

  private func checkCounters() throws {
    #expect(try log.reserve("numbers", 10, from: 5) == 5..<15)
    #expect(try other.reserve("numbers", 1, from: 1) == 15..<16)
    #expect(try log.reserve("numbers", 2, from: 100) == 100..<102)
    #expect(try log.reserve("others", 3, from: 0) == 0..<3)
    #expect(try other.counters() == ["numbers": 102, "others": 3])
  }

  private func checkSnapshots(
    _ history: inout LogHistory, _ first: CommitLogSnapshot
  ) throws {
    let bytes = 2 << 20 + 17
    let newer = history.snapshot()
    try other.publish(newer, in: try file(of: bytes))
    try other.publish(newer, in: try file(of: bytes))
    // A snapshot of commits that the log doesn't have, and one of a diverged history.
    var ahead = history
    _ = (ahead.draft(), ahead.next())
    try log.publish(ahead.snapshot(), in: try file(of: 10))
    let stranger = LogHistory(store: history.store, sequence: newer.sequence, seed: seed + 3)
    try log.publish(stranger.snapshot(), in: try file(of: 10))
    #expect(try log.newestSnapshot() == newer)
    for (snapshot, size) in [(first, 3_000_000), (newer, bytes)] {
      let copy = folder.url.appending(path: "copy \(snapshot.sequence)")
      try log.fetch(snapshot, to: copy)
      #expect(try Data(contentsOf: copy) == Data(contentsOf: try file(of: size)))
    }

    let entry = history.next()
    #expect(try log.append(entry) == .written)
    try log.trim(through: entry.last)
    #expect(try log.newestSnapshot() == newer)
    #expect(try log.entries(after: newer.sequence, limit: 10) == [entry], "behind the newest one")
    #expect(try log.entries(after: first.sequence, limit: 10).last == entry)
    #expect(throws: ArborError.self) {
      try log.fetch(first, to: folder.url.appending(path: "gone"))
    }
    #expect(try log.append(history.next()) == .written)
  }

  /// Returns a file of `size` bytes with reproducible contents.
  private func file(of size: Int) throws -> URL {
    let url = folder.url.appending(path: "of \(size)")
    if !FileManager.default.fileExists(atPath: url.path) {
      let block = Data((0..<4099).map { UInt8(truncatingIfNeeded: $0) })
      var data = Data()
      while data.count < size { data += block }
      try data.prefix(size).write(to: url)
    }
    return url
  }
}
