internal import ArborFoundation
internal import ArborModel

/// The rules of a model for the parts of a composite type, prepared for checking many values.
struct CompositeRules {
  private struct Part {
    let description: AttributeDescription
    let expression: (any BoundedExpression)?
    /// The rules of the part's own parts, or `nil` if it isn't composite itself.
    let rules: CompositeRules?
  }

  /// A violated rule, with the key path of the part.
  typealias Violation = (keyPath: String, problem: String, value: PropertyValue)

  private let parts: [String: Part]

  /// Prepares the rules of a composite type. Returns `nil` if the model has no such type.
  ///
  /// In a validated model, composite types cannot be nested recursively.
  init?(_ name: String, in model: ManagedObjectModel) {
    guard let type = model.composites.first(where: { $0.name == name }) else { return nil }
    var parts: [String: Part] = [:]
    for part in type.attributes {
      var rules: CompositeRules?
      if case .composite(let inner) = part.type, inner != name {
        rules = CompositeRules(inner, in: model)
      }
      parts[part.name] = Part(
        description: part, expression: part.regularExpression.flatMap(EntityRules.expression),
        rules: rules)
    }
    self.parts = parts
  }

  func violations(of value: PropertyValue, at path: String, _ limit: WorkLimit) -> [Violation] {
    guard case .composite(let values) = value else {
      return [(path, "is not a composite. Set one", value)]
    }
    var violations: [Violation] = []
    for (name, value) in values.sorted(by: { $0.key < $1.key }) where parts[name] == nil {
      let problem =
        "is not a part of the composite." + NearestName.hint(name, in: Array(parts.keys))
        + " Remove it"
      violations.append(("\(path).\(name)", problem, value))
    }
    for (name, part) in parts.sorted(by: { $0.key < $1.key }) {
      let value = values[name] ?? .null
      violations += Self.violations(of: value, part, at: "\(path).\(name)", limit)
    }
    return violations
  }

  private static func violations(
    of value: PropertyValue, _ part: Part, at path: String, _ limit: WorkLimit
  ) -> [Violation] {
    func broken(_ problem: String) -> [Violation] { [(path, problem, value)] }
    let description = part.description
    if value.isNull {
      return description.isOptional || description.isTransient
        ? [] : broken("has no value. Set one, or make the part optional")
    }
    if let rules = part.rules { return rules.violations(of: value, at: path, limit) }
    guard let fitting = description.type.fitting(value) else {
      return broken(
        "is of another type or out of range. Set \(description.type.expectation)")
    }
    if let problem = EntityRules.problem(of: fitting, description.minimum, description.maximum) {
      return broken(problem)
    }
    if let expression = part.expression, case .string(let text) = fitting,
      !EntityRules.matches(text, expression, limit)
    {
      return broken(EntityRules.mismatch(of: description))
    }
    return []
  }
}
