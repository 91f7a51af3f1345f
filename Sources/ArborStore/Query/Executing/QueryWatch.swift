package import ArborModel

/// Watches the queries of a store: tells of each as it begins and ends, and reports those that take
/// long.
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

  /// How a query ended.
  package struct Outcome {
    package let duration: Duration
    /// How many rows, or what count, the answer was; nil for other answers and without one.
    package let rows: Int?
    package let error: StoreError?
  }

  /// Is called as a query begins, and what it returns as the query ends.
  package typealias Observer =
    @Sendable (_ entity: String, _ kind: FetchKind) -> ((Outcome) -> Void)?

  /// From how long on a query is reported; nil for never.
  package let threshold: Duration?
  private let tell: @Sendable (Report) -> Void
  private let observer: Observer?

  package init(
    threshold: Duration?, observer: Observer? = nil, _ tell: @escaping @Sendable (Report) -> Void
  ) {
    self.threshold = threshold
    self.observer = observer
    self.tell = tell
  }

  /// The same observer, with another threshold and another one to report to.
  package func reporting(
    from threshold: Duration, _ tell: @escaping @Sendable (Report) -> Void
  ) -> QueryWatch {
    QueryWatch(threshold: threshold, observer: observer, tell)
  }

  /// Runs a query.
  ///
  /// - Parameters:
  ///   - asked: What was asked for in words, where that is not objects.
  ///   - rows: How many rows an answer has; nil for answers of another kind.
  ///   - plan: How the query was answered. A plan that cannot be made any more is no reason to
  ///     lose the answer.
  func watching<R>(
    _ query: StoreQuery, _ kind: FetchKind, _ asked: String?, rows: (R) -> Int?,
    plan: () throws -> QueryPlan, _ body: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let end = observer?(query.entity.name, kind)
    let start = ContinuousClock.now
    let answer: R
    do throws(StoreError) { answer = try body() } catch {
      end?(Outcome(duration: ContinuousClock.now - start, rows: nil, error: error))
      throw error
    }
    let duration = ContinuousClock.now - start
    let count = rows(answer)
    end?(Outcome(duration: duration, rows: count, error: nil))
    if let threshold, duration >= threshold, let plan = try? plan() {
      let text = PlanWords(query, showsValues: false).text(query)
      tell(
        Report(
          query: asked.map { "\($0) of \(text)" } ?? text, entity: query.entity.name,
          duration: duration, rows: count, plan: plan))
    }
    return answer
  }
}
