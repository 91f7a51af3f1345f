internal import ArborModel

/// Runs one query on one snapshot: obtains a plan from the ``QueryPlanner``, visits and evaluates
/// the rows, merges the context's pending changes, sorts, and delivers the result to a ``RowSink``.
///
/// | file | step |
/// |---|---|
/// | `+Planning` | obtains the plan, and runs the trials that it requires |
/// | `+Running` | chooses between rows by number, along an index, and sorted |
/// | `+Pending` | finds the context's own rows |
/// | `+Visiting` | visits stored rows, and evaluates the remaining conditions |
/// | `+Relating` | runs the inner side of a semi-join |
/// | `+Skipping` | visits only the rows that determine each group |
/// | `+Counting`, `+KeySummaries`, `+KeyGroups` | answer from counts or keys instead of rows |
/// | `+Explaining` | returns plans, and measures them |
///
/// No pointer into the memory map outlives the executor.
final class QueryExecutor {
  /// The access that answered a query.
  enum Ran {
    case rows(AccessPlan)
    /// The counts of an access path.
    case counts(AccessCandidate, Int)
    case ends([OrderedAccess])
    case keys(CoveringIndex)
    /// The counts of the keys that the step reads.
    case groups(QueryPlan.Step)
  }

  let source: QuerySource
  let planner: QueryPlanner<CollectingCounts>
  let overlay: (any PendingState)?
  let resolver: SnapshotResolver
  /// The findings of the trials that ran for the plan.
  var findings = Findings()
  /// The access path that answered the query, or `nil` if the query hasn't run yet.
  var ran: Ran?
  /// The tally of rows while a plan is being analyzed, otherwise `nil`.
  var tally: RowTally?

  convenience init(_ source: QuerySource, _ query: StoreQuery, overlay: (any PendingState)?) throws
  {
    let overlay = overlay.flatMap { $0.hasPendingChanges || $0.known != nil ? $0 : nil }
    let environment = PredicateEnvironment(
      schema: source.schema, storeID: source.store.id, locale: source.locale,
      chargesWork: source.limit.chargesWork)
    let resolved = try query.resolvingClosures(environment) {
      SnapshotResolver(source, overlay: overlay)
    }
    self.init(source, try PlanScope(resolved, environment, overlay: overlay))
  }

  init(_ source: QuerySource, _ scope: PlanScope) {
    self.source = source
    planner = QueryPlanner(scope: scope, counts: CollectingCounts(source))
    overlay = scope.overlay
    resolver = SnapshotResolver(source, overlay: overlay)
  }

  var query: StoreQuery { planner.scope.query }
  var family: [EntitySchema] { planner.family }

  /// Returns the columns that the sort keys read, evaluated at the predicate's instant.
  func sortColumns(_ keys: [BoundSortKey]) -> SortColumns {
    SortColumns(keys, planner.scope.environment, resolver: resolver)
  }

  var hasPendingChanges: Bool { overlay?.hasPendingChanges ?? false }

  // MARK: Conditions

  /// Compiles the given conditions of the query's predicate for the records of one entity.
  func filter(_ nodes: [BoundNode], for entity: EntitySchema) throws -> RowFilter {
    var code: CompiledPredicate?
    if let predicate = query.predicate, !nodes.isEmpty {
      code = try PredicateCompiler.compile(
        nodes, arguments: predicate.arguments, for: entity, environment: planner.scope.environment)
    }
    if let tally { code = tally.counting(code) }
    return RowFilter(entity: entity, predicate: code)
  }

  /// Verifies a stored record and converts it to the newest layout.
  @inline(__always)
  func verified(
    _ bytes: UnsafeRawBufferPointer, _ number: ObjectNumber, _ entity: EntitySchema,
    _ layout: RecordLayout
  ) throws -> RecordView {
    if let base = bytes.baseAddress {
      let record = RecordView(base: base, count: bytes.count)
      if record.verify(layout, key: number) == nil { return record }
    }
    return try resolver.upgrades.upgrade(bytes, number, entity, source.store.layouts)
  }
}

/// Evaluates conditions on the records of one concrete entity.
struct RowFilter {
  let entity: EntitySchema
  /// The compiled conditions, or `nil` if every record passes.
  let predicate: CompiledPredicate?

  @inline(__always)
  func accepts(
    _ record: RecordView, _ number: ObjectNumber, _ resolver: SnapshotResolver
  ) -> Bool {
    guard let predicate else { return true }
    return predicate(record, number, resolver)
  }
}

/// Counts the rows on which a query evaluates its conditions, and measures its steps.
final class RowTally {
  private(set) var visited = 0
  private(set) var accepted = 0
  /// The time for evaluating conditions.
  private(set) var filtering = Duration.zero
  /// The time for sorting.
  private(set) var sorting = Duration.zero

  /// Restarts counting. An abandoned scan does not count.
  func begin() {
    visited = 0
    accepted = 0
    filtering = .zero
  }

  /// Wraps a predicate so that it counts its rows. Without a predicate, all rows pass and are
  /// counted.
  func counting(_ predicate: CompiledPredicate?) -> CompiledPredicate {
    guard let predicate else {
      return { [self] _, _, _ in
        visited += 1
        accepted += 1
        return true
      }
    }
    return { [self] record, number, resolver in
      visited += 1
      let began = ContinuousClock.now
      let isAccepted = predicate(record, number, resolver)
      filtering += began.duration(to: .now)
      if isAccepted { accepted += 1 }
      return isAccepted
    }
  }

  /// Adds the time since an instant to that for sorting.
  func noteSort(since began: ContinuousClock.Instant) { sorting += began.duration(to: .now) }
}

/// Counts the keys that a query reads from each index and relationship, by `Entity.name`.
final class KeyTally {
  private(set) var keys: [String: Int] = [:]

  func add(_ count: Int, of name: String) { keys[name, default: 0] += count }
}
