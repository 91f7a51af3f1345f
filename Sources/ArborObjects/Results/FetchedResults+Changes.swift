extension FetchedResults {
  /// What leads from one state of fetched results to the next.
  ///
  /// Indices before are those of the earlier state, indices after those of the later one:
  /// ``applied(to:)`` takes out all deleted and moved objects, the last first, and then puts in all
  /// inserted and moved ones, the first first. That is the order in which tables want to be told.
  public struct Difference {
    /// An object at an index.
    public struct Single {
      /// The object; a deleted one may belong to no context any more.
      public let object: T
      /// Before the change for a deletion, after it for an insertion.
      public let index: Int
    }

    /// An object that was at one index and is at another or at the same.
    public struct Pair {
      /// The object.
      public let object: T
      /// The index before the change.
      public let before: Int
      /// The index after the change.
      public let after: Int
    }

    /// The objects that are results no more, by ascending index before.
    public let deletions: [Single]
    /// The objects that have become results, by ascending index after.
    public let insertions: [Single]
    /// The objects that have another index among the results, by ascending index after.
    public let moves: [Pair]
    /// The objects that changed and kept their order among the others, by ascending index.
    public let updates: [Pair]
    /// The indices of the sections that are no more, among the sections before. Ascending.
    public let deletedSections: [Int]
    /// The indices of the sections that are new, among the sections after. Ascending.
    public let insertedSections: [Int]
    /// Whether this tells everything. Otherwise it is empty, and anything may have changed:
    /// look at the ``FetchedResults/objects``.
    public let isComplete: Bool

    /// - Parameter isComplete: false for somebody who fell back too far.
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

    /// The later state, made from the earlier one.
    ///
    /// - Precondition: The difference is complete, and the objects are those of the earlier state.
    public func applied(to objects: [T]) -> [T] {
      var objects = objects
      let leaving = deletions.map(\.index) + moves.map(\.before)
      for index in leaving.sorted(by: >) { objects.remove(at: index) }
      let arriving = (insertions + moves.map { Single(object: $0.object, index: $0.after) })
        .sorted { $0.index < $1.index }
      for single in arriving { objects.insert(single.object, at: single.index) }
      // The object of an ID is another one after the context was reset.
      for pair in updates { objects[pair.after] = pair.object }
      return objects
    }
  }

  /// The differences between one state of the results and the next. See
  /// ``FetchedResults/changes``.
  public struct Changes: AsyncSequence {
    /// What leads from one state to the next.
    public typealias Element = Difference
    /// The sequence never throws.
    public typealias Failure = Never

    let results: FetchedResults
    let follower: ResultsFollower<T>

    /// Iterates the differences. All iterators of one sequence share them.
    public func makeAsyncIterator() -> Iterator { Iterator(results: results, follower: follower) }

    /// Gives one difference after another.
    public struct Iterator: AsyncIteratorProtocol {
      let results: FetchedResults
      let follower: ResultsFollower<T>

      /// The next difference; nil where the task is cancelled or the store cannot be read.
      public mutating func next(isolation actor: isolated (any Actor)?) async -> Difference? {
        let (results, follower) = (results, follower)
        while !Task.isCancelled {
          let token = results.bell.token
          // Where the store cannot be read nothing will come any more.
          guard results.catchUp(takingIn: true) else { break }
          if let difference = follower.next() { return difference }
          await results.bell.sleep(past: token, isolation: actor)
        }
        return nil
      }
    }
  }
}

/// Who follows fetched results, and what each has not been given yet.
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
  /// More differences than these are not kept for somebody who does not ask for them.
  private static var mostWaiting: Int { 100 }

  private var waiting: [FetchedResults<T>.Difference] = []
  /// Lets commits of others wake who waits, for as long as somebody follows.
  private let listening: StoreListening

  init(_ listening: StoreListening) { self.listening = listening }

  func add(_ difference: FetchedResults<T>.Difference) {
    if waiting.count == Self.mostWaiting || waiting.first?.isComplete == false {
      waiting = [FetchedResults<T>.Difference(ResultsStep(), isComplete: false)]
    } else {
      waiting.append(difference)
    }
  }

  func next() -> FetchedResults<T>.Difference? { waiting.isEmpty ? nil : waiting.removeFirst() }
}
