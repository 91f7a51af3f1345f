public import ArborModel

extension ManagedObjectContext {
  /// Validates all changes and writes them in one transaction, or throws and changes nothing:
  /// neither the store nor the context's pending changes.
  ///
  /// Hooks run in this order: `willCommit` until nothing new changes, the validating ones,
  /// then `didCommit`. Blocks until the commit is durable; async code uses
  /// ``PersistentStore/perform(retries:_:)``.
  ///
  /// - Throws: ``ArborError``: `validation` with every violation, those of uniqueness constraints
  ///   among them; `notUnique` naming both objects, where nothing else is wrong; `conflict` where
  ///   the policy is ``MergePolicy/error``, also for new links to what others have deleted;
  ///   `diskFull`, `readOnly` and what else the store reports.
  public func commit() throws(ArborError) {
    var run = CommitRun(context: self)
    try run.run()
  }

  /// Commits with a mark in the store, which no two commits can leave: of several the first is
  /// written, also by other processes.
  ///
  /// - Parameters:
  ///   - mark: The mark's name; nil: none. With a mark there need be no changes.
  ///   - metadata: Entries for the store itself, which are written even where no object changes.
  /// - Throws: `conflict` where the mark is there already, and what ``commit()`` throws.
  package func commit(
    marking mark: String?, metadata: [(key: String, value: [UInt8]?)] = []
  ) throws(ArborError) {
    var run = CommitRun(context: self)
    try run.run(marking: mark, metadata)
  }

  /// Checks all changes as a commit would, and writes nothing.
  ///
  /// `willCommit` runs first, since it may fill in what is missing; what it changed is taken back
  /// afterwards. Whether unique values are free is looked up in the newest commit; concurrent
  /// commits after it are found by the commit itself only. Linear in the number of changes.
  ///
  /// ```swift
  /// do { try context.validate() } catch { form.show(error.violations) }
  /// ```
  ///
  /// - Throws: ``ArborError`` `validation` with every violation, those of uniqueness constraints
  ///   among them; `notUnique` where nothing else is wrong; or what keeps a commit from beginning.
  public func validate() throws(ArborError) { try CommitRun(context: self).check() }
}
