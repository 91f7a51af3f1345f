internal import ArborModel
internal import ArborStore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The attempts to run a closure whose commits conflict with others.
///
/// A conflict means that another commit was written, so at least one of several competing closures
/// succeeds each time. Random, exponentially growing pauses keep the others from colliding again
/// (backoff with jitter). Closures that have failed several times take turns, among all processes
/// that have the store open. New closures briefly yield to them, because a stream of new closures
/// would starve them otherwise. A turn expires, so a slow closure or a stopped process doesn't block
/// the others.
///
/// All methods block the thread.
struct Retrying {
  let store: PersistentStore
  /// The maximum number of additional runs.
  let limit: Int
  /// The deadline of all runs together, or `nil` for none.
  let deadline: ContinuousClock.Instant?
  private var count = 0

  /// The number of failed runs after which a closure takes turns.
  private static let fewLosses = 2
  /// The maximum time for which a new closure yields, in microseconds.
  private static let maximumYieldTime = 100_000
  /// The maximum time for which a closure waits for its turn, in microseconds.
  private static let maximumTurnWait = 1_000_000
  /// The interval at which waiting closures look for the turn, in microseconds.
  private static let pollInterval = 1000
  /// The maximum pause before another run, in microseconds.
  private static let maximumPause = 50_000

  init(store: PersistentStore, limit: Int, deadline: ContinuousClock.Instant?) {
    self.store = store
    self.limit = limit
    self.deadline = deadline
  }

  /// Runs a closure and commits its changes, repeatedly if necessary.
  ///
  /// - Parameter makeContext: Returns the context for the next run.
  /// - Returns: The closure's result.
  mutating func run<R>(
    _ body: (ManagedObjectContext) throws -> R, in makeContext: () -> ManagedObjectContext
  ) throws -> R {
    while true {
      let context = makeContext()
      let former = context.deadline
      if let deadline { context.deadline = deadline }
      defer { if deadline != nil { context.deadline = former } }
      let limit = context.session.limit
      limit.begin()
      if let result = try attempt(body, in: context) { return result }
      let pause = Int.random(in: 0...min(1000 << min(count, 10), Self.maximumPause))
      try wait(atMost: pause, limit) { false }
    }
  }

  /// Runs a closure once, in turn if it has failed several times.
  ///
  /// - Returns: The closure's result, or `nil` if it should run again.
  private mutating func attempt<R>(
    _ body: (ManagedObjectContext) throws -> R, in context: ManagedObjectContext
  ) throws -> R? {
    let limit = context.session.limit
    var turn: Int?
    if count >= Self.fewLosses {
      try wait(atMost: Self.maximumTurnWait, limit) {
        turn = store.engine.takeTurn()
        return turn != nil
      }
    } else if count == 0 {
      try wait(atMost: Self.maximumYieldTime, limit) { !store.engine.isTurnTaken }
    }
    defer { if let turn { store.engine.endTurn(turn) } }
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

  /// Waits until a condition holds, but no longer than the given time in microseconds.
  ///
  /// - Throws: ``ArborError`` `cancelled` or `deadlineExceeded`.
  private func wait(
    atMost longest: Int, _ limit: WorkLimit, until holds: () -> Bool
  ) throws(ArborError) {
    var left = longest
    while !holds() {
      do throws(Interruption) { try limit.checkNow() } catch { throw ArborError(error) }
      guard left > 0 else { return }
      let pause = min(left, Self.pollInterval)
      usleep(UInt32(pause))
      left -= pause
    }
  }

  /// Returns whether a closure should run again after an error. If its context has already written
  /// a commit, another run would write it twice.
  private mutating func allowsAnother(
    after error: any Error, in context: ManagedObjectContext, since start: UInt64
  ) -> Bool {
    guard count < limit, !context.hasCommitted, !store.isClosed,
      let error = error as? ArborError, isLostRace(error, since: start)
    else { return false }
    count += 1
    return true
  }

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
