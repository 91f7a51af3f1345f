internal import ArborStore

/// One commit in a log: its place in the order of all commits, and everything it takes to make it
/// again.
struct SegmentEntry: Sendable, Hashable {
  let sequence: UInt64
  /// What `LoggedCommitCodec` made, with its checksum.
  let body: [UInt8]
  /// What the history up to it comes to.
  let chain: CommitChain
}
