internal import ArborModel
internal import ArborStore
internal import Logging

/// Writes queries that take long to the program's log.
enum SlowQueryLog {
  private static let logger = Logger(label: "ArborData.query")

  /// What watches the queries of a store; nil where no threshold is set and no instrument told.
  static func watch(slowerThan threshold: Duration?, _ observer: QueryWatch.Observer?)
    -> QueryWatch?
  {
    if threshold == nil, observer == nil { return nil }
    return QueryWatch(threshold: threshold, observer: observer) {
      write($0, to: logger)
    }
  }

  /// Writes one query: a line for people, its parts for programs.
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
