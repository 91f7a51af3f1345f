package import ArborLog
package import Foundation

/// Generates consecutive log entries with random bodies.
package struct LogHistory: Sendable {
  package let store: UUID
  package private(set) var sequence: UInt64
  package private(set) var digest: CommitLogDigest
  private var random: SeededRandom

  /// Creates a history that continues after a commit.
  ///
  /// - Parameter digest: The digest of everything up to `sequence`; `nil` for a random one.
  package init(
    store: UUID = UUID(), sequence: UInt64 = 0, digest: CommitLogDigest? = nil, seed: UInt64
  ) {
    self.store = store
    self.sequence = sequence
    random = SeededRandom(seed: seed)
    self.digest = digest ?? CommitLogDigest(bits: 0)
    if digest == nil { self.digest = newDigest() }
  }

  /// Returns a snapshot of the current state.
  package func snapshot() -> CommitLogSnapshot {
    CommitLogSnapshot(id: UUID(), store: store, sequence: sequence, digest: digest)
  }

  /// Returns an entry that could come next, without advancing the history.
  package mutating func draft(commits: UInt64 = 1, bytes: Int = 100) -> CommitLogEntry {
    let body = (0..<bytes).map { _ in UInt8.random(in: 0...255, using: &random) }
    return CommitLogEntry(
      batch: UUID(), first: sequence + 1, last: sequence + commits, previous: digest,
      digest: newDigest(), body: body)
  }

  /// Advances the history past an entry.
  package mutating func follow(_ entry: CommitLogEntry) {
    (sequence, digest) = (entry.last, entry.digest)
  }

  /// Appends a random entry and returns it.
  package mutating func next(commits: UInt64 = 1, bytes: Int = 100) -> CommitLogEntry {
    let entry = draft(commits: commits, bytes: bytes)
    follow(entry)
    return entry
  }

  private mutating func newDigest() -> CommitLogDigest {
    CommitLogDigest(bits: UInt128.random(in: 0...(.max), using: &random))
  }
}
