public import ArborModel
internal import ArborWork

/// The dynamic value, for attributes that no single Swift type fits: composites and those without a
/// type.
///
/// ```swift
/// AttributeDescription("address", Value.self, .type(.composite("Address")))
/// ```
extension Value: AttributeValue {
  /// `undefined`
  public static var attributeType: AttributeType { .undefined }

  /// Reads an attribute of any type; ``Value/null`` where it has no value.
  public static func load(from object: ManagedObject, slot: Int) -> Value {
    object.currentRecord.value(object.binding.attribute(slot, of: object).field)
  }

  /// Writes an attribute of any type.
  ///
  /// - Precondition: The attribute takes the value.
  public func store(in object: ManagedObject, slot: Int) {
    let field = object.binding.attribute(slot, changing: object).field
    var fits = true
    object.write { buffer, allocator in
      fits = buffer.set(field, self, allocator: allocator)
    }
    guard fits else { object.wrongType(slot, Value.self) }
  }

  /// The value itself; nil for null, which optional values hold.
  public static func fromValue(_ value: Value) -> Value? { value.isNull ? Value?.none : value }
}
