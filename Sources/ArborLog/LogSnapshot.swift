public import Foundation

/// What a log knows of a snapshot of its store: a whole file, from which new copies begin.
public struct LogSnapshot: Sendable, Hashable {
  /// Tells it from every other.
  public let id: UUID
  /// The identity of the store.
  public let store: UUID
  /// The newest commit in it.
  public let sequence: UInt64
  /// What the history up to that commit comes to.
  public let digest: LogDigest

  /// Makes the description of a snapshot.
  public init(id: UUID, store: UUID, sequence: UInt64, digest: LogDigest) {
    self.id = id
    self.store = store
    self.sequence = sequence
    self.digest = digest
  }
}
