package import ArborModel

/// Tells of queries that take long.
package final class QueryWatch: Sendable {
  /// A query that took long, in words without the values of its predicate.
  package struct Report: Sendable {
    /// The entity, the conditions, the order and the limit.
    package let query: String
    package let entity: String
    package let duration: Duration
    /// How many rows, or what count, the answer was; nil for other answers.
    package let rows: Int?
    package let plan: QueryPlan
  }

  /// From how long on a query is told of.
  package let threshold: Duration
  private let tell: @Sendable (Report) -> Void

  package init(threshold: Duration, _ tell: @escaping @Sendable (Report) -> Void) {
    self.threshold = threshold
    self.tell = tell
  }

  /// Tells of a query that has been answered, where it took long.
  func note(
    _ query: StoreQuery, _ snapshot: StoreSnapshot, _ duration: Duration, rows: Int?
  ) {
    // A plan that can not be made any more is no reason to lose the answer.
    guard duration >= threshold, let plan = try? snapshot.explain(query, showsValues: false)
    else { return }
    tell(
      Report(
        query: PlanWords(query, showsValues: false).text(query), entity: query.entity.name,
        duration: duration, rows: rows, plan: plan))
  }
}
