/// How far a store check is.
package struct StoreCheckProgress: Sendable, Hashable {
  /// What is being checked, in the order of the check.
  package enum Stage: Sendable, Hashable {
    /// The pages of the file, by plain reads.
    case pages
    /// The records of one entity.
    case records(String)
    /// The entries of the indexes.
    case indexes
    /// The members of to-many relationships.
    case relationships
    /// The digests of the databases.
    case digests
  }

  package typealias Reporter = (StoreCheckProgress) -> Void

  package let stage: Stage
  /// How much of the stage is done, of ``total``: records, indexes or relationships.
  package let done: Int
  package let total: Int

  /// After how many records progress is told again.
  static let interval = 4096
}
