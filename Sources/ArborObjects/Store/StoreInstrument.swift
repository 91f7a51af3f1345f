public import ArborModel
internal import ArborStore

/// Closures that are called when a store's commits and fetches begin and end, for measuring or
/// tracing.
///
/// ```swift
/// var options = StoreOptions()
/// options.instrument = StoreInstrument(
///   onCommit: { commit in
///     return { outcome in print("commit", outcome.sequence ?? 0, outcome.duration) }
///   },
///   onFetch: { fetch in
///     return { outcome in print(fetch.kind, fetch.entityName, outcome.duration) }
///   })
/// ```
///
/// A closure is called at the start of the operation, on the thread and in the task of the caller,
/// so that it can access task-local values. The closure it returns is called on the same thread and
/// in the same task when the operation ends, even if it fails. Without an instrument, the cost is
/// one comparison per commit and fetch, and nothing per row.
///
/// The closures run as part of the operation, and a fetch holds a snapshot in the meantime: they
/// must be fast and must not use the store. They receive names of entities, counts and durations,
/// but never values of objects.
///
/// `ArborService` has an instrument for swift-metrics and swift-distributed-tracing.
public final class StoreInstrument: Sendable {
  /// The start of a commit.
  public struct Commit: Sendable, Hashable {
    /// The ``ManagedObjectContext/name`` of the committing context.
    public let contextName: String?
    /// The ``ManagedObjectContext/author`` of the committing context.
    public let author: String?
  }

  /// The end of a commit.
  public struct CommitOutcome: Sendable {
    /// The duration of the commit, including hooks and disk writes.
    public let duration: Duration
    /// The commit's sequence in the store's history, or `nil` if it failed or wrote nothing because
    /// its changes had no net effect.
    public let sequence: UInt64?
    /// The number of inserted objects, or 0 if the commit failed.
    public let inserted: Int
    /// The number of objects with changed attributes or relationship members, or 0 if the commit
    /// failed.
    public let updated: Int
    /// The number of deleted objects, or 0 if the commit failed.
    public let deleted: Int
    /// The number of times another commit had changed the same objects. Each time, the merge policy
    /// resolved the conflict or the commit failed with `conflict`.
    public let conflicts: Int
    /// The error, or `nil` if the commit succeeded.
    public let error: ArborError?
  }

  /// The start of a fetch.
  public struct Fetch: Sendable, Hashable {
    /// The requested entity.
    public let entityName: String
    /// The kind of result requested.
    public let kind: FetchKind
  }

  /// The end of a fetch.
  public struct FetchOutcome: Sendable {
    /// The time the store took to find and read the results.
    public let duration: Duration
    /// The number of objects, rows or groups that were read, or the count that was requested. `nil`
    /// if the fetch failed, and for values and existence checks. A page reads one object more than
    /// it returns.
    public let count: Int?
    /// The error, or `nil` if the fetch succeeded.
    public let error: ArborError?
  }

  private let onCommit: (@Sendable (Commit) -> ((CommitOutcome) -> Void)?)?
  private let onFetch: (@Sendable (Fetch) -> ((FetchOutcome) -> Void)?)?

  /// Creates an instrument.
  ///
  /// - Parameters:
  ///   - onCommit: A closure that is called before each commit of a context that has changes. It
  ///     returns a closure to call after the commit, or `nil` if the commit is not of interest.
  ///     When a `perform` body runs again after a conflict, it commits again. `purge()`,
  ///     migrations, and commits that a follower receives from its log are not reported.
  ///   - onFetch: A closure that is called in the same way before each lookup of objects by a
  ///     request. It isn't called for requests that are rejected before the store is queried, such
  ///     as those with an unknown name, for prefetching of relationships, or for lookups by
  ///     identity during an import.
  public init(
    onCommit: (@Sendable (Commit) -> ((CommitOutcome) -> Void)?)? = nil,
    onFetch: (@Sendable (Fetch) -> ((FetchOutcome) -> Void)?)? = nil
  ) {
    self.onCommit = onCommit
    self.onFetch = onFetch
  }

  /// Creates an instrument that calls several others: in order when an operation starts, and in
  /// reverse order when it ends.
  public convenience init(_ instruments: [StoreInstrument]) {
    self.init(
      onCommit: { commit in
        Self.reversed(instruments.compactMap { $0.onCommit?(commit) })
      },
      onFetch: { fetch in
        Self.reversed(instruments.compactMap { $0.onFetch?(fetch) })
      })
  }

  private static func reversed<Outcome>(_ ends: [(Outcome) -> Void]) -> ((Outcome) -> Void)? {
    ends.isEmpty ? nil : { outcome in for end in ends.reversed() { end(outcome) } }
  }
}

extension StoreInstrument: Hashable {
  /// Returns whether two instruments are identical. Closures cannot be compared.
  public static func == (left: StoreInstrument, right: StoreInstrument) -> Bool { left === right }

  /// Hashes the instrument's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension StoreInstrument {
  /// Reports the start of a commit. Returns `nil` if no closure has to be called when the commit
  /// ends.
  func commitBegins(_ commit: Commit) -> CommitObservation? {
    onCommit?(commit).map { CommitObservation(tell: $0) }
  }

  /// Returns the observer of a store's queries, or `nil` if there is no closure for fetches.
  func queryObserver(of engine: StoreEngine) -> QueryWatch.Observer? {
    guard let onFetch else { return nil }
    return { entity, kind in
      guard let end = onFetch(Fetch(entityName: entity, kind: kind)) else { return nil }
      return { outcome in
        end(
          FetchOutcome(
            duration: outcome.duration, count: outcome.rows,
            error: outcome.error.map { ArborError($0, in: engine) }))
      }
    }
  }
}

/// The numbers of objects that a commit inserted, updated and deleted, and of its conflicts.
struct CommitTally {
  var inserted = 0
  var updated = 0
  var deleted = 0
  var conflicts: Int
}

/// A commit in progress whose end will be reported.
struct CommitObservation {
  let tell: (StoreInstrument.CommitOutcome) -> Void
  let start = ContinuousClock.now

  func end(_ receipt: CommitReceipt?, _ tally: CommitTally, _ error: ArborError? = nil) {
    tell(
      StoreInstrument.CommitOutcome(
        duration: ContinuousClock.now - start, sequence: receipt?.sequence,
        inserted: tally.inserted, updated: tally.updated, deleted: tally.deleted,
        conflicts: tally.conflicts + (error?.code == .conflict ? 1 : 0), error: error))
  }
}
