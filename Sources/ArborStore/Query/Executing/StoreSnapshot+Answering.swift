internal import ArborModel
internal import LMDB

/// One query while it is being answered: the executor is created when it is first needed, and kept
/// to describe how the query ran.
struct QueryRun {
  let snapshot: StoreSnapshot
  let query: StoreQuery
  let overlay: FetchOverlay?
  private(set) var current: QueryExecutor?

  init(_ snapshot: StoreSnapshot, _ query: StoreQuery, overlay: FetchOverlay?) {
    self.snapshot = snapshot
    self.query = query
    self.overlay = overlay
  }

  mutating func executor() throws -> QueryExecutor {
    if let current { return current }
    let executor = try QueryExecutor(snapshot.source, query, overlay: overlay)
    current = executor
    return executor
  }

  /// Answers the query with an executor that has planned it.
  mutating func use(_ executor: QueryExecutor) { current = executor }

  /// How the query was answered.
  func plan(_ aggregates: [BoundAggregate]) throws -> QueryPlan {
    if let plan = try current?.planThatRan(aggregates) { return plan }
    return aggregates.isEmpty
      ? try snapshot.explain(query, showsValues: false)
      : try snapshot.explain(query, aggregates, showsValues: false)
  }
}

extension StoreSnapshot {
  /// Answers a query, and reports it to ``watch``.
  ///
  /// - Parameters:
  ///   - kind: What is asked for.
  ///   - aggregates: The values that are computed from the rows; empty for rows.
  ///   - rows: The number of rows of an answer; `nil` for answers of another kind.
  func answer<R>(
    _ query: StoreQuery, for kind: FetchKind = .objects, _ aggregates: [BoundAggregate] = [],
    overlay: FetchOverlay?, rows: (R) -> Int?, by body: (inout QueryRun) throws -> R
  ) throws(StoreError) -> R {
    var run = QueryRun(self, query, overlay: overlay)
    guard let watch else { return try translatingErrors { try body(&run) } }
    // Without what aggregates are made of, which may be expressions with values in them.
    let asked =
      kind == .objects
      ? nil
      : aggregates.isEmpty
        ? kind.rawValue : aggregates.map(\.function.rawValue).joined(separator: ", ")
    return try watch.watching(query, kind, asked, rows: rows) {
      try run.plan(aggregates)
    } _: { () throws(StoreError) in
      try translatingErrors { try body(&run) }
    }
  }

  /// Translates the errors of every layer below into the store's.
  @inline(__always)
  func translatingErrors<R>(_ body: () throws -> R) throws(StoreError) -> R {
    do {
      return try body()
    } catch let error as StoreError {
      throw error
    } catch let error as LMDBError {
      throw StoreError(error)
    } catch let error as ArborError {
      throw .query(error)
    } catch let error as Interruption {
      throw .interrupted(error)
    } catch {
      preconditionFailure(
        "A query throws errors of the store, the engine, predicates and limits only.")
    }
  }
}
