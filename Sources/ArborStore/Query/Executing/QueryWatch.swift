package import ArborModel

/// Observes the queries of a store: notifies an observer when each begins and ends, and reports
/// slow ones.
package final class QueryWatch: Sendable {
  /// A slow query, described without the values of its predicate.
  package struct Report: Sendable {
    /// The entity, conditions, order and limit in words.
    package let query: String
    package let entity: String
    package let duration: Duration
    /// The number of rows or the count that was returned, or `nil` for other results.
    package let rows: Int?
    package let plan: QueryPlan
  }

  /// The outcome of a query.
  package struct Outcome {
    package let duration: Duration
    /// The number of rows or the count that was returned. `nil` for other results and if the query
    /// failed.
    package let rows: Int?
    package let error: StoreError?
  }

  /// A closure that is called when a query begins. The closure it returns is called when the query
  /// ends.
  package typealias Observer =
    @Sendable (_ entity: String, _ kind: FetchKind) -> ((Outcome) -> Void)?

  /// Queries that take at least this long are reported. `nil` disables reporting.
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

  /// Returns a watch with the same observer and another threshold and report handler.
  package func reporting(
    from threshold: Duration, _ tell: @escaping @Sendable (Report) -> Void
  ) -> QueryWatch {
    QueryWatch(threshold: threshold, observer: observer, tell)
  }

  /// Runs a query.
  ///
  /// - Parameters:
  ///   - asked: The kind of result in words, or `nil` for objects.
  ///   - rows: Returns the number of rows of a result, or `nil` for other kinds of results.
  ///   - plan: Returns the plan that answered the query. If it throws, the query is not reported
  ///     but its result is still returned.
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
