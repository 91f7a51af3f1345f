internal import ArborModel

// The forms of `StoreSnapshot.answering(_:)` for queries that are watched.
extension StoreSnapshot {
  /// Answers a query that may be watched.
  ///
  /// - Parameters:
  ///   - kind: What is asked for.
  ///   - rows: How many rows the answer is; nil for answers of another kind.
  ///   - body: Gives the answer, and leaves the executor that it came from, where there was one.
  func answering<R>(
    _ query: StoreQuery, for kind: FetchKind = .objects, rows: (R) -> Int?,
    with body: (inout QueryExecutor?) throws -> R
  ) throws(StoreError) -> R {
    var executor: QueryExecutor?
    guard let watch else { return try answering { try body(&executor) } }
    let asked = kind == .objects ? nil : kind.rawValue
    return try watch.watching(query, kind, asked, rows: rows) {
      try executor?.planThatRan() ?? explain(query, showsValues: false)
    } _: { () throws(StoreError) in
      try answering { try body(&executor) }
    }
  }

  /// Answers a query that may be watched, by an executor.
  func answering<R>(
    _ query: StoreQuery, for kind: FetchKind = .objects, overlay: FetchOverlay?, rows: (R) -> Int?,
    with body: (QueryExecutor) throws -> R
  ) throws(StoreError) -> R {
    try answering(query, for: kind, rows: rows) { executor in
      let own = try QueryExecutor(source, query, overlay: overlay)
      executor = own
      return try body(own)
    }
  }

  /// Answers a query for values of its rows that may be watched.
  func answering(
    _ query: StoreQuery, _ aggregates: [BoundAggregate], overlay: FetchOverlay?,
    with body: (QueryExecutor) throws -> [Value]
  ) throws(StoreError) -> [Value] {
    let executor = try answering { try QueryExecutor(source, query, overlay: overlay) }
    guard let watch else { return try answering { try body(executor) } }
    // Without what they are made of, which may be expressions with values in them.
    let asked = aggregates.map(\.function.rawValue).joined(separator: ", ")
    return try watch.watching(query, .aggregates, asked) { _ in
      nil
    } plan: {
      try executor.planThatRan(aggregates) ?? executor.explain(aggregates, showsValues: false)
    } _: { () throws(StoreError) in
      try answering { try body(executor) }
    }
  }
}
