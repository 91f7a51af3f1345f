import ArborJSON
import ArborModel

/// A query's plan as text and as JSON.
enum PlanText {
  /// An estimate is marked if the fact is as many times higher or lower, and by so many rows, as in
  /// the browser's page.
  private static let muchFactor = 4.0
  private static let muchRows = 20

  static func json(_ plan: QueryPlan) -> JSONObject {
    [
      "plan": step(plan.root),
      "suggestedIndex": plan.suggestedIndex.map { .string($0.summary) } ?? .null,
      "notes": .array(plan.notes.map(JSONValue.string)),
    ]
  }

  private static func step(_ step: QueryPlan.Step) -> JSONValue {
    [
      "kind": .string(step.kind.rawValue),
      "name": step.name.map(JSONValue.string) ?? .null,
      "detail": .string(step.detail),
      "estimatedRows": step.estimatedRows.map { JSONValue($0) } ?? .null,
      "actualRows": step.actualRows.map { JSONValue($0) } ?? .null,
      "keysRead": step.keysRead.map { JSONValue($0) } ?? .null,
      "recordsRead": step.recordsRead.map { JSONValue($0) } ?? .null,
      "milliseconds": step.duration.flatMap { JSONNumber(milliseconds($0)) }
        .map(JSONValue.number) ?? .null,
      "inputs": .array(step.inputs.map(Self.step)),
    ]
  }

  static func text(_ plan: QueryPlan) -> String {
    let advice = plan.suggestedIndex.map { "\nan index would help: \($0.summary)" } ?? ""
    return plan.text(line) + advice
  }

  /// Returns a step with its estimated and actual rows and its cost.
  private static func line(_ step: QueryPlan.Step) -> String {
    var parts = [step.description]
    if let actual = step.actualRows, let estimated = step.estimatedRows, step.duration != nil {
      parts.append("estimated \(estimated)\(mark(actual, estimated))")
    }
    if let keys = step.keysRead { parts.append("\(keys) \(keys == 1 ? "key" : "keys") read") }
    if let records = step.recordsRead {
      parts.append("\(records) \(records == 1 ? "record" : "records") read")
    }
    if let duration = step.duration { parts.append("\(milliseconds(duration)) ms") }
    return parts.joined(separator: " · ")
  }

  /// Returns by which factor there are more or fewer rows than estimated, if the factor is large.
  private static func mark(_ actual: Int, _ estimated: Int) -> String {
    let factor = Double(max(actual, estimated)) / Double(max(1, min(actual, estimated)))
    guard abs(actual - estimated) >= muchRows, factor >= muchFactor else { return "" }
    return " (\(Int(factor.rounded())) × \(actual > estimated ? "more" : "fewer"))"
  }

  /// Returns a duration in milliseconds, with two decimals.
  private static func milliseconds(_ duration: Duration) -> Double {
    (duration / .microseconds(10)).rounded() / 100
  }
}
