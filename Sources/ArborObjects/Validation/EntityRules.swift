internal import ArborFoundation
internal import ArborModel

/// The rules of a model for the objects of one entity, prepared for checking many objects.
///
/// Transient and derived attributes are not checked: the former are never stored, and the library
/// computes the latter.
struct EntityRules {
  /// Properties that must have a value.
  let mandatory: [RecordProperty]
  /// Numeric fields, which must not contain NaN.
  let numeric: [RecordProperty]
  /// Fields that contain JSON.
  let codable: [AttributeSchema]
  /// Attributes whose values have bounds. For strings, the bounds apply to the length.
  let bounds: [(attribute: AttributeSchema, minimum: PropertyValue, maximum: PropertyValue)]
  /// Attributes whose strings must match a regular expression as a whole.
  let patterns: [(attribute: AttributeSchema, expression: any BoundedExpression)]
  let composites: [(attribute: AttributeSchema, rules: CompositeRules)]
  /// The slots of to-many relationships with a minimum or maximum number of members.
  let counted: [Int]
  /// The slots of relationships that prevent deletion while they have members.
  let denying: [Int]

  init(_ entity: EntitySchema, _ recordProperties: [RecordProperty], in model: ManagedObjectModel) {
    let stored = entity.attributes.filter {
      !$0.description.isTransient && $0.description.derivation == nil
    }
    let relationships = entity.relationships.filter {
      !$0.isHidden && !$0.description.isTransient
    }
    let optional = Set(
      entity.attributes.filter { $0.description.isOptional }.map(\.name)
        + entity.relationships.filter { $0.description.isOptional }.map(\.name))
    let checked = Set(stored.map(\.name) + relationships.map(\.name))
    let properties = recordProperties.filter { checked.contains($0.name) }
    mandatory = properties.filter { !optional.contains($0.name) }
    numeric = properties.filter { [.float, .double, .date, .decimal].contains($0.field.kind) }
    codable = stored.filter { $0.field.kind == .json }
    bounds = stored.compactMap {
      let (minimum, maximum) = ($0.description.minimum, $0.description.maximum)
      return minimum.isNull && maximum.isNull ? nil : ($0, minimum, maximum)
    }
    patterns = stored.compactMap { attribute in
      guard attribute.field.kind == .string, let text = attribute.description.regularExpression,
        let expression = Self.expression(text)
      else { return nil }
      return (attribute, expression)
    }
    composites = stored.compactMap { attribute in
      guard case .composite(let name) = attribute.description.type else { return nil }
      return CompositeRules(name, in: model).map { (attribute, $0) }
    }
    counted = relationships.filter(\.isCounted).map(\.slot)
    denying = relationships.filter { $0.deleteRule == .deny }.map(\.slot)
  }

  /// Returns an expression that must match a whole string, or `nil` if it is malformed. The
  /// services are always available here, because a model with expressions cannot be compiled
  /// without them.
  static func expression(_ text: String) -> (any BoundedExpression)? {
    try? LocaleSupport.services?.expression("\\A(?:\(text))\\z", ignoresCase: false)
  }

  /// Returns whether a string matches. If matching takes too many steps, the result is `false`.
  ///
  /// - Parameter limit: A limit that can stop the evaluation. The caller must not use the result in
  ///   that case.
  static func matches(
    _ text: String, _ expression: any BoundedExpression, _ limit: WorkLimit? = nil
  ) -> Bool {
    // Each call of the closure accounts for 1024 units of work.
    let outcome = expression.firstMatch(in: text, anchored: false) { limit?.admit(1024) ?? true }
    if case .found = outcome { return true }
    return outcome == .stopped
  }

  /// Returns a description of the problem with a string that doesn't match an attribute's regular
  /// expression.
  static func mismatch(of attribute: AttributeDescription) -> String {
    let expression = attribute.regularExpression ?? ""
    return "doesn't match the regular expression “\(expression)”. Correct the string"
  }

  /// Returns a description of how a value violates bounds, or `nil` if it doesn't. For a string,
  /// the bounds apply to its length.
  static func problem(of value: PropertyValue, _ minimum: PropertyValue, _ maximum: PropertyValue)
    -> String?
  {
    var value = value
    var (below, above, isLength) = ("is below", "exceeds", false)
    if case .string(let text) = value {
      value = .integer(Int64(text.count))
      (below, above, isLength) = ("is shorter than", "is longer than", true)
    }
    func bound(_ bound: PropertyValue) -> String {
      isLength ? "\(bound) character\(bound == .integer(1) ? "" : "s")" : "\(bound)"
    }
    if !minimum.isNull, PropertyValue.compare(value, minimum) == .less {
      return "\(below) the minimum of \(bound(minimum))"
    }
    if !maximum.isNull, PropertyValue.compare(value, maximum) == .greater {
      return "\(above) the maximum of \(bound(maximum))"
    }
    return nil
  }
}
