public import Foundation

/// How far a log is.
public struct LogHead: Sendable, Hashable {
  /// The identity of the store whose commits it holds.
  public let store: UUID
  /// The newest commit in it.
  public let sequence: UInt64
  /// What the history up to that commit comes to.
  public let digest: LogDigest

  /// Makes a head.
  public init(store: UUID, sequence: UInt64, digest: LogDigest) {
    self.store = store
    self.sequence = sequence
    self.digest = digest
  }
}
