internal import ArborModel
internal import LMDB

/// Answers one query on one transaction: takes rows the way the planner chose, judges them, lays
/// the context's pending state over them, orders them and copies those that are wanted.
///
/// Nothing that points into the map leaves it.
final class QueryExecutor {
  let source: QuerySource
  let query: StoreQuery
  let overlay: FetchOverlay?
  let resolver: SnapshotResolver
  let planner: QueryPlanner
  /// Counts rows while a plan is analysed.
  var tally: RowTally?
  private let environment: PredicateEnvironment?

  /// - Parameter environment: That of the query this one is a part of; nil for a query of its own.
  init(
    _ source: QuerySource, _ query: StoreQuery, overlay: FetchOverlay?,
    environment: PredicateEnvironment? = nil
  ) throws {
    self.source = source
    self.query = query
    self.overlay = overlay.flatMap { $0.hasPendingChanges || $0.known != nil ? $0 : nil }
    resolver = SnapshotResolver(source, overlay: self.overlay)
    var conjunction = Conjunction(conjuncts: [])
    if let predicate = query.predicate {
      let environment =
        environment ?? PredicateEnvironment(schema: source.schema, storeID: source.store.id)
      conjunction = try predicate.bound.conjunction(
        arguments: predicate.arguments, environment: environment)
      self.environment = environment
    } else {
      self.environment = nil
    }
    planner = QueryPlanner(
      scope: PlanScope(
        source: source, entity: query.entity, family: source.family(query),
        arguments: query.predicate?.arguments ?? [], environment: self.environment,
        overlay: self.overlay),
      query: query, conjunction: conjunction)
  }

  var family: [EntitySchema] { planner.family }

  /// Reads what sort keys are about, at the predicate's instant where there is one.
  func sortColumns(_ keys: [BoundSortKey]) -> SortColumns {
    let environment =
      environment ?? PredicateEnvironment(schema: source.schema, storeID: source.store.id)
    return SortColumns(keys, environment, resolver: resolver)
  }

  var hasPendingChanges: Bool { overlay?.hasPendingChanges ?? false }

  // MARK: Conditions

  /// The judge of one entity's records by some conditions of the query's predicate.
  func filter(_ nodes: [BoundNode], for entity: EntitySchema) throws -> RowFilter {
    var code: CompiledPredicate?
    if let environment, let predicate = query.predicate, !nodes.isEmpty {
      code = try PredicateCompiler.compile(
        nodes, arguments: predicate.arguments, for: entity, environment: environment)
    }
    if let tally { code = tally.counting(code) }
    return RowFilter(entity: entity, predicate: code)
  }

  /// A stored record, checked and in the newest layout.
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
