public import Foundation

/// What copies of a store add to the log that they share: commits that were made together, or a
/// change of the model.
///
/// A log keeps entries as they are and knows nothing of what is in them.
public struct LogEntry: Sendable, Hashable {
  /// Tells the entry from every other, so that a store that lost an answer can ask again.
  public let batch: UUID
  /// The sequence of its first commit.
  public let first: UInt64
  /// The sequence of its last commit: not before the first.
  public let last: UInt64
  /// What the history before it comes to: the ``digest`` of the entry before.
  public let previous: LogDigest
  /// What the history comes to with it.
  public let digest: LogDigest
  /// What it holds, with checksums of its own.
  public let body: [UInt8]

  /// Makes an entry of what a log kept of it.
  public init(
    batch: UUID, first: UInt64, last: UInt64, previous: LogDigest, digest: LogDigest, body: [UInt8]
  ) {
    self.batch = batch
    self.first = first
    self.last = last
    self.previous = previous
    self.digest = digest
    self.body = body
  }
}
