public import ArborJSON
public import ArborModel

/// A transformer between a property of a value model and JSON.
public typealias JSONTransformer = PropertyTransformer<JSONValue>

/// A transformer between a property of a value model and the value of an attribute.
public typealias ManagedTransformer = PropertyTransformer<PropertyValue>

/// A bidirectional transformer between a property of a value model and its raw value in JSON or in
/// a store.
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
/// Nil is passed to transformers: `null` in a document and a `nil` attribute are passed as `.null`.
/// A `nil` property is passed as `nil` if `Property` is optional; otherwise `.null` is written
/// without calling the transformer. A missing JSON key isn't passed.
///
/// An error thrown by a transformer becomes the ``ArborError/underlying`` error of a `modelError`,
/// unless it is an ``ArborError``. If the type of the model's property differs from that of the
/// transformer, reading and writing throw `initialization`.
///
/// A transformer can also be used on its own:
///
/// ```swift
/// let day = JSONTransformer.date(format: "dd.MM.yyyy")
/// let date: Date? = try day.read("24.12.2024")
/// let json = try day.write(date)
/// ```
public struct PropertyTransformer<Raw: TransformedForm>: Sendable {
  private let reading: @Sendable (Raw) throws -> Any?
  private let writing: @Sendable (Any?) throws -> Raw

  /// Creates a transformer from two closures.
  ///
  /// - Parameters:
  ///   - read: A closure that returns the property for a raw value.
  ///   - write: A closure that returns the raw value for a property.
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
          "The property is \(type(of: value)), but its transformer takes \(Property.self). Use a "
            + "transformer for \(type(of: value)).")
      }
      return try write(property)
    }
  }

  /// Returns the property for a raw value.
  ///
  /// - Parameters:
  ///   - raw: The raw value from JSON or from a store. `.null` is passed to the transformer as
  ///     well.
  ///   - type: The type of the property. Use an optional type if the transformer can return `nil`,
  ///     as the standard transformers do for `.null`.
  /// - Throws: Any error from the transformer; ``ArborError`` `initialization` if the transformer
  ///   returns `nil` or a value of another type.
  public func read<Property>(
    _ raw: Raw, as type: Property.Type = Property.self
  ) throws -> Property {
    let value = try reading(raw)
    guard let property = (value ?? nothing(of: type)) as? Property else {
      let found = value.map { "returned \(Swift.type(of: $0))" } ?? "returned nil"
      throw ArborError(
        .initialization,
        "Expected \(type) for the property, but the transformer \(found). Return \(type), or use "
          + "another transformer.")
    }
    return property
  }

  /// Returns the raw value for a property.
  ///
  /// - Parameter property: A value of the transformer's type, or `nil`. If the transformer's type
  ///   isn't optional, `nil` returns `.null` without calling the transformer.
  /// - Throws: Any error from the transformer; ``ArborError`` `initialization` if the property's
  ///   type differs from the transformer's.
  public func write(_ property: Any?) throws -> Raw { try writing(property.flatMap(flattened)) }

  /// Returns the property, regardless of its type, or `nil` if the transformer returns `nil`.
  func readAny(_ raw: Raw) throws -> Any? { try reading(raw) }
}

/// Returns a value without its enclosing optional, or `nil` if the optional is `nil`.
func flattened(_ value: Any) -> Any? {
  guard let optional = value as? any OptionalModelValue else { return value }
  return optional.modelValue
}

/// Returns the `nil` of an optional type, wrapped in `Any`, or `nil` if the type isn't optional.
private func nothing<T>(of type: T.Type) -> Any? { (type as? any OptionalModelValue.Type)?.nothing }

protocol OptionalModelValue {
  static var nothing: Any { get }
  static var wrappedType: Any.Type { get }
  var modelValue: Any? { get }
  /// Sets a property of this optional type. Returns `false` if the property has another type or
  /// cannot be set.
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

/// The type of the raw values of a transformer: JSON or the value of an attribute. No other types
/// may conform.
public protocol TransformedForm: Sendable, Hashable {
  /// The conversions between raw values and `nil`, strings and numbers.
  @_documentation(visibility: internal)
  static var _coding: TransformedFormCoding<Self> { get }
}

/// Conversions between a raw value and `nil`, strings and numbers. Opaque outside of the module.
@_documentation(visibility: internal)
public struct TransformedFormCoding<Form>: Sendable where Form: Sendable {
  let nothing: Form
  let text: @Sendable (String) -> Form
  let integer: @Sendable (Int64) -> Form
  /// A closure that returns the raw value of a number. Throws `unsupportedProperty` if the raw
  /// value cannot represent the number.
  let number: @Sendable (Double) throws(ArborError) -> Form
  /// A closure that returns the string, or `nil` for any other value.
  let textOf: @Sendable (Form) -> String?
  /// A closure that returns the integer, or `nil` for any other value.
  let integerOf: @Sendable (Form) -> Int64?
  /// A closure that returns the number, or `nil` for any other value.
  let numberOf: @Sendable (Form) -> Double?
}

extension TransformedForm {
  static var nothing: Self { _coding.nothing }
  static func text(_ text: String) -> Self { _coding.text(text) }
  static func number(_ number: Double) throws(ArborError) -> Self { try _coding.number(number) }
  var isNothing: Bool { self == Self.nothing }
  var textForm: String? { Self._coding.textOf(self) }
  var integerForm: Int64? { Self._coding.integerOf(self) }
  var numberForm: Double? { Self._coding.numberOf(self) }
}

extension JSONValue: TransformedForm {
  /// The conversions of strings, numbers and `null`.
  @_documentation(visibility: internal)
  public static let _coding = TransformedFormCoding<JSONValue>(
    nothing: .null, text: { .string($0) }, integer: { .number(JSONNumber($0)) },
    number: { number throws(ArborError) in
      guard let number = JSONNumber(number) else {
        throw ArborError(.unsupportedProperty, "JSON has no infinity or NaN. Use a finite number.")
      }
      return .number(number)
    }, textOf: { $0.string }, integerOf: { $0.int64 }, numberOf: { $0.number?.double })
}

extension PropertyValue: TransformedForm {
  /// The conversions of strings, integers, floating-point numbers and null.
  @_documentation(visibility: internal)
  public static let _coding = TransformedFormCoding<PropertyValue>(
    nothing: .null, text: { .string($0) }, integer: { .integer($0) }, number: { .double($0) },
    textOf: { if case .string(let text) = $0 { text } else { nil } },
    integerOf: { if case .integer(let number) = $0 { number } else { nil } },
    numberOf: {
      switch $0 {
      case .double(let number): number
      case .integer(let number): Double(exactly: number)
      default: nil
      }
    })
}
