public import ArborModel

extension ManagedObjectContext {
  /// Forgets all uncommitted changes: inserted objects are gone, changed and deleted ones are as
  /// they were last committed or fetched.
  ///
  /// - Precondition: No commit is under way.
  public func rollback() {
    guard !session.isInSavepoint else {
      stopProgram("rollback() was called during a commit or a seed. Throw an error instead.")
    }
    session.rollback()
  }

  /// Forgets all objects and uncommitted changes. Objects that somebody holds keep their values and
  /// belong to no context any more.
  public func reset() {
    guard !session.isInSavepoint else {
      stopProgram("reset() was called during a commit or a seed. Throw an error instead.")
    }
    session.blobs.forgetRetired()
    session.reset()
  }

  /// Lets an object take its values from the store anew at the next read.
  ///
  /// New links of the object that have gone with what others have deleted are no conflict any more.
  ///
  /// - Parameters:
  ///   - object: An object of this context; nothing happens for one that waits for its first commit
  ///     or for its deletion. One that others have deleted is gone, unless its changes are kept.
  ///   - mergeChanges: Whether the object's own uncommitted changes are kept on top of the store's
  ///     values, or forgotten.
  public func refresh(_ object: ManagedObject, mergeChanges: Bool = true) {
    guard object.session === session else { return }
    session.refresh(object, mergeChanges: mergeChanges)
  }

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
  ///   if try context.mergeExternalCommits() { view.show(results.objects) }
  /// }
  /// ```
  ///
  /// - Returns: Whether there were commits of others that had not been taken in. Inside of
  ///   ``withSnapshot(_:)``, which sees none: false.
  /// - Throws: ``ArborError`` `closed`, and what the store reports.
  /// - Complexity: Linear in the changes of those commits.
  @discardableResult
  public func mergeExternalCommits() throws(ArborError) -> Bool {
    try session.beginOperation()
    return try session.mergeNewestCommits(always: true)
  }

  /// Runs `body` on one view of the store: all fetches and reads inside see the same commit, however
  /// many others are written meanwhile. Objects have its values, too.
  ///
  /// A commit of this context inside moves the view on to the newest one, its own included.
  ///
  /// The view keeps old pages of the file alive; keep it short.
  ///
  /// - Throws: What `body` throws; else ``ArborError`` for what it could not read, also through
  ///   accessors that cannot throw.
  public func withSnapshot<R>(_ body: () throws -> R) throws -> R { try session.withSnapshot(body) }

  /// Runs `body`; where it throws, or could not read something, the pending changes are what they
  /// were before.
  ///
  /// - Throws: What `body` could not read, else what it throws.
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
      // A default in place of what could not be read may have led to another error. Nothing rests
      // on it any more.
      guard let unread else { throw error }
      session.failure = nil
      throw unread as? E ?? error
    }
  }

  /// What code that cannot throw could not read.
  private var unread: ArborError? { session.failure.map { ArborError($0.error, in: store.engine) } }
}
