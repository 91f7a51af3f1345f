public import ArborModel
internal import Foundation

/// The Swift values of transformable attributes; see ``AttributeTransformer``.
extension ManagedObject {
  /// Reads the transformable attribute that the class numbers `slot`, as the value that its
  /// transformer makes of the stored bytes.
  ///
  /// ```swift
  /// var portrait: Image? { get { _transformed(2) } set { _setTransformed(2, newValue) } }
  /// ```
  ///
  /// Never throws. Where no transformer has the attribute's name, or it does not read the bytes, or
  /// its values are no `T`, the default value of the attribute stands in — nil where that cannot be
  /// had either — and the context's next throwing operation throws the reason; no commit succeeds
  /// before a rollback. The value is made anew at each read.
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

  /// Writes the transformable attribute that the class numbers `slot`; nil makes it nil.
  ///
  /// Never throws. Where the value cannot be turned into bytes the attribute stays as it is, and
  /// the context's next throwing operation throws the reason; no commit succeeds before a rollback.
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

  /// The Swift value of a transformable attribute by its name, whatever its type if that is
  /// `Any`; ``value(forKey:)`` returns the stored bytes.
  ///
  /// - Throws: ``ArborError``: `unknownName` for a name that is none, or where no transformer is
  ///   registered for the attribute; `typeMismatch` where it does not read the bytes, its values
  ///   are no `T`, or the attribute is not transformable.
  public final func transformedValue<T>(
    forKey key: String, as type: T.Type = T.self
  ) throws(ArborError) -> T? {
    let (attribute, transformed) = try transformableAttribute(named: key)
    guard case .binary(let data) = try value(forKey: attribute.name) else { return nil }
    return try transformed.value(of: data, as: T.self)
  }

  /// Sets a transformable attribute by its name to a Swift value; nil makes it nil.
  ///
  /// - Throws: ``ArborError``: `unknownName` for a name that is none, or where no transformer is
  ///   registered for the attribute; `typeMismatch` where it takes other values, or the attribute
  ///   is not transformable; `invalidArgument` where the value has no bytes; `notAllowed` for an
  ///   object that may not be changed any more.
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
    // Names the unknown one.
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
