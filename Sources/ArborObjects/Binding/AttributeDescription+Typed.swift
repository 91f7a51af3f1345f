public import ArborModel

extension AttributeDescription {
  /// Creates an attribute of a typed class from the Swift type of its property.
  ///
  /// An optional type makes the attribute optional. With any other type, it must have a value at
  /// commit.
  ///
  /// ```swift
  /// AttributeDescription("age", Int.self, default: 18, .indexed, .bounds(0...150))
  /// AttributeDescription("rank", Rank.self, default: .junior)
  /// AttributeDescription("nick", String?.self)
  /// ```
  ///
  /// - Parameters:
  ///   - name: The attribute's name, unique among all properties of its entity, including inherited
  ///     ones.
  ///   - type: The Swift type of the property.
  ///   - defaultValue: The value of new objects, or `nil` for none.
  ///   - options: Further options, in any order.
  public init<T: AttributeValue>(
    _ name: String, _ type: T.Type, default defaultValue: T? = nil, _ options: AttributeOption...
  ) {
    var typed: [AttributeOption] = T.fromValue(.null) == nil ? [] : [.optional]
    if let defaultValue { typed.append(.default(defaultValue)) }
    self.init(name, T.attributeType, options: typed + options)
    narrow(to: T.self)
    findShape(of: type)
    rawCases = PlainAttribute.rawCases(of: type)
  }

  /// Restricts the bounds to the range of a Swift type, unless they are already narrower.
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

  /// Creates an attribute of a typed class that a registered transformer stores as bytes.
  ///
  /// It is optional unless `.mandatory` is given.
  ///
  /// ```swift
  /// AttributeDescription(transformed: "portrait", .transformable("PNG"), .externalStorage)
  /// ```
  ///
  /// - Parameters:
  ///   - name: The attribute's name, unique among all properties of its entity, including inherited
  ///     ones.
  ///   - options: `.transformable` with the transformer's name, and further options.
  public init(transformed name: String, _ options: AttributeOption...) {
    self.init(name, .transformable(""), options: [.optional] + options)
  }
}
