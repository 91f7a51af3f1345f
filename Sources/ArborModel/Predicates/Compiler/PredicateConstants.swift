/// Decides which expressions no record changes.
struct PredicateConstants {
  let arguments: [Value]

  /// The value of an expression without key paths; nil for others.
  func value(of expression: BoundExpression) -> Value? {
    switch expression {
    case .constant(let value): return value
    // A predicate carries an argument for each that its shape names.
    case .argument(let index): return index < arguments.count ? arguments[index] : .null
    case .path: return nil
    case .list(let elements):
      var values: [Value] = []
      for element in elements {
        guard let value = value(of: element) else { return nil }
        values.append(value)
      }
      return .list(values)
    }
  }
}
