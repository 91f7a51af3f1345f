internal import ArborLocks
internal import ArborModel
internal import ArborStore

/// The attempts to run a closure whose commits conflict with others.
///
/// A conflict means that another commit was written, so at least one of several competing closures
/// succeeds each time. Random, exponentially growing pauses keep the others from colliding again
/// (backoff with jitter). New closures briefly yield to those that have failed several times;
/// otherwise a stream of new closures could starve them.
struct Retrying: ~Copyable {
  let store: PersistentStore
  /// The maximum number of additional runs.
  let limit: Int
  var count = 0

  /// The number of failed runs after which new closures yield.
  private static let fewLosses = 2
  /// The maximum time a new closure yields, in milliseconds.
  private static let maximumYieldTime = 100
  /// The maximum pause before another run, in microseconds.
  private static let maximumPause = 50_000

  deinit { if count >= Self.fewLosses { store.contention.end() } }

  /// Yields to closures that have failed several times.
  func giveWay() async {
    var waited = 0
    while store.contention.isAny, waited < Self.maximumYieldTime, !Task.isCancelled {
      try? await Task.sleep(for: .milliseconds(2))
      waited += 2
    }
  }

  /// Runs a closure and commits its changes.
  ///
  /// - Returns: The closure's result, or `nil` if it should run again.
  mutating func run<R>(
    _ body: (ManagedObjectContext) throws -> R, in context: ManagedObjectContext
  ) throws -> R? {
    context.hasCommitted = false
    let start = context.session.sequence
    do {
      let result = try body(context)
      try context.commit()
      return result
    } catch {
      // If the closure or its commit fails, its changes must not affect the next one.
      context.rollback()
      guard allowsAnother(after: error, in: context, since: start) else { throw error }
      return nil
    }
  }

  /// Returns whether a closure should run again after an error. If its context has already written
  /// a commit, another run would write it twice.
  private mutating func allowsAnother(
    after error: any Error, in context: ManagedObjectContext, since start: UInt64
  ) -> Bool {
    guard count < limit, !Task.isCancelled, !context.hasCommitted, !store.isClosed,
      let error = error as? ArborError, isLostRace(error, since: start)
    else { return false }
    count += 1
    if count == Self.fewLosses { store.contention.begin() }
    return true
  }

  /// The pause before the next run, in microseconds.
  var pause: Int { Int.random(in: 0...min(1000 << min(count, 10), Self.maximumPause)) }

  /// Returns whether the error was caused by concurrent commits.
  private func isLostRace(_ error: ArborError, since start: UInt64) -> Bool {
    if error.code == .conflict { return true }
    guard error.code == .notUnique else { return false }
    let holders = (error.violations.isEmpty ? [error] : error.violations)
      .compactMap { ($0.underlying as? ArborError.OtherObject)?.objectID }
    return (try? hasChanged(holders, since: start)) ?? false
  }

  /// Returns whether concurrent commits have changed any of the objects. If not, a unique value was
  /// already taken before, and another run would fail, too.
  private func hasChanged(_ ids: [ObjectID], since start: UInt64) throws(StoreError) -> Bool {
    let numbers = Set(ids.compactMap { try? store.engine.objectNumber($0) })
    let snapshot = try store.engine.snapshot()
    defer { snapshot.close() }
    switch try snapshot.history(after: start) {
    case .tooOld: return true
    case .entries(let entries):
      return entries.contains { entry in
        entry.isBulk || entry.changes.contains { numbers.contains($0.number) }
      }
    }
  }
}

/// A counter of the closures that have failed several times and not succeeded yet.
final class Contention: Sendable {
  private let losers = Atomic(0)

  var isAny: Bool { losers.load(ordering: .relaxed) > 0 }

  func begin() { losers.add(1, ordering: .relaxed) }

  func end() { losers.subtract(1, ordering: .relaxed) }
}
