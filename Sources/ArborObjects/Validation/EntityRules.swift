internal import ArborModel
internal import Foundation

/// The rules that a model states for the objects of one entity, prepared for checking many.
///
/// Transient and derived attributes are not checked: nobody but the library stores them.
struct EntityRules {
  /// An attribute whose value has a lower or upper bound; of a text, its length.
  struct Bounds {
    let attribute: AttributeSchema
    let minimum: Value
    let maximum: Value
  }

  /// An attribute whose text has to match an expression as a whole.
  struct Pattern {
    let attribute: AttributeSchema
    let expression: NSRegularExpression
  }

  /// Properties that must have a value.
  let mandatory: [RecordProperty]
  /// Floating-point fields, which must hold a finite number.
  let floating: [RecordProperty]
  let bounds: [Bounds]
  let patterns: [Pattern]
  /// The slots of to-many relationships with a rule for the number of members.
  let counted: [Int]
  /// The slots of relationships that forbid a deletion while they lead to anything.
  let denying: [Int]
  let hasTransientFields: Bool

  init(_ entity: EntitySchema, _ recordProperties: [RecordProperty]) {
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
    floating = properties.filter { [.float, .double, .date].contains($0.field.kind) }
    bounds = stored.compactMap {
      let (minimum, maximum) = ($0.description.minimum, $0.description.maximum)
      return minimum.isNull && maximum.isNull
        ? nil : Bounds(attribute: $0, minimum: minimum, maximum: maximum)
    }
    patterns = stored.compactMap { attribute in
      guard attribute.field.kind == .string, let text = attribute.description.regularExpression,
        let expression = try? NSRegularExpression(pattern: "\\A(?:\(text))\\z")
      else { return nil }
      return Pattern(attribute: attribute, expression: expression)
    }
    counted = relationships.filter {
      $0.isToMany
        && (!$0.description.isOptional || $0.description.minimumCount > 0
          || $0.description.maximumCount > 0)
    }.map(\.slot)
    denying = relationships.filter { $0.deleteRule == .deny }.map(\.slot)
    hasTransientFields = entity.layout.fields.contains(where: \.isTransient)
  }
}
