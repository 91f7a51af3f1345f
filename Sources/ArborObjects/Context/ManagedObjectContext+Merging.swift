public import ArborModel
internal import ArborWork

/// Taking in what other contexts and processes have committed.
extension ManagedObjectContext {
  /// Takes in what other contexts and processes have committed, as every operation does at its
  /// beginning: for a context that only waits.
  ///
  /// Objects that others have changed are read anew at their next use, those that others have
  /// deleted belong to the context no more, fetched results and observers are told. Pending changes
  /// stay; see ``mergePolicy``. With ``automaticallyMergesCommits`` off this is the way to take
  /// commits in.
  ///
  /// ```swift
  /// for await _ in store.changes {
  ///   if try context.takeInCommits() { view.show(results.objects) }
  /// }
  /// ```
  ///
  /// - Returns: Whether there were commits of others that had not been taken in. Inside of
  ///   ``withSnapshot(_:)``, which sees none: false.
  /// - Throws: ``ArborError`` `closed`, and what the store reports.
  /// - Complexity: Linear in the changes of those commits.
  @discardableResult
  public func takeInCommits() throws(ArborError) -> Bool {
    try beginOperation()
    return try takeInNewestCommits(always: true)
  }

  /// Takes in the newest commits, also of processes of which no news has come yet.
  ///
  /// - Parameter always: Also where that does not happen by itself.
  @discardableResult
  func takeInNewestCommits(always: Bool) throws(ArborError) -> Bool {
    guard work.pinned == nil else { return false }
    let isAutomatic = automaticallyMergesCommits
    if always { automaticallyMergesCommits = true }
    defer { automaticallyMergesCommits = isAutomatic }
    let former = work.sequence
    let own = work.ownSequences
    try onSnapshot { _ in }
    guard work.sequence > former else { return false }
    return work.sequence - former > own.count { $0 > former && $0 <= work.sequence }
  }
}
