public import ArborLog
public import ArborModel

/// How far a store has the log that it shares with other machines, and what it had to do with it
/// since it was opened.
public struct SharingStatus: Sendable {
  /// The log.
  public let log: any CommitLog
  /// The newest commit of the log that was seen.
  public let newest: UInt64
  /// The newest commit that the store has.
  public let sequence: UInt64
  /// How many entries were added: groups of commits that were made together.
  public let appends: UInt64
  /// How many commits were in them.
  public let appendedCommits: UInt64
  /// How often somebody else was faster, so that commits were validated again.
  public let lostRaces: UInt64
  /// How many entries of others were taken over.
  public let takenOver: UInt64
  /// How many appends ended without anybody knowing whether they are in the log.
  public let unknownOutcomes: UInt64
  /// What keeps the store from following; nil while it does. Where it passes by itself, such as a
  /// server that cannot be reached, the store goes on the next time it looks.
  public let problem: ArborError?

  /// How many commits the store is behind what was seen of the log.
  public var lag: UInt64 { newest > sequence ? newest - sequence : 0 }
}

extension SharingStatus {
  /// What became of commits of which nobody knew whether they were in the log.
  public enum CommitOutcome: Sendable, Hashable {
    /// They are in the log, and in every copy of the store.
    case committed
    /// They are not, and never will be.
    case notCommitted
    /// It cannot be told yet: nothing has followed them in the log.
    case unknown
  }
}
