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
          "The property is \(type(of: value)), but its transformer takes \(Property.self). Use a "
            + "transformer of its type.")
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
      let found = value.map { "is \(Swift.type(of: $0))" } ?? "is nil"
      throw ArborError(
        .initialization,
        "The property takes \(type), but the transformer's value \(found). Use the transformer's "
          + "type.")
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
  /// How the form holds values.
  @_documentation(visibility: internal)
  static var _coding: TransformedFormCoding<Self> { get }
}

/// How a form holds nil, texts and numbers; opaque outside of the module.
@_documentation(visibility: internal)
public struct TransformedFormCoding<Form>: Sendable where Form: Sendable {
  let nothing: Form
  let text: @Sendable (String) -> Form
  let integer: @Sendable (Int64) -> Form
  /// Throws `unsupportedProperty` for a number that the form cannot hold.
  let number: @Sendable (Double) throws(ArborError) -> Form
  /// The text, nil for anything else.
  let textOf: @Sendable (Form) -> String?
  /// The whole number, nil for anything else.
  let integerOf: @Sendable (Form) -> Int64?
  /// The number, nil for anything else.
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
  /// Strings, numbers and `null`.
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
  /// Strings, integers, floating-point numbers and null.
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
