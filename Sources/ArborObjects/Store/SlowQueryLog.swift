internal import ArborModel
internal import ArborStore
internal import Logging

/// A logger of slow queries.
enum SlowQueryLog {
  private static let logger = Logger(label: "ArborData.query")

  /// Returns the observer of a store's queries, or `nil` if there is neither a threshold nor an
  /// instrument.
  static func watch(slowerThan threshold: Duration?, _ observer: QueryWatch.Observer?)
    -> QueryWatch?
  {
    if threshold == nil, observer == nil { return nil }
    return QueryWatch(threshold: threshold, observer: observer) {
      write($0, to: logger)
    }
  }

  /// Logs one query, as a message and as structured metadata.
  static func write(_ report: QueryWatch.Report, to logger: Logger) {
    var metadata: Logger.Metadata = [
      "entity": "\(report.entity)", "query": "\(report.query)",
      "duration": "\(report.duration)", "plan": "\(report.plan)",
    ]
    if let rows = report.rows { metadata["rows"] = "\(rows)" }
    var hint = ""
    if let index = report.plan.suggestedIndex {
      metadata["suggestedIndex"] = "\(index)"
      hint = "; an index would help: \(index)"
    }
    logger.notice("Slow query of \(report.duration): \(report.query)\(hint)", metadata: metadata)
  }
}
