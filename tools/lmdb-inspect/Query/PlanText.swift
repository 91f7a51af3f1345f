import ArborJSON
import ArborModel

/// A query's plan as text and as JSON.
enum PlanText {
  static func json(_ plan: QueryPlan) -> JSONValue {
    [
      "plan": step(plan.root),
      "suggestedIndex": plan.suggestedIndex.map { .string($0.summary) } ?? .null,
    ]
  }

  private static func step(_ step: QueryPlan.Step) -> JSONValue {
    [
      "kind": .string(step.kind.rawValue),
      "name": step.name.map(JSONValue.string) ?? .null,
      "detail": .string(step.detail),
      "estimatedRows": step.estimatedRows.map { JSONValue($0) } ?? .null,
      "actualRows": step.actualRows.map { JSONValue($0) } ?? .null,
      "inputs": .array(step.inputs.map(Self.step)),
    ]
  }

  static func text(_ plan: QueryPlan) -> String {
    let advice = plan.suggestedIndex.map { "\nan index would help: \($0.summary)" } ?? ""
    return "\(plan)\(advice)"
  }
}
