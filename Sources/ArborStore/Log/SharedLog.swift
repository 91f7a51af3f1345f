package import Foundation

/// Commits that were judged together and enter a log as one.
package struct CommitGroup: Sendable, Hashable {
  /// Tells the group from every other, so that whoever lost an answer can ask for it.
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

  package var last: UInt64 { first + UInt64(commits.count) - 1 }

  /// What the history comes to with the group.
  package var chain: CommitChain {
    var chain = before
    for (place, commit) in commits.enumerated() {
      commit.withUnsafeBytes { chain.append(first + UInt64(place), $0) }
    }
    return chain
  }
}

/// What came of adding a group to a log.
package enum Appending: Sendable {
  /// It is in the log, and will be in every copy.
  case written
  /// Others were faster: these come first.
  case behind([CommitGroup])
  /// It would follow the log's last group, which is another one than the store's.
  case forked
  /// Nobody knows: the answer was lost. Whoever adds the same group again learns it.
  case unknown
}

/// The one order of a store's commits, which every copy of the store follows.
///
/// A commit counts once its group is in the log; whoever adds one has seen everything before it.
package protocol SharedLog: Sendable {
  /// Adds a group, where it follows the newest one and has not been added yet. What it throws says
  /// that this call has added nothing.
  func append(_ group: CommitGroup) throws(StoreError) -> Appending
  /// The groups behind a sequence, oldest first: some of them, and none only where there are none.
  func groups(after sequence: UInt64) throws(StoreError) -> [CommitGroup]
  /// Takes numbers of a counter that nobody gets again, none of them below `least`.
  func reserve(
    _ counter: String, _ count: UInt64, from least: UInt64
  ) throws(StoreError) -> Range<UInt64>
}

/// How far a copy of a store has the log that it shares.
///
/// `sequence u64 · chain u128 · crc32c u32`, under the key `shared` of the store.
struct SharedPosition: Sendable, Hashable {
  let sequence: UInt64
  let chain: CommitChain

  func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(sequence)
    writer.append(chain.bits)
    writer.appendChecksum()
    return writer.bytes
  }

  init(sequence: UInt64, chain: CommitChain) {
    self.sequence = sequence
    self.chain = chain
  }

  /// nil for bytes that ``encoded()`` did not make.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard var reader = ByteReader(checked: bytes), let sequence: UInt64 = reader.read(),
      let chain: UInt128 = reader.read(), reader.isAtEnd
    else { return nil }
    self.init(sequence: sequence, chain: CommitChain(bits: chain))
  }
}
