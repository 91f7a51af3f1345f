/// A modelled property of a typed class, as it appears in source.
package struct PropertySource: Sendable {
  /// The accessor of a property.
  package enum Kind: String, Sendable {
    case attribute
    /// An attribute that a registered transformer converts to bytes.
    case transformed
    /// `Company?`
    case toOne
    /// `Set<Employee>`
    case toMany
    /// `[Employee]`
    case orderedToMany
    /// `ToMany<Employee>`
    case toManyView

    package var isRelationship: Bool {
      switch self {
      case .attribute, .transformed: false
      case .toOne, .toMany, .orderedToMany, .toManyView: true
      }
    }

    /// The accessor of `ManagedObject` that reads the property.
    var getter: String { "_\(rawValue)" }

    /// The accessor of `ManagedObject` that writes the property, or `nil` for a view, which is
    /// changed through its own methods.
    var setter: String? {
      self == .toManyView ? nil : "_set\(rawValue.prefix(1).uppercased())\(rawValue.dropFirst())"
    }

    /// The accessor of `ManagedObject` that changes the members in place, or `nil` for other
    /// properties.
    var modifier: String? {
      switch self {
      case .toMany: "_changeToMany"
      case .orderedToMany: "_changeOrderedToMany"
      case .attribute, .transformed, .toOne, .toManyView: nil
      }
    }
  }

  /// The property's name, without backticks.
  package var name: String
  package var kind: Kind
  package var type: String
  /// The default value as a constant expression, which is part of the entity's description, or
  /// `nil`.
  package var defaultValue: String?
  /// The expression that is evaluated for each new object, or `nil`.
  package var initialValue: String?
  /// The name of the inverse relationship, or `nil`.
  package var inverse: String?
  /// The options, each an implicit member such as `.indexed`.
  package var options: [String]
  /// The delete rule as an expression, or `nil` for the default.
  package var deleteRule: String?

  package init(
    _ name: String, _ kind: Kind, _ type: String, defaultValue: String? = nil,
    inverse: String? = nil, options: [String] = [], deleteRule: String? = nil
  ) {
    self.name = name
    self.kind = kind
    self.type = type
    self.defaultValue = defaultValue
    self.inverse = inverse
    self.options = options
    self.deleteRule = deleteRule
  }

  /// The option that makes an attribute unique. The entity's description contains it.
  package static let unique = ".unique"

  /// The prefix of the option that names an attribute's transformer.
  package static let transformable = ".transformable("

  /// Whether the store computes the value, so that it cannot be set.
  package var isReadOnly: Bool { options.contains { $0.hasPrefix(".derived(") } }

  /// Returns the expression that describes the property in its entity's description.
  func describing(in className: String) -> String {
    var arguments = [SourceText.literal(name), "\(type).self"]
    if case .transformed = kind { arguments = ["transformed: \(SourceText.literal(name))"] }
    if let defaultValue { arguments.append("default: \(defaultValue)") }
    if let inverse {
      arguments.append("of: \(className).self")
      arguments.append("inverse: \(SourceText.literal(inverse))")
      arguments.append("at: \\.\(SourceText.identifier(inverse))")
    }
    arguments += options.filter { $0 != Self.unique }
    if let deleteRule { arguments.append("deleteRule: \(deleteRule)") }
    let call = kind.isRelationship ? "RelationshipDescription" : "AttributeDescription"
    return SourceText.call(call, arguments, indentation: 4, shift: 2)
  }

  /// The declaration of the property in a class with `@Entity`.
  var declaration: String {
    var arguments = options
    if let inverse { arguments.append("inverse: \(SourceText.literal(inverse))") }
    if let deleteRule { arguments.append("deleteRule: \(deleteRule)") }
    let marker = kind.isRelationship ? "@Relationship" : "@Attribute"
    var attribute = kind.isRelationship ? marker : ""
    if !arguments.isEmpty { attribute = SourceText.call(marker, arguments, indentation: 2) }
    var variable = "var \(SourceText.identifier(name)): \(type)"
    if let value = initialValue ?? defaultValue { variable += " = \(value)" }
    if attribute.isEmpty { return "  \(variable)" }
    let line = "  \(attribute) \(variable)"
    return line.count <= SourceText.width && !line.contains("\n")
      ? line : "  \(attribute)\n  \(variable)"
  }
}
