internal import ArborStore

/// The commits of a store after a moment, one by one. See ``PersistentStore/changes``.
struct StoreChanges: AsyncSequence, Sendable {
  typealias Element = CommittedChanges
  typealias Failure = Never

  let follower: StoreFollower

  func makeAsyncIterator() -> Iterator { Iterator(follower: follower, last: follower.start) }

  /// Reads the history one commit at a time, when it is asked for the next: it keeps nothing but
  /// its place.
  struct Iterator: AsyncIteratorProtocol {
    let follower: StoreFollower
    /// The last commit that was given, or the newest one that needs not be.
    var last: UInt64
    private var isOver = false

    init(follower: StoreFollower, last: UInt64) {
      self.follower = follower
      self.last = last
    }

    mutating func next() async -> CommittedChanges? { await next(isolation: nil) }

    mutating func next(
      isolation actor: isolated (any Actor)?
    ) async -> CommittedChanges? {
      let (file, bell) = (follower.news.file, follower.news.bell)
      while !isOver, !Task.isCancelled, !bell.hasEnded {
        let token = bell.token
        switch try? read(file) {
        case .entry(let entry):
          last = entry.sequence
          return CommittedChanges(entry, in: file)
        case .tooOld(let newest):
          last = newest
          return CommittedChanges(upTo: newest)
        case Optional.some(.none):
          await bell.sleep(past: token, isolation: actor)
        case Optional.none:
          // The store is closed, or another process has given it another model.
          isOver = true
        }
      }
      isOver = true
      return nil
    }

    private func read(_ file: StoreFile) throws(StoreError) -> NextEntry {
      let snapshot = try file.quietSnapshot()
      defer { snapshot.close() }
      return try snapshot.nextEntry(after: last)
    }
  }
}

/// News of commits.
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
  /// slow makes no memory grow. Whoever falls back by more commits than the store remembers, which
  /// are 1,000 at least, gets one element in place of those that he missed, whose
  /// ``CommittedChanges/isComplete`` is false.
  ///
  /// It ends when the store is closed or nobody refers to it any more: following a store keeps it
  /// from nothing. It ends at once for a task that is cancelled. Where nobody follows a store, news
  /// cost nothing; on Linux commits of other processes come by a message of the system, elsewhere
  /// by looking ten times a second.
  ///
  /// A context takes commits in by itself, at its next operation; it does not need this.
  public var changes: some AsyncSequence<CommittedChanges, Never> & Sendable {
    StoreChanges(follower: StoreFollower(news))
  }
}
