internal import ArborFoundation
public import ArborModel

/// Access to the Swift values of transformable attributes. See ``AttributeTransformer``.
extension ManagedObject {
  /// Reads the transformable attribute with the given slot, as the value that its transformer
  /// creates from the stored bytes.
  ///
  /// ```swift
  /// var portrait: Image? { get { _transformed(2) } set { _setTransformed(2, newValue) } }
  /// ```
  ///
  /// Never throws. If the transformer isn't registered, cannot read the bytes or returns a value
  /// that isn't a `T`, the result is the attribute's default value, or `nil` if that is
  /// unavailable, too. The context's next throwing operation throws the error, and commits fail
  /// until a rollback. The value is created on each access.
  ///
  /// - Precondition: The attribute is transformable.
  @_documentation(visibility: internal)
  public final func _transformed<T>(_ slot: Int) -> T? {
    let attribute = transformableAttribute(slot, T.self)
    guard let transformed = TransformedAttribute(self, attribute),
      case .binary(let data) = value(of: attribute.field, in: currentRecord)
    else { return nil }
    do throws(ArborError) { return try transformed.value(of: data, as: T.self) } catch {
      session?.note(error)
      guard case .binary(let standard) = attribute.description.defaultValue else { return nil }
      return try? transformed.value(of: standard, as: T.self)
    }
  }

  /// Writes the transformable attribute with the given slot, or sets it to `nil`.
  ///
  /// Never throws. If the value cannot be converted to bytes, the attribute is unchanged, the
  /// context's next throwing operation throws the error, and commits fail until a rollback.
  ///
  /// - Precondition: The attribute is transformable.
  @_documentation(visibility: internal)
  public final func _setTransformed<T>(_ slot: Int, _ value: T?) {
    let attribute = transformableAttribute(slot, T.self)
    guard let value else { return setNullAttribute(slot) }
    guard let transformed = TransformedAttribute(self, attribute) else { return }
    do throws(ArborError) {
      try transformed.data(from: value).store(in: self, slot: slot)
    } catch {
      session?.note(error)
    }
  }

  /// Returns the Swift value of a transformable attribute. With `Any`, the value can have any type.
  /// ``value(forKey:)`` returns the stored bytes.
  ///
  /// - Throws: ``ArborError``: `unknownName` if the property doesn't exist or its transformer isn't
  ///   registered; `typeMismatch` if the transformer cannot read the bytes, the value isn't a `T`,
  ///   or the attribute is not transformable.
  public final func transformedValue<T>(
    forKey key: String, as type: T.Type = T.self
  ) throws(ArborError) -> T? {
    let (attribute, transformed) = try transformableAttribute(named: key)
    guard case .binary(let data) = try value(forKey: attribute.name) else { return nil }
    return try transformed.value(of: data, as: T.self)
  }

  /// Sets a transformable attribute to a Swift value or to `nil`.
  ///
  /// - Throws: ``ArborError``: `unknownName` if the property doesn't exist or its transformer isn't
  ///   registered; `typeMismatch` if the value's type differs from the transformer's, or the
  ///   attribute is not transformable; `invalidArgument` if the value cannot be converted to bytes;
  ///   `notAllowed` if the object can no longer be changed.
  public final func setTransformedValue(_ value: Any?, forKey key: String) throws(ArborError) {
    let (_, transformed) = try transformableAttribute(named: key)
    guard let value else { return try setValue(.null, forKey: key) }
    try setValue(.binary(transformed.data(from: value)), forKey: key)
  }

  private final func transformableAttribute<T>(_ slot: Int, _ type: T.Type) -> AttributeSchema {
    let attribute = binding.entity.attributes[binding.attribute(slot, of: self).slot]
    guard case .transformable = attribute.description.type else { wrongType(slot, type) }
    return attribute
  }

  private final func transformableAttribute(
    named key: String
  ) throws(ArborError) -> (AttributeSchema, TransformedAttribute) {
    // Throws if the name is unknown.
    if binding.entity.property(named: key) == nil { _ = try value(forKey: key) }
    guard case .attribute(let attribute)? = binding.entity.property(named: key),
      let transformed = TransformedAttribute(self, attribute)
    else {
      throw ArborError(
        .typeMismatch,
        "\(binding.entity.name).\(key) is not transformable. Read it with value(forKey:)."
      ).with(entity: binding.entity.name, objectID: objectID, keyPath: key)
    }
    return (attribute, transformed)
  }
}
