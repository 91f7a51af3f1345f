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
  ///   - options: Everything else, in any order.
  public init<T: AttributeValue>(
    _ name: String, _ type: T.Type, default defaultValue: T? = nil, _ options: AttributeOption...
  ) {
    var typed: [AttributeOption] = T.fromValue(.null) == nil ? [] : [.optional]
    if let defaultValue { typed.append(.default(defaultValue)) }
    self.init(name, T.attributeType, options: typed + options)
    narrow(to: T.self)
    if self.type == .binary { codableParts = PlainAttribute.parts(of: type) }
  }

  /// Adds the range of a Swift type to the bounds, unless the bounds are narrower.
  private mutating func narrow(to type: Any.Type) {
    guard let bounds = AttributeRange.bounds(of: type) else { return }
    if minimum.isNull || PropertyValue.compare(minimum, bounds.minimum) == .less {
      minimum = bounds.minimum
    }
    if !bounds.maximum.isNull,
      maximum.isNull || PropertyValue.compare(maximum, bounds.maximum) == .greater
    {
      maximum = bounds.maximum
    }
  }

  /// Describes an attribute of a typed class that a registered transformer keeps as bytes.
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
    self.init(name, .transformable(""), options: [.optional] + options)
  }
}
