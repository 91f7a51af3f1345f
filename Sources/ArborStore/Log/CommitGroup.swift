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
