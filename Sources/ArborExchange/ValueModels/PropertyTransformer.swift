public import ArborModel

/// Turns a property of a value model into JSON and back.
public typealias JSONTransformer = PropertyTransformer<JSONValue>

/// Turns a property of a value model into an attribute's value and back.
public typealias ManagedTransformer = PropertyTransformer<Value>

/// Turns what stands in JSON or in a store into a property of a value model, and back.
///
/// ```swift
/// static let jsonTransformers: [String: JSONTransformer] = [
///   "hired": .date(format: "dd.MM.yyyy"),
///   "size": JSONTransformer { json in
///     guard let text = json.string else { throw SizeError() }
///     return try Size(text)
///   } write: { (size: Size) in .string(size.description) },
/// ]
/// ```
///
/// Nil goes through transformers too: `null` in a document and a nil attribute arrive as `.null`, a
/// property that is nil as nil where `Property` is optional, else as `.null` past the transformer.
/// A key that is missing in JSON does not arrive. What a transformer throws its caller's caller
/// gets.
public struct PropertyTransformer<Raw: Sendable>: Sendable {
  /// The property's value; nil where it has none.
  let read: @Sendable (Raw) throws -> Any?
  /// What is written for a value; nil where the value is of another type.
  let write: @Sendable (Any?) throws -> Raw?

  /// A transformer from what is read and what is written.
  ///
  /// - Parameters:
  ///   - read: Makes the property's value.
  ///   - write: Makes what stands for it.
  public init<Property>(
    _ read: @escaping @Sendable (Raw) throws -> Property,
    write: @escaping @Sendable (Property) throws -> Raw
  ) {
    self.read = { raw in flattened(try read(raw)) }
    self.write = { value in
      guard let property = value ?? nothing(of: Property.self) else { return nil }
      guard let property = property as? Property else { return nil }
      return try write(property)
    }
  }
}

/// The value without the optional around it.
func flattened(_ value: Any) -> Any? {
  guard let optional = value as? any OptionalModelValue else { return value }
  return optional.modelValue
}

/// Nil of an optional type, nil for any other type.
private func nothing<T>(of type: T.Type) -> Any? {
  (type as? any OptionalModelValue.Type)?.nothing
}

/// An optional of any type.
protocol OptionalModelValue {
  static var nothing: Any { get }
  static var wrappedType: Any.Type { get }
  var modelValue: Any? { get }
  /// Sets a property of this type; false where it is none, or cannot be set.
  static func assign<Root>(_ value: Any, _ keyPath: AnyKeyPath, of root: Root) -> Bool
}

extension Optional: OptionalModelValue {
  static var nothing: Any { Self.none as Any }
  static var wrappedType: Any.Type { Wrapped.self }
  var modelValue: Any? { flatMap { flattened($0) } }

  static func assign<Root>(_ value: Any, _ keyPath: AnyKeyPath, of root: Root) -> Bool {
    guard let keyPath = keyPath as? ReferenceWritableKeyPath<Root, Wrapped?>,
      let value = value as? Wrapped
    else { return false }
    root[keyPath: keyPath] = value
    return true
  }
}
