internal import ArborModel
internal import LMDB

extension StoreSnapshot {
  /// Answers a query, and reports to the snapshot's watch.
  ///
  /// - Parameters:
  ///   - kind: What is asked for.
  ///   - aggregates: The values that are made of the rows.
  ///   - overlay: The asking context's state; nil for the store's alone.
  ///   - executor: Answers the query, if the caller has created it.
  ///   - rows: How many rows the answer is; nil for answers of another kind.
  ///   - body: Returns the answer. Its argument returns the query's executor.
  func answer<R>(
    _ query: StoreQuery, for kind: FetchKind = .objects, _ aggregates: [BoundAggregate] = [],
    overlay: (any PendingState)?, by executor: QueryExecutor? = nil, rows: (R) -> Int?,
    _ body: (_ executor: () throws -> QueryExecutor) throws -> R
  ) throws(StoreError) -> R {
    var made = executor
    // Created when it is asked for: one unique value is looked up without it.
    func makeExecutor() throws -> QueryExecutor {
      if let made { return made }
      let executor = try QueryExecutor(source, query, overlay: overlay)
      made = executor
      return executor
    }
    guard let watch else { return try translatingErrors { try body(makeExecutor) } }
    // Without what values are made of, which may be expressions with values in them.
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
