internal import ArborModel
package import Foundation

/// Commits that were validated together and enter a log as one.
package struct CommitGroup: Sendable, Hashable {
  /// Tells the group from every other, so that a store that lost an answer can ask for it.
  package let batch: UUID
  /// The sequence of the first commit; the others follow.
  package let first: UInt64
  /// What the history before the first comes to.
  package let before: CommitChain
  /// What `LoggedCommitCodec` made of each.
  package let commits: [[UInt8]]

  package init(batch: UUID, first: UInt64, before: CommitChain, commits: [[UInt8]]) {
    self.batch = batch
    self.first = first
    self.before = before
    self.commits = commits
  }

  /// The commits up to one of them, and those behind it; nil where none exist.
  package func split(behind sequence: UInt64) -> (first: CommitGroup, rest: CommitGroup?) {
    let count = Int(sequence + 1 - first)
    guard count < commits.count else { return (self, nil) }
    let head = CommitGroup(
      batch: batch, first: first, before: before, commits: Array(commits[..<count]))
    let rest = CommitGroup(
      batch: UUID(), first: sequence + 1, before: head.chain, commits: Array(commits[count...]))
    return (head, rest)
  }

  /// A name that no other group has. `UUID()` opens and closes a file of the system on Linux, which
  /// is a twentieth of a commit.
  static func newBatch() -> UUID {
    // Version 4, variant 1 (RFC 9562): all other bits are random.
    let high = UInt64.random(in: 0...(.max)) & ~0xF000 | 0x4000
    let low = UInt64.random(in: 0...(.max)) >> 2 | 1 << 63
    // Sound: both are 16 bytes without padding, of which every value is one.
    return UUID(uuid: unsafeBitCast((high.bigEndian, low.bigEndian), to: uuid_t.self))
  }

  package var last: UInt64 { first + UInt64(commits.count) - 1 }

  /// What the history comes to with the group.
  package var chain: CommitChain {
    var chain = before
    for (index, commit) in commits.enumerated() {
      commit.withUnsafeBytes { chain.append(first + UInt64(index), $0) }
    }
    return chain
  }
}

/// A value that tells two histories apart: it follows from every commit before, by the sequence,
/// length and checksum of each.
package struct CommitChain: Sendable, Hashable {
  private var hash: WideHash

  package var bits: UInt128 { hash.bits }

  /// The beginning of a chain at a snapshot.
  package init(store: UUID, sequence: UInt64) {
    hash = WideHash()
    withUnsafeBytes(of: store.uuid) { for byte in $0 { hash.mix(byte) } }
    hash.mix(number: sequence)
  }

  package init(bits: UInt128) { hash = WideHash(bits: bits) }

  /// Goes on by a commit.
  package mutating func append(_ sequence: UInt64, _ body: UnsafeRawBufferPointer) {
    hash.mix(number: sequence)
    hash.mix(number: UInt64(body.count))
    // The last four bytes are the commit's checksum.
    for byte in body.suffix(4) { hash.mix(byte) }
  }
}
