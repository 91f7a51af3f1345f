package import ArborFoundation
internal import ArborModel

/// Commits that were validated together, as one group of the ``CommitQueue``, and are appended to a log
/// as a unit.
package struct LoggedGroup: Sendable, Hashable {
  /// The group's identifier. A store that got no response to its request uses it to query the
  /// outcome.
  package let batch: UUID
  /// The sequence number of the first commit. The numbers of the others follow consecutively.
  package let first: UInt64
  /// The hash chain of the history before the first commit.
  package let before: CommitChain
  /// The commits as encoded by `LoggedCommitCodec`.
  package let commits: [[UInt8]]

  package init(batch: UUID, first: UInt64, before: CommitChain, commits: [[UInt8]]) {
    self.batch = batch
    self.first = first
    self.before = before
    self.commits = commits
  }

  /// Splits the group after a sequence number. The second part is `nil` if there are no further
  /// commits.
  package func split(behind sequence: UInt64) -> (first: LoggedGroup, rest: LoggedGroup?) {
    let count = Int(sequence + 1 - first)
    guard count < commits.count else { return (self, nil) }
    let head = LoggedGroup(
      batch: batch, first: first, before: before, commits: Array(commits[..<count]))
    let rest = LoggedGroup(
      batch: UUID(), first: sequence + 1, before: head.chain, commits: Array(commits[count...]))
    return (head, rest)
  }

  /// Returns a unique identifier. `UUID()` opens and closes a system file on Linux, which takes a
  /// twentieth of the time of a commit.
  static func newBatch() -> UUID {
    // Version 4, variant 1 (RFC 9562): all other bits are random.
    let high = UInt64.random(in: 0...(.max)) & ~0xF000 | 0x4000
    let low = UInt64.random(in: 0...(.max)) >> 2 | 1 << 63
    // Memory safety: both types have 16 bytes without padding, and every bit pattern is valid.
    return UUID(uuid: unsafeBitCast((high.bigEndian, low.bigEndian), to: uuid_t.self))
  }

  package var last: UInt64 { first + UInt64(commits.count) - 1 }

  /// The hash chain of the history including the group.
  package var chain: CommitChain {
    var chain = before
    for (index, commit) in commits.enumerated() {
      commit.withUnsafeBytes { chain.append(first + UInt64(index), $0) }
    }
    return chain
  }
}

/// A hash that identifies a history: it depends on the sequence number, length and checksum of
/// every commit so far.
package struct CommitChain: Sendable, Hashable {
  private var hash: WideHash

  package var bits: UInt128 { hash.bits }

  /// Creates the beginning of a chain at a snapshot.
  package init(store: UUID, sequence: UInt64) {
    hash = WideHash()
    withUnsafeBytes(of: store.uuid) { for byte in $0 { hash.mix(byte) } }
    hash.mix(number: sequence)
  }

  package init(bits: UInt128) { hash = WideHash(bits: bits) }

  /// Extends the chain by a commit.
  package mutating func append(_ sequence: UInt64, _ body: UnsafeRawBufferPointer) {
    hash.mix(number: sequence)
    hash.mix(number: UInt64(body.count))
    // The last four bytes are the commit's checksum.
    for byte in body.suffix(4) { hash.mix(byte) }
  }
}
