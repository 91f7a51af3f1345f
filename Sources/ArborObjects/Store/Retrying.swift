internal import ArborLocks
internal import ArborModel
internal import ArborStore

/// The runs of one body that a store repeats where others were faster.
///
/// A run is lost only where somebody else's commit was written, so that of bodies that meet one at
/// least gets through each time. Waits of random length keep the others from meeting again, and
/// bodies that begin give way for a moment to those that have lost several times: without that,
/// a stream of new ones could win for ever.
struct Retrying: ~Copyable {
  let store: PersistentStore
  /// How often a body may be run again.
  let limit: Int
  var count = 0

  /// So many lost runs make others give way.
  private static let fewLosses = 2
  /// How long a body that begins gives way at most, in milliseconds.
  private static let longestCourtesy = 100
  /// The longest wait before another run, in microseconds.
  private static let longestPause = 50_000

  deinit { if count >= Self.fewLosses { store.contention.end() } }

  /// Lets those run first that have lost several times.
  func giveWay() async {
    var waited = 0
    while store.contention.isAny, waited < Self.longestCourtesy, !Task.isCancelled {
      try? await Task.sleep(for: .milliseconds(2))
      waited += 2
    }
  }

  /// Runs a body and commits what it changed.
  ///
  /// - Returns: What the body gives; nil where it is to be run again.
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
      // A body that throws, or whose commit fails, leaves no changes to the next one.
      context.rollback()
      guard allowsAnother(after: error, in: context, since: start) else { throw error }
      return nil
    }
  }

  /// Whether a body is to be run again after an error. Where a commit of its context has been
  /// written, a second run would write that again.
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

  /// How long to wait before the next run, in microseconds.
  var pause: Int { Int.random(in: 0...min(1000 << min(count, 10), Self.longestPause)) }

  /// Whether the error comes of concurrent commits.
  private func isLostRace(_ error: ArborError, since start: UInt64) -> Bool {
    if error.code == .conflict { return true }
    guard error.code == .notUnique else { return false }
    let holders = (error.violations.isEmpty ? [error] : error.violations)
      .compactMap { ($0.underlying as? ArborError.OtherObject)?.objectID }
    return (try? hasChanged(holders, since: start)) ?? false
  }

  /// Whether concurrent commits have changed any of some objects. A value that has been taken for
  /// longer will be taken in the next run too.
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

/// How many bodies have lost several runs and have not got through yet.
final class Contention: Sendable {
  private let losers = Atomic(0)

  var isAny: Bool { losers.load(ordering: .relaxed) > 0 }

  func begin() { losers.add(1, ordering: .relaxed) }

  func end() { losers.subtract(1, ordering: .relaxed) }
}
