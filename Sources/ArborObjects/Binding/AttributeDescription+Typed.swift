public import ArborModel

extension AttributeDescription {
  /// Describes an attribute of a typed class by the type that its property has.
  ///
  /// An optional type makes the attribute optional; any other has to have a value at commit.
  ///
  /// ```swift
  /// AttributeDescription("age", Int.self, default: 18, .indexed, .bounds(0...150))
  /// AttributeDescription("rank", Rank.self, default: .junior)
  /// AttributeDescription("nick", String?.self)
  /// ```
  ///
  /// - Parameters:
  ///   - name: The attribute's name, unique in its entity and all it inherits.
  ///   - type: The type that the class reads and writes the attribute as.
  ///   - defaultValue: The value that a new object starts with; nil for none.
  ///   - options: What else is to be said, in any order; `.unique` is said by the entity's
  ///     uniqueness constraints instead.
  public init<T: AttributeValue>(
    _ name: String, _ type: T.Type, default defaultValue: T? = nil, _ options: AttributeOption...
  ) {
    var typed: [AttributeOption] = T.fromValue(.null) == nil ? [] : [.optional]
    if let defaultValue { typed.append(.default(defaultValue)) }
    var attribute = Attribute(name, T.attributeType, options: typed + options)
    attribute.description.narrow(to: T.self)
    precondition(
      !attribute.isUnique,
      "Attribute \(name) is unique by its entity's uniquenessConstraints; name it there.")
    self = attribute.description
    if self.type == .binary { codableParts = PlainAttribute.parts(of: type) }
  }

  /// Adds the range of a Swift type to the bounds, unless the bounds are narrower.
  private mutating func narrow(to type: Any.Type) {
    guard let bounds = AttributeRange.bounds(of: type) else { return }
    if minimum.isNull || Value.compare(minimum, bounds.minimum) == .less {
      minimum = bounds.minimum
    }
    if !bounds.maximum.isNull,
      maximum.isNull || Value.compare(maximum, bounds.maximum) == .greater
    {
      maximum = bounds.maximum
    }
  }

  /// Describes an attribute of a typed class that a registered transformer keeps as bytes; see
  /// ``ManagedObject/transformed(_:)``.
  ///
  /// It is optional unless `.mandatory` says otherwise.
  ///
  /// ```swift
  /// AttributeDescription(transformed: "portrait", .transformable("PNG"), .externalStorage)
  /// ```
  ///
  /// - Parameters:
  ///   - name: The attribute's name, unique in its entity and all it inherits.
  ///   - options: `.transformable` with the transformer's name, and what else is to be said.
  public init(transformed name: String, _ options: AttributeOption...) {
    self = Attribute(name, .transformable(""), options: [.optional] + options).description
  }
}
