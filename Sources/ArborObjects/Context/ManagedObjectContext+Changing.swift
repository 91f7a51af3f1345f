public import ArborModel

extension ManagedObjectContext {
  /// Discards all uncommitted changes. Inserted objects are removed; changed and deleted objects
  /// return to the state they were last committed or fetched in.
  ///
  /// - Precondition: No commit is in progress.
  public func rollback() {
    guard !session.isInSavepoint else {
      stopProgram("rollback() was called during a commit or a seed. Throw an error instead.")
    }
    session.rollback()
  }

  /// Discards the uncommitted changes of one object, and keeps those of all others.
  ///
  /// An inserted object is removed, with the links to it. A changed object gets its committed
  /// properties and links back, and so does a deleted one. Links are restored at both ends, which
  /// changes the objects at the other end, except links to objects that are deleted. Objects whose
  /// deletion or insertion accompanied the discarded changes keep theirs; roll them back, too. Delete
  /// rules are not applied, and hooks are not called. Undo reverts it like any other change.
  ///
  /// ```swift
  /// do throws(ArborError) {
  ///   try context.commit()
  /// } catch {
  ///   guard error.code == .validation else { throw error }
  ///   for violation in error.violations {
  ///     guard let id = violation.objectID else { throw error }
  ///     try context.rollback(context.object(with: id))
  ///   }
  ///   try context.commit()
  /// }
  /// ```
  ///
  /// If the store cannot be read, the context's next throwing operation throws the error.
  ///
  /// - Parameter object: An object of this context. Nothing happens if it has no changes.
  public func rollback(_ object: ManagedObject) {
    guard object.session === session else { return }
    session.rollback(object)
  }

  /// Discards all objects and uncommitted changes. Objects that are still referenced keep their
  /// values but no longer belong to a context.
  public func reset() {
    guard !session.isInSavepoint else {
      stopProgram("reset() was called during a commit or a seed. Throw an error instead.")
    }
    session.blobs.forgetRetired()
    session.reset()
  }

  /// Reloads an object's values from the store when it is next read.
  ///
  /// Also resolves the conflict of new links of this object that were lost because another context
  /// or process deleted their target.
  ///
  /// - Parameters:
  ///   - object: An object of this context. An object that was deleted by another context or process
  ///     is removed, unless its changes are kept.
  ///   - mergeChanges: Whether the object's uncommitted changes are kept on top of the store's
  ///     values. Otherwise they are discarded as by ``rollback(_:)``, including an insertion or a
  ///     deletion.
  public func refresh(_ object: ManagedObject, mergeChanges: Bool = true) {
    guard object.session === session else { return }
    session.refresh(object, mergeChanges: mergeChanges)
  }

  /// Merges commits of other contexts and processes. Every operation does so when it starts; call
  /// this method in a context that is otherwise idle.
  ///
  /// Objects changed by other commits are reloaded at their next use. Objects deleted by them no
  /// longer belong to the context. Fetched results and observers are notified. Pending changes are
  /// kept; see ``mergePolicy``. If ``automaticallyMergesCommits`` is off, commits are merged only
  /// by calling this method.
  ///
  /// ```swift
  /// for await _ in store.changes {
  ///   if try context.mergeExternalCommits() { view.show(results.objects) }
  /// }
  /// ```
  ///
  /// - Returns: Whether there were commits to merge. Always `false` inside ``withSnapshot(_:)``,
  ///   which doesn't see them.
  /// - Throws: ``ArborError`` `closed`, and any error from the store.
  /// - Complexity: Linear in the number of changes in those commits.
  @discardableResult
  public func mergeExternalCommits() throws(ArborError) -> Bool {
    try session.beginOperation()
    return try session.mergeNewestCommits(always: true)
  }

  /// Runs `body` on a single MVCC snapshot of the store. All fetches and reads in it see the same
  /// commit, regardless of other commits in the meantime, and so do the context's objects.
  ///
  /// A commit of this context inside `body` advances the snapshot to the newest commit, including
  /// its own.
  ///
  /// A snapshot prevents pages of the file from being reused, so keep it short.
  ///
  /// - Throws: Any error thrown by `body`; otherwise ``ArborError`` for reads that failed,
  ///   including those of nonthrowing accessors.
  public func withSnapshot<R>(_ body: () throws -> R) throws -> R { try session.withSnapshot(body) }

  /// Runs `body`, and restores the pending changes if it throws or if a read fails.
  ///
  /// - Throws: The error of a failed read; otherwise any error thrown by `body`.
  @discardableResult
  package func withSavepoint<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    guard session.failure == nil else { return try session.withSavepoint(body) }
    do throws(E) {
      return try session.withSavepoint { () throws(E) in
        let result = try body()
        if let error = unread as? E { throw error }
        return result
      }
    } catch {
      // The error may be a consequence of a default value returned for a failed read. The rollback
      // has removed anything based on that value.
      guard let unread else { throw error }
      session.failure = nil
      throw unread as? E ?? error
    }
  }

  /// The number of edits since the outermost savepoint began, inside one.
  package var editCount: Int { session.log.count }

  /// Returns the objects that were changed since there were `count` edits, inside a savepoint.
  package func changedObjects(sinceEdit count: Int) -> Set<ObjectNumber> {
    session.log.changedObjects(from: count)
  }

  /// The error of a read that failed in nonthrowing code.
  private var unread: ArborError? { session.failure.map { ArborError($0.error, in: store.engine) } }
}
