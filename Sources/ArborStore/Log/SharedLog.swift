/// The result of appending a group to a log.
package enum Appending: Sendable {
  /// The group is in the log and will be replicated to every copy.
  case written
  /// Other groups were appended first and have to be applied before this one.
  case behind([LoggedGroup])
  /// The group is not in the log, and the store cannot apply the log's groups.
  case refused(StoreError)
  /// The outcome is unknown: the response was lost, and querying it failed.
  case unknown
}

/// The total order of a store's commits, which every copy of the store follows.
///
/// A commit is effective once its group is in the log. A store that appends one has applied all
/// earlier groups.
package protocol SharedLog: Sendable {
  /// Appends a group if it follows the newest one and has not been appended yet. If this throws,
  /// the call has appended nothing.
  func append(_ group: LoggedGroup) throws(StoreError) -> Appending
  /// Returns groups after a sequence number, oldest first: some or all of them, but at least one if
  /// there are any.
  func groups(after sequence: UInt64) throws(StoreError) -> [LoggedGroup]
  /// Reserves numbers from a counter, none of them below `least`. A number is never reserved twice.
  func reserve(
    _ counter: String, _ count: UInt64, from least: UInt64
  ) throws(StoreError) -> Range<UInt64>
  /// Records that the store has applied a number of groups of other stores.
  func noteTakenOver(_ count: Int)
}
