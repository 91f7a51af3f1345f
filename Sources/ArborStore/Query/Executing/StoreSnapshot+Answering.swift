internal import ArborModel
internal import LMDB

extension StoreSnapshot {
  /// Answers a query: calls `body` with its executor, and converts errors. If the snapshot is
  /// watched, reports the query and its plan to the ``watch``.
  ///
  /// - Parameters:
  ///   - kind: The kind of result.
  ///   - aggregates: The aggregates that are computed from the rows.
  ///   - overlay: The context's pending changes, or `nil` for the stored state alone.
  ///   - executor: The query's executor, if the caller has created it.
  ///   - rows: Returns the number of rows of a result for the report, or `nil` for other kinds of
  ///     results.
  ///   - body: Returns the result.
  func answer<R>(
    _ query: StoreQuery, for kind: FetchKind = .objects, _ aggregates: [BoundAggregate] = [],
    overlay: (any PendingState)?, by executor: QueryExecutor? = nil, rows: (R) -> Int?,
    with body: (QueryExecutor) throws -> R
  ) throws(StoreError) -> R {
    guard let watch else {
      return try translatingErrors {
        try body(executor ?? QueryExecutor(source, query, overlay: overlay))
      }
    }
    // The expressions of aggregates are left out because they may contain values.
    let asked =
      aggregates.isEmpty
      ? kind == .objects ? nil : kind.rawValue
      : aggregates.map(\.function.rawValue).joined(separator: ", ")
    var used = executor
    return try watch.watching(query, kind, asked, rows: rows) {
      if let plan = try used?.planThatRan(aggregates) { return plan }
      guard let used, !aggregates.isEmpty else { return try explain(query, showsValues: false) }
      return try used.explain(aggregates, showsValues: false)
    } _: { () throws(StoreError) in
      try translatingErrors {
        let executor = try executor ?? QueryExecutor(source, query, overlay: overlay)
        used = executor
        return try body(executor)
      }
    }
  }
}

/// Converts the errors of lower layers to errors of the store.
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
    stopProgram("A query threw an error of an unexpected type.")
  }
}
