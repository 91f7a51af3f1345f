extension FetchedResults {
  /// The difference between two consecutive states of fetched results.
  ///
  /// Indices named *before* refer to the earlier state, indices named *after* to the later one.
  /// ``applied(to:)`` first removes all deleted and moved objects in descending order of their
  /// indices, and then inserts all inserted and moved ones in ascending order. Table views expect
  /// the same order.
  public struct Difference {
    /// An object and its index.
    public struct Single {
      /// The object. A deleted object may no longer belong to a context.
      public let object: T
      /// The index before the change for a deletion, or after it for an insertion.
      public let index: Int
    }

    /// An object with its indices before and after the change, which may be equal.
    public struct Pair {
      /// The object.
      public let object: T
      /// The index before the change.
      public let before: Int
      /// The index after the change.
      public let after: Int
    }

    /// The objects that are no longer results, in ascending order of their indices before.
    public let deletions: [Single]
    /// The objects that have become results, in ascending order of their indices after the change.
    public let insertions: [Single]
    /// The objects whose position relative to other results changed, in ascending order of their
    /// indices after.
    public let moves: [Pair]
    /// The objects that changed but kept their relative position, in ascending order of their
    /// indices.
    public let updates: [Pair]
    /// The indices of the removed sections in the earlier state, in ascending order.
    public let deletedSections: [Int]
    /// The indices of the new sections in the later state, in ascending order.
    public let insertedSections: [Int]
    /// A Boolean value that indicates whether the difference lists all changes. Otherwise it is
    /// empty and anything may have changed; use ``FetchedResults/objects``.
    public let isComplete: Bool

    /// - Parameter isComplete: `false` for a consumer that has fallen too far behind.
    init(_ step: ResultsStep, isComplete: Bool = true) {
      func single(_ single: ResultsStep.Single) -> Single {
        Single(object: unsafeDowncast(single.object, to: T.self), index: single.index)
      }
      func pair(_ pair: ResultsStep.Pair) -> Pair {
        Pair(
          object: unsafeDowncast(pair.object, to: T.self), before: pair.before, after: pair.after)
      }
      deletions = step.deletions.map(single)
      insertions = step.insertions.map(single)
      moves = step.moves.map(pair)
      updates = step.updates.map(pair)
      deletedSections = step.deletedSections
      insertedSections = step.insertedSections
      self.isComplete = isComplete
    }

    /// Returns the later state, given the earlier one.
    ///
    /// - Precondition: The difference is complete, and the objects are those of the earlier state.
    public func applied(to objects: some Sequence<T>) -> [T] {
      var objects = Array(objects)
      let leaving = deletions.map(\.index) + moves.map(\.before)
      for index in leaving.sorted(by: >) { objects.remove(at: index) }
      let arriving = (insertions + moves.map { Single(object: $0.object, index: $0.after) })
        .sorted { $0.index < $1.index }
      for single in arriving { objects.insert(single.object, at: single.index) }
      // After the context was reset, the same ID has another object.
      for pair in updates { objects[pair.after] = pair.object }
      return objects
    }
  }

  /// The differences between consecutive states of the results. See ``FetchedResults/changes``.
  public struct Changes: AsyncSequence {
    /// The difference between two consecutive states.
    public typealias Element = Difference
    /// The sequence never throws.
    public typealias Failure = Never

    let results: FetchedResults
    let follower: ResultsFollower<T>

    /// Returns an iterator. All iterators of a sequence share its elements.
    public func makeAsyncIterator() -> Iterator { Iterator(results: results, follower: follower) }

    /// An iterator over the differences.
    public struct Iterator: AsyncIteratorProtocol {
      let results: FetchedResults
      let follower: ResultsFollower<T>

      /// Returns the next difference, or `nil` if the task is cancelled or the store cannot be
      /// read.
      public mutating func next(isolation actor: isolated (any Actor)?) async -> Difference? {
        let (results, follower) = (results, follower)
        while !Task.isCancelled {
          let token = results.bell.token
          // If the store cannot be read, there are no further changes.
          guard results.catchUp(takingIn: true) else { break }
          if let difference = follower.next() { return difference }
          await results.bell.sleep(past: token, isolation: actor)
        }
        return nil
      }
    }
  }
}

/// The observers of fetched results, each with the differences it hasn't received yet.
final class ResultsFollowers<T: ManagedObject> {
  let bell = AsyncSignal()
  private var all: [Reference] = []

  private struct Reference {
    weak var follower: ResultsFollower<T>?
  }

  func begin(in store: PersistentStore) -> ResultsFollower<T> {
    let follower = ResultsFollower<T>(StoreListening(store.news, ringing: bell))
    all.removeAll { $0.follower == nil }
    all.append(Reference(follower: follower))
    return follower
  }

  func add(_ difference: FetchedResults<T>.Difference) {
    guard !all.isEmpty else { return }
    for reference in all { reference.follower?.add(difference) }
    bell.ring()
  }
}

final class ResultsFollower<T: ManagedObject> {
  /// The maximum number of differences kept for a slow consumer.
  private static var maximumWaitingCount: Int { 100 }

  private var waiting: [FetchedResults<T>.Difference] = []
  /// The registration that wakes waiting consumers after commits of other contexts, for the
  /// lifetime of this object.
  private let listening: StoreListening

  init(_ listening: StoreListening) { self.listening = listening }

  func add(_ difference: FetchedResults<T>.Difference) {
    if waiting.count == Self.maximumWaitingCount || waiting.first?.isComplete == false {
      waiting = [FetchedResults<T>.Difference(ResultsStep(), isComplete: false)]
    } else {
      waiting.append(difference)
    }
  }

  func next() -> FetchedResults<T>.Difference? { waiting.isEmpty ? nil : waiting.removeFirst() }
}
