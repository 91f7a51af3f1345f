package import ArborLog
package import Foundation

/// Makes entries that follow one another, of nothing but random bytes.
package struct LogHistory: Sendable {
  package let store: UUID
  package private(set) var sequence: UInt64
  package private(set) var digest: CommitLogDigest
  private var random: SeededRandom

  /// A history that begins behind a commit.
  ///
  /// - Parameter digest: What everything before it comes to; nil for something of its own.
  package init(
    store: UUID = UUID(), sequence: UInt64 = 0, digest: CommitLogDigest? = nil, seed: UInt64
  ) {
    self.store = store
    self.sequence = sequence
    random = SeededRandom(seed: seed)
    self.digest = digest ?? CommitLogDigest(bits: 0)
    if digest == nil { self.digest = newDigest() }
  }

  /// A snapshot of what there is so far.
  package func snapshot() -> CommitLogSnapshot {
    CommitLogSnapshot(id: UUID(), store: store, sequence: sequence, digest: digest)
  }

  /// An entry that could come next; the history stays as it is.
  package mutating func draft(commits: UInt64 = 1, bytes: Int = 100) -> CommitLogEntry {
    let body = (0..<bytes).map { _ in UInt8.random(in: 0...255, using: &random) }
    return CommitLogEntry(
      batch: UUID(), first: sequence + 1, last: sequence + commits, previous: digest,
      digest: newDigest(), body: body)
  }

  /// Goes on behind an entry.
  package mutating func follow(_ entry: CommitLogEntry) {
    (sequence, digest) = (entry.last, entry.digest)
  }

  /// An entry that comes next.
  package mutating func next(commits: UInt64 = 1, bytes: Int = 100) -> CommitLogEntry {
    let entry = draft(commits: commits, bytes: bytes)
    follow(entry)
    return entry
  }

  private mutating func newDigest() -> CommitLogDigest {
    CommitLogDigest(bits: UInt128.random(in: 0...(.max), using: &random))
  }
}
