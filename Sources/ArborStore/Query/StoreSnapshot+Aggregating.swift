package import ArborModel

extension StoreSnapshot {
  /// Makes values of the rows that a fetch would give, from record bytes and in one pass; of its
  /// limited rows where the query has a limit or an offset.
  ///
  /// - Returns: The value of each aggregate, objects never among them.
  /// - Throws: As ``fetch(_:overlay:allocator:)``.
  package func aggregate(
    _ query: StoreQuery, _ aggregates: [BoundAggregate], overlay: FetchOverlay?
  ) throws(StoreError) -> [Value] {
    let isLimited = query.limit > 0 || query.offset > 0
    let query =
      isLimited
      ? query
      : StoreQuery(
        entity: query.entity, includesSubentities: query.includesSubentities,
        predicate: query.predicate)
    return try answering {
      let executor = try QueryExecutor(source, query, overlay: overlay)
      if let attribute = aggregates.singleAttribute {
        let summary = try executor.answer(FieldSummaries(attribute, of: query.entity)).summary
        return aggregates.map { summary.value(of: $0.function) }
      }
      let columns = SortColumns([], schema: store.schema, resolver: executor.resolver)
      let environment = PredicateEnvironment(schema: store.schema, storeID: store.id)
      let summaries = try executor.answer(
        PathSummaries(aggregates, columns: columns, environment, executor.resolver))
      try executor.resolver.check()
      return summaries.results
    }
  }
}

extension [BoundAggregate] {
  /// The one attribute of the rows themselves that all aggregates are made of, if they are.
  fileprivate var singleAttribute: AttributeSchema? {
    var single: AttributeSchema?
    for aggregate in self {
      guard case .path(let path) = aggregate.source, path.hops.isEmpty, !aggregate.isDistinct,
        case .attribute(let attribute) = path.leaf, single?.slot ?? attribute.slot == attribute.slot
      else { return nil }
      single = attribute
    }
    return single
  }
}
