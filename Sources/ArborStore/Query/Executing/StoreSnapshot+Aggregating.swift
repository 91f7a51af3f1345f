package import ArborModel

extension StoreSnapshot {
  /// Computes aggregates of the rows that a fetch would return, from record bytes and in one pass.
  /// If the query has a limit or an offset, only the limited rows count. Minima and maxima come
  /// from the ends of indexes if possible.
  ///
  /// - Returns: The value of each aggregate. Objects are never among them.
  /// - Throws: The same errors as ``fetch(_:overlay:allocator:)``.
  package func aggregate(
    _ query: StoreQuery, _ aggregates: [BoundAggregate], overlay: (any PendingState)?
  ) throws(StoreError) -> [PropertyValue] {
    let query = query.forAggregates
    return try answer(
      query, for: .aggregates, aggregates, overlay: overlay, rows: { _ in nil }
    ) { executor in
      if let values = try executor.valuesAtEnds(aggregates) { return values }
      if let attribute = aggregates.singleAttribute {
        if let summary = try executor.summaryOfKeys(attribute) {
          return aggregates.map { summary.value(of: $0.function) }
        }
        let summary = try executor.run(into: FieldSummaries(attribute)).summary
        return aggregates.map { summary.value(of: $0.function) }
      }
      let environment = predicateEnvironment
      let columns = SortColumns([], environment, resolver: executor.resolver)
      let summaries = try executor.run(
        into: PathSummaries(aggregates, columns: columns, environment, executor.resolver))
      try executor.resolver.check()
      return summaries.results
    }
  }

  /// Returns the plan for aggregating the stored objects, from counts alone.
  ///
  /// - Parameter showsValues: Whether the values of conditions are shown.
  package func explain(
    _ query: StoreQuery, _ aggregates: [BoundAggregate], showsValues: Bool = true
  ) throws(StoreError) -> QueryPlan {
    try translatingErrors {
      try QueryExecutor(source, query.forAggregates, overlay: nil)
        .explain(aggregates, showsValues: showsValues)
    }
  }
}

extension StoreQuery {
  /// The query for aggregates, without an order unless that determines which rows are included.
  fileprivate var forAggregates: StoreQuery {
    if limit > 0 || offset > 0 || groupLimit != nil { return self }
    return StoreQuery(
      entity: entity, includesSubentities: includesSubentities, predicate: predicate)
  }
}

extension [BoundAggregate] {
  /// The only attribute that the aggregates read value by value from the rows themselves, or `nil`
  /// if they read anything else.
  var singleAttribute: AttributeSchema? {
    var single: AttributeSchema?
    for aggregate in self {
      guard case .path(let path) = aggregate.source, path.hops.isEmpty, !aggregate.isDistinct,
        !aggregate.function.takesAllValues,
        case .attribute(let attribute) = path.leaf, single?.slot ?? attribute.slot == attribute.slot
      else { return nil }
      single = attribute
    }
    return single
  }
}
