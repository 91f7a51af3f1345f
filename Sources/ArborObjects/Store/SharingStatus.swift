public import ArborLog
public import ArborModel

/// The state of a store that shares a log with other machines, and counters since it was opened.
public struct SharingStatus: Sendable {
  /// The log.
  public let log: any CommitLog
  /// The sequence of the newest commit seen in the log.
  public let newest: UInt64
  /// The sequence of the newest commit in the store.
  public let sequence: UInt64
  /// The number of appended entries. Each contains a group of commits.
  public let appends: UInt64
  /// The number of commits in the appended entries.
  public let appendedCommits: UInt64
  /// The number of times another machine appended first, so that commits had to be validated again.
  public let lostRaces: UInt64
  /// The number of entries received from other machines.
  public let takenOver: UInt64
  /// The number of appends whose outcome is unknown.
  public let unknownOutcomes: UInt64
  /// The error that prevents the store from following the log, or `nil`. The store recovers by
  /// itself if the problem is temporary, such as an unreachable server.
  public let problem: ArborError?

  /// The number of commits that were seen in the log but are not yet in the store.
  public var lag: UInt64 { newest > sequence ? newest - sequence : 0 }
}

extension SharingStatus {
  /// The outcome of commits that failed with `outcomeUnknown`.
  public enum CommitOutcome: Sendable, Hashable {
    /// They are in the log, and in every copy of the store.
    case committed
    /// They are not in the log and never will be.
    case notCommitted
    /// Not known yet, because no later entry has been appended to the log.
    case unknown
  }
}
