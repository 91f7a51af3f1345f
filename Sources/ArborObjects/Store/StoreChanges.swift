internal import ArborStore

/// The commits of a store after a moment, one by one, and its migrations. See
/// ``PersistentStore/changes``.
///
/// This is the public sequence, whose elements are ``CommittedChanges``. It reads them from the
/// store's history and sleeps between them, until ``StoreObservers`` rings; that in turn is called
/// by the engine's `CommitNotifications`.
struct StoreChanges: AsyncSequence, Sendable {
  typealias Element = CommittedChanges
  typealias Failure = Never

  let follower: StoreFollower

  func makeAsyncIterator() -> Iterator { Iterator(follower: follower, last: follower.start) }

  /// Reads the history one commit at a time, when it is asked for the next: it keeps nothing but
  /// its position.
  struct Iterator: AsyncIteratorProtocol {
    let follower: StoreFollower
    /// The last commit that was given, or the newest one that needs not be.
    var last: UInt64
    /// What was given of the model.
    var model: ModelState?
    var isOver = false

    mutating func next() async -> CommittedChanges? { await next(isolation: nil) }

    mutating func next(isolation actor: isolated (any Actor)?) async -> CommittedChanges? {
      let (engine, bell) = (follower.observers.engine, follower.observers.bell)
      while !isOver, !Task.isCancelled, !bell.hasEnded {
        let token = bell.token
        let entry = try? read(engine)
        switch entry {
        case .entry(let entry):
          last = entry.sequence
          return CommittedChanges(entry, in: engine)
        case .tooOld(let newest):
          last = newest
          return CommittedChanges(upTo: newest)
        case Optional.some(.none), Optional.none:
          if let news = migration(of: engine) { return news }
          // The store is closed, or of a model by which it cannot be read on.
          guard entry != nil, model?.endsNews != true else {
            isOver = true
            break
          }
          await bell.sleep(past: token, isolation: actor)
        }
      }
      isOver = true
      return nil
    }

    /// What there is to tell of the model since the last time.
    private mutating func migration(of engine: StoreEngine) -> CommittedChanges? {
      let (former, state) = (model, engine.modelState)
      guard state != former else { return nil }
      model = state
      return CommittedChanges(upTo: last, MigrationNotice(state, after: former, of: engine))
    }

    private func read(_ engine: StoreEngine) throws(StoreError) -> NextEntry {
      let snapshot = try engine.snapshot(reportsFindings: false)
      defer { snapshot.close() }
      return try snapshot.nextEntry(after: last)
    }
  }
}

extension PersistentStore {
  /// Every commit to the store from now on, in their order, each once: those of this process and
  /// those of others.
  ///
  /// ```swift
  /// for await changes in store.changes {
  ///   guard changes.isComplete else { reloadAll(); continue }
  ///   for id in changes.updated { reload(id) }
  /// }
  /// ```
  ///
  /// The sequence begins when it is asked for, not when it is iterated; each of its iterators gives
  /// all of it. It reads the store's history as it is asked for the next element, so that somebody
  /// slow makes no memory grow. A task that falls back by more commits than the store remembers,
  /// which are 1,000 at least, gets one element in place of those that it missed, whose
  /// ``CommittedChanges/isComplete`` is false.
  ///
  /// Where another process migrates the store to another version of its model, an element says so,
  /// ``CommittedChanges/migration``: as a migration in a copy begins and where it is given up, and
  /// when the store has the other model. It tells what can still be read here. A store that is
  /// being migrated as the sequence is asked for, or has been, begins with that.
  ///
  /// It ends when the store is closed or nobody refers to it any more, and after a migration behind
  /// which later commits cannot be read here: following a store keeps it from nothing. It ends at
  /// once for a task that is cancelled. Where nobody follows a store, news cost nothing; on Linux
  /// commits of other processes come by a message of the system, elsewhere by looking ten times a
  /// second.
  ///
  /// A context takes commits in by itself, at its next operation; it does not need this.
  public var changes: some AsyncSequence<CommittedChanges, Never> & Sendable {
    StoreChanges(follower: StoreFollower(news))
  }
}
