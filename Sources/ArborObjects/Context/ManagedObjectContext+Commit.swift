public import ArborModel

extension ManagedObjectContext {
  /// Validates all changes and writes them in one transaction. If it throws, neither the store nor
  /// the context's pending changes are modified.
  ///
  /// Hooks run in this order: `willCommit`, repeated until nothing changes, then the validating
  /// hooks, then `didCommit`. Blocks until the commit is durable. In async code, use
  /// ``PersistentStore/perform(deadline:maximumRetries:_:)``. Afterwards, ``mergedObjects`` lists the
  /// insertions that were merged into other objects.
  ///
  /// - Throws: ``ArborError``: `validation` with every violation, including those of uniqueness
  ///   constraints; `notUnique` with both objects, if there is no other violation; `conflict` if
  ///   the merge policy is ``MergePolicy/error``, also for new links to objects deleted by other
  ///   commits; `diskFull`, `readOnly` and other errors from the store.
  public func commit() throws(ArborError) {
    var run = CommitRun(context: self)
    try run.run()
  }

  /// Returns the inserted objects that the last commit merged into an object. See
  /// ``mergedObjects``.
  public func objects(mergedInto id: ObjectID) -> Set<ObjectID> {
    Set(mergedObjects.filter { $0.value == id }.keys)
  }

  /// Commits together with a marker that can be written only once. If several contexts or processes
  /// commit the same marker, only the first succeeds.
  ///
  /// - Parameters:
  ///   - mark: The name of the marker, or `nil` for none. With a marker, the commit may be empty.
  ///   - metadata: Store metadata entries, which are written even if no object has changed.
  /// - Throws: `conflict` if the marker already exists, and the errors of ``commit()``.
  package func commit(
    marking mark: String?, metadata: [(key: String, value: [UInt8]?)] = []
  ) throws(ArborError) {
    var run = CommitRun(context: self)
    try run.run(marking: mark, metadata)
  }

  /// Validates all changes as a commit would, without writing anything.
  ///
  /// `willCommit` runs first, because it may fill in missing values; its changes are reverted
  /// afterwards. Unique values are checked against the newest commit. Conflicts with later commits
  /// are detected only by the commit itself. The time is linear in the number of changes.
  ///
  /// ```swift
  /// do throws(ArborError) { try context.validate() } catch { print(error.violations) }
  /// ```
  ///
  /// - Throws: ``ArborError`` `validation` with every violation, including those of uniqueness
  ///   constraints; `notUnique` if there is no other violation; or an error that prevents the
  ///   commit from starting.
  public func validate() throws(ArborError) { try CommitRun(context: self).validateOnly() }

  /// Validates the changes like ``validate()``, inside a savepoint.
  package func validateInSavepoint() throws(ArborError) {
    try CommitRun(context: self).validateAndRestore()
  }
}
