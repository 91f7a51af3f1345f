internal import ArborStore

/// The commits and migrations of a store after a point in time, one by one. See
/// ``PersistentStore/changes``.
///
/// This is the public sequence, whose elements are ``CommittedChanges``. It reads them from the
/// store's history and waits in between for a signal from ``StoreObservers``, which in turn is
/// notified by the engine's `CommitNotifications`.
struct StoreChanges: AsyncSequence, Sendable {
  typealias Element = CommittedChanges
  typealias Failure = Never

  let follower: StoreFollower

  func makeAsyncIterator() -> Iterator { Iterator(follower: follower, last: follower.start) }

  /// An iterator that reads the history one commit at a time, on demand, and stores only its
  /// position.
  struct Iterator: AsyncIteratorProtocol {
    let follower: StoreFollower
    /// The sequence of the last commit that was returned, initially that of the newest commit.
    var last: UInt64
    /// The model state that was last reported.
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
          // The store is closed, or has a model with which it can no longer be read.
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

    /// Returns the change of the model state since the last report, if any.
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
  /// Every commit to the store from now on, in order and exactly once, from this and other
  /// processes.
  ///
  /// ```swift
  /// for await changes in store.changes {
  ///   guard changes.isComplete else { reloadAll(); continue }
  ///   for id in changes.updated { reload(id) }
  /// }
  /// ```
  ///
  /// The sequence starts when this property is accessed, not when it is iterated, and each of its
  /// iterators returns all elements. Elements are read from the store's history on demand, so a
  /// slow consumer doesn't cause memory to grow. If a consumer falls behind by more commits than
  /// the history contains, which are at least 1000, it receives a single element, whose
  /// ``CommittedChanges/isComplete`` is `false`, instead of the missed ones.
  ///
  /// If another process migrates the store to another model version, an element reports it as
  /// ``CommittedChanges/migration``: when a migration in a copy starts or is abandoned, and when
  /// the store has the new model. The element also indicates what this process can still read. If
  /// the store is being migrated or has been migrated when the property is accessed, the sequence
  /// starts with that element.
  ///
  /// The sequence ends when the store is closed or deallocated, and after a migration if later
  /// commits cannot be read here. Observing a store prevents neither its deallocation nor a
  /// migration. The sequence ends immediately if the task is cancelled. Without observers there is
  /// no cost. On Linux, commits of other processes are delivered by system notifications, on other
  /// platforms by polling ten times a second.
  ///
  /// Contexts merge commits by themselves at their next operation and don't need this sequence.
  public var changes: some AsyncSequence<CommittedChanges, Never> & Sendable {
    StoreChanges(follower: StoreFollower(news))
  }
}
