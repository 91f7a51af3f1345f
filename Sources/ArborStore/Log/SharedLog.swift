/// What came of adding a group to a log.
package enum Appending: Sendable {
  /// It is in the log, and will be in every copy.
  case written
  /// Others were faster: these come first.
  case behind([CommitGroup])
  /// It is not in the log, and the store cannot take over what is.
  case refused(StoreError)
  /// Nobody knows: the answer was lost, and nothing came of asking again.
  case unknown
}

/// The one order of a store's commits, which every copy of the store follows.
///
/// A commit counts once its group is in the log; a store that adds one has seen everything before
/// it.
package protocol SharedLog: Sendable {
  /// Adds a group, where it follows the newest one and has not been added yet. What it throws says
  /// that this call has added nothing.
  func append(_ group: CommitGroup) throws(StoreError) -> Appending
  /// The groups behind a sequence, oldest first: some of them, and none only where none exist.
  func groups(after sequence: UInt64) throws(StoreError) -> [CommitGroup]
  /// Takes numbers of a counter that nobody gets again, none of them below `least`.
  func reserve(
    _ counter: String, _ count: UInt64, from least: UInt64
  ) throws(StoreError) -> Range<UInt64>
  /// Counts groups of others that the store has made again.
  func noteTakenOver(_ count: Int)
}
