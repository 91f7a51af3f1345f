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

  func makeAsyncIterator() -> Iterator {
    let store = follower.observers.engine.id
    return Iterator(
      follower: follower,
      last: HistoryToken(storeID: store, sequence: follower.start, checksum: 0))
  }

  /// An iterator that reads the history one commit at a time, on demand, and stores only its
  /// position.
  struct Iterator: AsyncIteratorProtocol {
    let follower: StoreFollower
    /// The last commit that was returned, initially the one to start after.
    var last: HistoryToken
    /// The model state that was last reported.
    var model: ModelState?
    var isOver = false

    mutating func next() async -> CommittedChanges? { await next(isolation: nil) }

    mutating func next(isolation actor: isolated (any Actor)?) async -> CommittedChanges? {
      let (engine, bell) = (follower.observers.engine, follower.observers.bell)
      while !isOver, !Task.isCancelled, !bell.hasEnded {
        let ring = bell.token
        let reading = Result { try read(engine) }
        if let changes = try? reading.get() {
          last = changes.token
          return changes
        }
        if let news = migration(of: engine) { return news }
        // The store is closed, or has a model with which it can no longer be read.
        guard case .success = reading, model?.endsNews != true else {
          isOver = true
          break
        }
        await bell.sleep(past: ring, isolation: actor)
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

    /// Returns the changes after the last ones, or `nil` if there are none yet.
    private func read(_ engine: StoreEngine) throws -> CommittedChanges? {
      let snapshot = try engine.snapshot(reportsFindings: false)
      defer { snapshot.close() }
      switch try snapshot.nextEntry(after: last.sequence) {
      case .none: return nil
      case .entry(let entry):
        return CommittedChanges(entry, try HistoryToken(entry.sequence, in: snapshot), in: engine)
      case .tooOld(let newest):
        return CommittedChanges(upTo: try HistoryToken(newest, in: snapshot))
      }
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
  /// Contexts merge commits by themselves at their next operation and don't need this sequence. To
  /// continue after a restart of the program, use ``changes(since:)``.
  public var changes: some AsyncSequence<CommittedChanges, Never> & Sendable {
    StoreChanges(follower: StoreFollower(news))
  }
}
