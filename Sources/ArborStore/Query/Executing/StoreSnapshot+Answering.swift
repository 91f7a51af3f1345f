internal import ArborModel
internal import LMDB

extension StoreSnapshot {
  /// Answers a query: calls `body`, which obtains the ``QueryExecutor``, and converts errors. If
  /// the snapshot is watched, reports the query and its plan to the ``watch``.
  ///
  /// - Parameters:
  ///   - kind: The kind of result.
  ///   - aggregates: The aggregates that are computed from the rows.
  ///   - overlay: The context's pending changes, or `nil` for the stored state alone.
  ///   - executor: The query's executor, if the caller has created it.
  ///   - rows: Returns the number of rows of a result for the report, or `nil` for other kinds of
  ///     results.
  ///   - body: Returns the result. Its argument creates the executor when first called, because a
  ///     lookup of one unique value needs none; see ``lookUp(_:overlay:_:)``.
  func answer<R>(
    _ query: StoreQuery, for kind: FetchKind = .objects, _ aggregates: [BoundAggregate] = [],
    overlay: (any PendingState)?, by executor: QueryExecutor? = nil, rows: (R) -> Int?,
    with body: (_ makeExecutor: () throws -> QueryExecutor) throws -> R
  ) throws(StoreError) -> R {
    var made = executor
    func makeExecutor() throws -> QueryExecutor {
      if let made { return made }
      let executor = try QueryExecutor(source, query, overlay: overlay)
      made = executor
      return executor
    }
    guard let watch else { return try translatingErrors { try body(makeExecutor) } }
    // The expressions of aggregates are left out because they may contain values.
    let asked =
      aggregates.isEmpty
      ? kind == .objects ? nil : kind.rawValue
      : aggregates.map(\.function.rawValue).joined(separator: ", ")
    return try watch.watching(query, kind, asked, rows: rows) {
      guard !aggregates.isEmpty else {
        return try made?.planThatRan() ?? explain(query, showsValues: false)
      }
      return try makeExecutor().planThatRan(aggregates)
        ?? makeExecutor().explain(aggregates, showsValues: false)
    } _: { () throws(StoreError) in
      try translatingErrors { try body(makeExecutor) }
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
}
