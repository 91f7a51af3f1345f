public import ArborJSON
public import ArborModel

/// Turns a property of a value model into JSON and back.
public typealias JSONTransformer = PropertyTransformer<JSONValue>

/// Turns a property of a value model into an attribute's value and back.
public typealias ManagedTransformer = PropertyTransformer<PropertyValue>

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
/// A key that is missing in JSON does not arrive. What a transformer throws is the
/// ``ArborError/underlying`` error of a `modelError`, unless it is an ``ArborError`` itself. A
/// model's property of another type than the transformer's is an error `initialization` both ways.
///
/// A transformer can be used by itself, too:
///
/// ```swift
/// let day = JSONTransformer.date(format: "dd.MM.yyyy")
/// let date: Date? = try day.read("24.12.2024")
/// let json = try day.write(date)
/// ```
public struct PropertyTransformer<Raw: TransformedForm>: Sendable {
  private let reading: @Sendable (Raw) throws -> Any?
  private let writing: @Sendable (Any?) throws -> Raw

  /// A transformer from what is read and what is written.
  ///
  /// - Parameters:
  ///   - read: Makes the property's value.
  ///   - write: Makes what stands for it.
  public init<Property>(
    _ read: @escaping @Sendable (Raw) throws -> Property,
    write: @escaping @Sendable (Property) throws -> Raw
  ) {
    reading = { raw in flattened(try read(raw)) }
    writing = { value in
      guard let value = value ?? nothing(of: Property.self) else { return .nothing }
      guard let property = value as? Property else {
        throw ArborError(
          .initialization,
          "The property is \(type(of: value)), and its transformer takes \(Property.self); give "
            + "it a transformer of its type.")
      }
      return try write(property)
    }
  }

  /// Returns the property that a raw value stands for.
  ///
  /// - Parameters:
  ///   - raw: What stands in JSON or in a store; `.null` is given to the transformer, too.
  ///   - type: The property's type; optional where the transformer may give nil, as the ready-made
  ///     ones do for `.null`.
  /// - Throws: What the transformer throws; ``ArborError`` `initialization` where it gives nil or a
  ///   value of another type.
  public func read<Property>(
    _ raw: Raw, as type: Property.Type = Property.self
  ) throws -> Property {
    let value = try reading(raw)
    guard let property = (value ?? nothing(of: type)) as? Property else {
      let found = value.map { "is \(Swift.type(of: $0))" } ?? "gives nil"
      throw ArborError(
        .initialization,
        "The property takes \(type), and the transformer's value \(found); ask for the "
          + "transformer's type.")
    }
    return property
  }

  /// Returns what stands for a property.
  ///
  /// - Parameter property: A value of the transformer's type, or nil; nil goes past a transformer
  ///   whose type is not optional, as `.null`.
  /// - Throws: What the transformer throws; ``ArborError`` `initialization` for a property of
  ///   another type than the transformer's.
  public func write(_ property: Any?) throws -> Raw { try writing(property.flatMap(flattened)) }

  /// The property of any type; `nil` if the transformer gives nil.
  func readAny(_ raw: Raw) throws -> Any? { try reading(raw) }
}

/// The value without the optional around it.
func flattened(_ value: Any) -> Any? {
  guard let optional = value as? any OptionalModelValue else { return value }
  return optional.modelValue
}

/// Nil of an optional type, nil for any other type.
private func nothing<T>(of type: T.Type) -> Any? { (type as? any OptionalModelValue.Type)?.nothing }

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

/// What transformers turn properties into: JSON or an attribute's value. No other type conforms.
public protocol TransformedForm: Sendable, Hashable {
  /// Nil.
  static var nothing: Self { get }
  /// A text.
  static func text(_ text: String) -> Self
  /// A whole number.
  static func integer(_ number: Int64) -> Self
  /// A number, which has to be finite.
  static func number(_ number: Double) throws(ArborError) -> Self
  /// Whether this is nil.
  var isNothing: Bool { get }
  /// The text, nil for anything else.
  var textForm: String? { get }
  /// The whole number, nil for anything else.
  var integerForm: Int64? { get }
  /// The number, nil for anything else.
  var numberForm: Double? { get }
}

extension JSONValue: TransformedForm {
  /// `null`.
  public static var nothing: JSONValue { .null }
  /// A string.
  public static func text(_ text: String) -> JSONValue { .string(text) }
  /// A whole number.
  public static func integer(_ number: Int64) -> JSONValue { .number(JSONNumber(number)) }
  /// A number.
  ///
  /// - Throws: ``ArborError`` `unsupportedProperty` for one that is not finite.
  public static func number(_ number: Double) throws(ArborError) -> JSONValue {
    guard let number = JSONNumber(number) else {
      throw ArborError(.unsupportedProperty, "JSON has no infinite numbers; write a finite one.")
    }
    return .number(number)
  }
  /// Whether this is `null`.
  public var isNothing: Bool { isNull }
  /// The text of a string.
  public var textForm: String? { string }
  /// The whole number of 64 bits.
  public var integerForm: Int64? { int64 }
  /// The number that is nearest.
  public var numberForm: Double? { number?.double }
}

extension PropertyValue: TransformedForm {
  /// ``null``.
  public static var nothing: PropertyValue { .null }
  /// A text.
  public static func text(_ text: String) -> PropertyValue { .string(text) }
  /// A number.
  public static func number(_ number: Double) -> PropertyValue { .double(number) }
  /// Whether this is ``null``.
  public var isNothing: Bool { isNull }
  /// The text of a ``string(_:)``.
  public var textForm: String? { if case .string(let text) = self { text } else { nil } }
  /// The number of an ``integer(_:)``.
  public var integerForm: Int64? { if case .integer(let number) = self { number } else { nil } }
  /// The number of a ``double(_:)`` or ``integer(_:)``.
  public var numberForm: Double? {
    switch self {
    case .double(let number): number
    case .integer(let number): Double(exactly: number)
    default: nil
    }
  }
}
