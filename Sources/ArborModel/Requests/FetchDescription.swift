/// A fetch request without the type of its results, as a sendable value.
package struct FetchDescription: Sendable, Hashable {
  package var entityName: String
  /// The predicate that the results satisfy, or `nil` for all objects.
  package var predicate: FetchPredicate?
  /// The order of the results, most significant key first. Without keys, results are sorted by ID.
  package var sortKeys: [SortKey]
  /// The maximum number of results, or 0 for no limit.
  package var fetchLimit = 0
  /// The maximum number of objects of each group, or `nil` for no limit.
  package var limitPerGroup: GroupLimit?
  /// The number of results to skip at the beginning.
  package var fetchOffset = 0
  /// The number of objects to read at a time, or 0 for all.
  package var fetchBatchSize = 0
  package var includesSubentities = true
  package var includesPendingChanges = true
  package var returnsDistinctResults = false
  /// The columns of rows: key paths and expressions, optionally followed by ` AS ` and a name.
  /// Empty for all attributes.
  package var propertiesToFetch: [PropertyPath] = []
  /// The properties by which rows are grouped, or empty for no grouping.
  package var propertiesToGroupBy: [PropertyPath] = []
  /// The predicate that grouped rows satisfy, or `nil` for all rows.
  package var havingPredicate: FetchPredicate?
  /// The token of the previous page, after which the results begin, or `nil` for the first page.
  package var pageToken: String?
  package var relationshipKeyPathsForPrefetching: [PropertyPath] = []
  /// The maximum duration of an operation, or `nil` for no limit.
  package var timeLimit: Duration?
  /// The limits for untrusted columns, groups and sort keys.
  private var expressionAllowance = WorkAllowance()

  package init(entityName: String, predicate: FetchPredicate? = nil, sortKeys: [SortKey] = []) {
    self.entityName = entityName
    self.predicate = predicate
    self.sortKeys = sortKeys
  }

  /// The resource limits of an operation, derived from the request and its predicates.
  package var allowance: WorkAllowance {
    var allowance = expressionAllowance
    if let predicate { allowance = allowance.narrowed(by: predicate.allowance) }
    if let havingPredicate { allowance = allowance.narrowed(by: havingPredicate.allowance) }
    return timeLimit.map { allowance.narrowed(by: WorkAllowance(timeLimit: $0)) } ?? allowance
  }
}

extension FetchDescription {
  /// Validates untrusted columns, groups and sort keys as ``FetchPredicate/init(format:limits:_:)``
  /// does for predicates, and limits the resources for evaluating them.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` with line and column if a text is malformed or
  ///   exceeds the limits.
  package mutating func checkExpressions(_ limits: PredicateLimits) throws(ArborError) {
    var texts = sortKeys.map(\.keyPath)
    for path in propertiesToFetch + propertiesToGroupBy { texts.append(try path.text()) }
    // A plain path may contain a name that is a reserved word.
    for text in texts where !text.utf8.allSatisfy(\.isOfPlainPath) {
      _ = try PredicateParser.column(text, limits: limits)
    }
    expressionAllowance = expressionAllowance.narrowed(by: limits.allowance)
  }
}

/// The kind of results that a fetch requests from the store.
public enum FetchKind: String, Sendable, Hashable, CaseIterable {
  /// Objects or their IDs, for fetches, pages, windows and cursors, and for updates and deletions
  /// by query.
  case objects
  /// Whether at least one object exists.
  case existence
  /// The number of objects.
  case count
  /// Values aggregated from all objects, such as a sum.
  case aggregates
  /// Columns of each object.
  case rows
  /// One row for each group of objects.
  case groups
  /// Objects found by a full-text search.
  case search
}
