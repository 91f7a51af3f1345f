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
  ///
  /// - Parameters:
  ///   - asked: What was asked for, where that is not objects.
  ///   - plan: How it was answered. A plan that can not be made any more is no reason to lose the
  ///     answer.
  func note(
    _ query: StoreQuery, _ asked: String?, _ duration: Duration, rows: Int?,
    plan: () throws -> QueryPlan
  ) {
    guard duration >= threshold, let plan = try? plan() else { return }
    let text = PlanWords(query, showsValues: false).text(query)
    tell(
      Report(
        query: asked.map { "\($0) of \(text)" } ?? text, entity: query.entity.name,
        duration: duration, rows: rows, plan: plan))
  }
}

// The forms of `StoreSnapshot.answering(_:)` for queries that are watched.
extension StoreSnapshot {
  /// Answers a query, and tells of it where it took long.
  ///
  /// - Parameters:
  ///   - asked: What is asked for, where that is not objects.
  ///   - rows: How many rows the answer is; nil for answers of another kind.
  func answering<R>(
    _ query: StoreQuery, for asked: String? = nil, rows: (R) -> Int?, with body: () throws -> R
  ) throws(StoreError) -> R {
    guard let watch else { return try answering(body) }
    let clock = ContinuousClock()
    let start = clock.now
    let answer = try answering(body)
    watch.note(query, asked, clock.now - start, rows: rows(answer)) {
      try explain(query, showsValues: false)
    }
    return answer
  }

  /// Answers a query for values of its rows, and tells of it where it took long.
  func answering(
    _ query: StoreQuery, _ aggregates: [BoundAggregate], with body: () throws -> [Value]
  ) throws(StoreError) -> [Value] {
    guard let watch else { return try answering(body) }
    let clock = ContinuousClock()
    let start = clock.now
    let answer = try answering(body)
    // Without what they are made of, which may be expressions with values in them.
    let asked = aggregates.map(\.function.rawValue).joined(separator: ", ")
    watch.note(query, asked, clock.now - start, rows: nil) {
      try explain(query, aggregates, showsValues: false)
    }
    return answer
  }
}
