public import ArborModel
internal import ArborStore

/// What is told of a store's commits and fetches as they begin and end, to measure or trace them.
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
/// A closure is called as the work begins, on the thread and in the task of the caller,
/// so that task-local values are theirs. What it returns is called in the same place as the work
/// ends, also where it fails. A store without an instrument pays one comparison for each commit and
/// fetch, and nothing for a row.
///
/// The closures run between the parts of the work, and a fetch holds a snapshot meanwhile: they
/// have to be quick and must not use the store. They are given names of entities, numbers and times
/// and never values of objects.
///
/// `ArborService` has one that feeds swift-metrics and swift-distributed-tracing.
public final class StoreInstrument: Sendable {
  /// A commit that begins.
  public struct Commit: Sendable, Hashable {
    /// The name of the context.
    public let contextName: String?
    /// Who makes the changes, as the context says.
    public let author: String?
  }

  /// How a commit ended.
  public struct CommitOutcome: Sendable {
    /// How long it took, hooks and the wait for the disk included.
    public let duration: Duration
    /// The commit's position in the store's history; nil where it failed, or wrote nothing since
    /// its changes had no net effect.
    public let sequence: UInt64?
    /// How many objects it inserted; 0 where it failed.
    public let inserted: Int
    /// How many objects it changed, in attributes or in members of relationships; 0 where it
    /// failed.
    public let updated: Int
    /// How many objects it deleted; 0 where it failed.
    public let deleted: Int
    /// How often others had committed the same objects in between: each time the merge policy
    /// decided, or it failed with `conflict`.
    public let conflicts: Int
    /// Why it failed; nil where it did not.
    public let error: ArborError?
  }

  /// A fetch that begins.
  public struct Fetch: Sendable, Hashable {
    /// The entity that is asked for.
    public let entityName: String
    /// What is asked for.
    public let kind: FetchKind
  }

  /// How a fetch ended.
  public struct FetchOutcome: Sendable {
    /// How long the store took to find and read what was asked for.
    public let duration: Duration
    /// How many objects, rows or groups were read, or what was counted; nil where it failed, and
    /// for values and existence. A page reads one more than it gives.
    public let count: Int?
    /// Why it failed; nil where it did not.
    public let error: ArborError?
  }

  private let onCommit: (@Sendable (Commit) -> ((CommitOutcome) -> Void)?)?
  private let onFetch: (@Sendable (Fetch) -> ((FetchOutcome) -> Void)?)?

  /// Makes an instrument.
  ///
  /// - Parameters:
  ///   - onCommit: Is called before each commit of a context that has changes, and gives back what
  ///     to call behind it; nil where that commit is of no interest. A body that is run again after
  ///     a conflict commits again. `purge()`, migrations and what a follower takes over from its
  ///     log are no commits of contexts.
  ///   - onFetch: The same for what looks for objects by a request. A request that is refused
  ///     before the store is asked, such as one with an unknown name, is no fetch; neither is
  ///     reading along relationships, nor what an import looks up by identities.
  public init(
    onCommit: (@Sendable (Commit) -> ((CommitOutcome) -> Void)?)? = nil,
    onFetch: (@Sendable (Fetch) -> ((FetchOutcome) -> Void)?)? = nil
  ) {
    self.onCommit = onCommit
    self.onFetch = onFetch
  }

  /// Makes an instrument that tells several: in their order as work begins, and the other way round
  /// as it ends.
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
  /// Whether two instruments are one: code cannot be compared.
  public static func == (left: StoreInstrument, right: StoreInstrument) -> Bool { left === right }

  /// Feeds the instrument's identity into a hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension StoreInstrument {
  /// Tells of a commit that begins; nil where nobody wants to hear of its end.
  func commitBegins(_ commit: Commit) -> CommitObservation? {
    onCommit?(commit).map { CommitObservation(tell: $0) }
  }

  /// What tells of queries of a store's file; nil where nobody wants to hear of them.
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

/// How many objects a commit wrote.
struct CommitTally {
  var inserted = 0
  var updated = 0
  var deleted = 0
  var conflicts: Int
}

/// A commit that runs and whose end somebody wants to hear of.
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
