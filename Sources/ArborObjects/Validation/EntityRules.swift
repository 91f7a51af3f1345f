internal import ArborModel
internal import Foundation

/// The rules that a model states for the objects of one entity, prepared for checking many.
///
/// Transient and derived attributes are not checked: nobody but the library stores them.
struct EntityRules {
  /// Properties that must have a value.
  let mandatory: [RecordProperty]
  /// Fields that hold numbers and must not hold NaN.
  let numeric: [RecordProperty]
  /// Fields that hold the JSON of codable values.
  let codable: [AttributeSchema]
  /// Attributes whose values have a lower or upper bound; of texts, their lengths.
  let bounds: [(attribute: AttributeSchema, minimum: PropertyValue, maximum: PropertyValue)]
  /// Attributes whose texts have to match an expression as a whole.
  let patterns: [(attribute: AttributeSchema, expression: BoundedExpression)]
  let composites: [(attribute: AttributeSchema, rules: CompositeRules)]
  /// The slots of to-many relationships with a rule for the number of members.
  let counted: [Int]
  /// The slots of relationships that forbid a deletion while they lead to anything.
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
    codable = stored.filter { $0.description.codableParts != nil }
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
    counted = relationships.filter {
      $0.isToMany && ($0.description.minimumCount > 0 || $0.description.maximumCount > 0)
    }.map(\.slot)
    denying = relationships.filter { $0.deleteRule == .deny }.map(\.slot)
  }

  /// An expression that a text has to match as a whole; nil where it is malformed.
  static func expression(_ text: String) -> BoundedExpression? {
    try? BoundedExpression("\\A(?:\(text))\\z")
  }

  /// A text that takes too many steps does not match.
  ///
  /// - Parameter limit: Ends the evaluation; the outcome is not used then.
  static func matches(
    _ text: String, _ expression: BoundedExpression, _ limit: WorkLimit? = nil
  ) -> Bool {
    // As many units as there are in the time between two questions.
    let outcome = expression.firstMatch(in: text) { limit?.admit(1024) ?? true }
    if case .found = outcome { return true }
    return outcome == .stopped
  }

  /// How a value lies outside of bounds, those of a text being of its length; nil where it does
  /// not.
  static func problem(of value: PropertyValue, _ minimum: PropertyValue, _ maximum: PropertyValue)
    -> String?
  {
    var value = value
    var (below, above, unit) = ("is below", "exceeds", "")
    if case .string(let text) = value {
      value = .integer(Int64(text.count))
      (below, above, unit) = ("is shorter than", "is longer than", " characters")
    }
    if !minimum.isNull, PropertyValue.compare(value, minimum) == .less {
      return "\(below) the minimum of \(minimum)\(unit)"
    }
    if !maximum.isNull, PropertyValue.compare(value, maximum) == .greater {
      return "\(above) the maximum of \(maximum)\(unit)"
    }
    return nil
  }
}
