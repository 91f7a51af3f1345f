public import ArborLog
public import ArborModel

/// How far a store has the log that it follows.
public struct Following: Sendable {
  /// The log.
  public let log: FolderLog
  /// The newest commit of the log that was seen.
  public let newest: UInt64
  /// The newest commit that the store has.
  public let sequence: UInt64
  /// What keeps the store from going on; nil while it does. Where it passes by itself, such as a
  /// folder that cannot be read, the store goes on the next time it looks.
  public let problem: ArborError?

  /// How many commits the store is behind what was seen of the log.
  public var lag: UInt64 { newest > sequence ? newest - sequence : 0 }
}
