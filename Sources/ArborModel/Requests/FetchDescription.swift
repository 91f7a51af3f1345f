/// A fetch without the type of its results: what a request says, as one sendable value.
package struct FetchDescription: Sendable, Hashable {
  package var entityName: String
  /// The condition they fulfil; nil for all.
  package var predicate: FetchPredicate?
  /// Their order, most significant key first; without keys, that of their IDs.
  package var sortKeys: [SortKey]
  /// The greatest number of results; 0 for all.
  package var fetchLimit = 0
  /// How many objects of each group are results; nil for all.
  package var limitPerGroup: GroupLimit?
  /// How many of the results are left out at the beginning.
  package var fetchOffset = 0
  /// How many objects are read at a time; 0 for all.
  package var fetchBatchSize = 0
  /// Whether objects of subentities are results too.
  package var includesSubentities = true
  /// Whether uncommitted changes of the context are seen.
  package var includesPendingChanges = true
  /// Whether rows that equal an earlier one are left out.
  package var returnsDistinctResults = false
  /// What rows hold: key paths and expressions, each with ` AS ` and a name behind it where it
  /// shall have one; empty for all attributes.
  package var propertiesToFetch: [PropertyPath] = []
  /// The properties whose equal values make one row of several objects; empty for none.
  package var propertiesToGroupBy: [PropertyPath] = []
  /// The condition that grouped rows fulfil; nil for all.
  package var havingPredicate: FetchPredicate?
  /// Behind which row the results begin: the token of an earlier page; nil for the whole.
  package var pageToken: String?
  /// The relationships whose objects are fetched along.
  package var relationshipKeyPathsForPrefetching: [PropertyPath] = []
  /// How long an operation may take; nil for as long as it takes.
  package var timeLimit: Duration?
  /// What columns, groups and sort keys from outside may take.
  private var expressionAllowance = WorkAllowance()

  package init(entityName: String, predicate: FetchPredicate? = nil, sortKeys: [SortKey] = []) {
    self.entityName = entityName
    self.predicate = predicate
    self.sortKeys = sortKeys
  }

  /// What the request and its predicates allow an operation to take.
  package var allowance: WorkAllowance {
    var allowance = expressionAllowance
    if let predicate { allowance = allowance.narrowed(by: predicate.allowance) }
    if let havingPredicate { allowance = allowance.narrowed(by: havingPredicate.allowance) }
    return timeLimit.map { allowance.narrowed(by: WorkAllowance(timeLimit: $0)) } ?? allowance
  }
}

extension FetchDescription {
  /// Checks the texts of columns, groups and sort keys that come from outside, as
  /// ``FetchPredicate/init(format:limits:)`` does those of predicates, and limits what evaluating
  /// them takes.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` for a text that is no expression or beyond the
  ///   limits, with line and column.
  package mutating func checkExpressions(_ limits: PredicateLimits) throws(ArborError) {
    var texts = sortKeys.map(\.keyPath)
    for path in propertiesToFetch + propertiesToGroupBy { texts.append(try path.text()) }
    // A mere path may be named like a word of the language.
    for text in texts where !text.utf8.allSatisfy(\.isOfPlainPath) {
      _ = try PredicateParser.column(text, limits: limits)
    }
    expressionAllowance = expressionAllowance.narrowed(by: limits.allowance)
  }
}

/// What a fetch asks the store for.
public enum FetchKind: String, Sendable, Hashable, CaseIterable {
  /// Objects, or their IDs: of fetches, pages, windows, cursors, and of what a query updates or
  /// deletes.
  case objects
  /// Whether there is any object.
  case existence
  /// A number of objects.
  case count
  /// Values made of all objects, such as a sum.
  case aggregates
  /// Columns of each object.
  case rows
  /// A row for each group of objects.
  case groups
  /// Objects by the words of their texts.
  case search
}
