package import ArborJSON

/// The properties and conversions of an attribute type.
///
/// To add a type, add a case to ``AttributeType``, a kind in the file of its family (integers,
/// other numbers and dates, bytes, special) and a line in ``AttributeType/kind``. Its storage in
/// records is defined by its ``StoredKind``.
package protocol AttributeKind: SendableMetatype {
  // MARK: Names

  /// The type. Transformable and composite types have an empty name.
  static var type: AttributeType { get }
  /// The type's number in stored fingerprints and digests, which must never change.
  static var fingerprintCode: UInt8 { get }
  /// The type's name in XML model files.
  static var xmlName: String { get }
  /// The type's name in JSON model files.
  static var jsonName: String { get }
  /// The Swift type that a class uses for attributes of this type.
  static var swiftName: String { get }
  /// The valid values, for messages: `an integer from -32768 to 32767`.
  static var expectation: String { get }
  /// The valid values in a JSON document, for messages.
  static var documentExpectation: String { get }

  // MARK: Traits

  /// The kind of the record field for attributes of the type.
  static var field: FieldKind { get }
  /// The kind of value for comparisons.
  static var valueKind: ValueKind { get }
  static var isNumber: Bool { get }
  /// The type of an attribute's bounds, or `nil` if the type doesn't support bounds. The bounds of
  /// a string are lengths.
  static var boundType: AttributeType? { get }
  /// Whether values are single values that are stored in the record itself.
  static var isPlain: Bool { get }

  // MARK: Values

  /// Returns whether attributes of the type store values of the given case, regardless of their
  /// range.
  static func keeps(_ value: PropertyValue) -> Bool
  /// Returns a value in the form that attributes of the type store, or `nil` if it is invalid. The
  /// value must be neither `nil` nor NaN.
  static func form(of value: PropertyValue) -> PropertyValue?
  /// Returns a value converted to this type if it can be converted back without change, otherwise
  /// `nil`.
  static func exactly(_ value: PropertyValue) -> PropertyValue?
  /// Converts a value that was written when the attribute had another type; see
  /// ``restoredPlainly(_:)``.
  static func restored(_ value: PropertyValue) -> PropertyValue?
  /// Returns the value of a string that has the canonical spelling of a value of this type,
  /// otherwise `nil`.
  static func spelled(_ text: String) -> PropertyValue?

  // MARK: Models

  /// Returns the value for a number in a JSON model file.
  static func value(ofJSON number: JSONNumber) -> PropertyValue?
  /// Returns the value for a string in a JSON model file.
  static func value(ofJSON text: String) -> PropertyValue?
  /// Returns the value for a string in an XML model file.
  static func value(ofXML text: String) -> PropertyValue?
  /// Returns the value for a default value that was written for a former type. Used if
  /// ``value(ofXML:)`` returns `nil`.
  static func value(ofFormerXML text: String) -> PropertyValue?
  /// Whether model files support default values for attributes of the type.
  static var hasXMLDefault: Bool { get }

  // MARK: Documents

  /// Returns the value for a number in a JSON document.
  static func value(ofDocument number: JSONNumber) -> PropertyValue?
  /// Returns the value for a node of a JSON document. Dates and composites have readers of their
  /// own.
  static func value(ofDocument node: JSONNode) -> PropertyValue?
  /// Whether values in JSON documents are read from strings.
  static var isDocumentText: Bool { get }
  /// Whether attributes of the type can store unique numbers.
  static var holdsUniqueNumbers: Bool { get }
  /// Returns a unique number in the form that attributes store, or `nil` if it doesn't fit.
  static func unique(_ number: Int64) -> PropertyValue?
}

/// Default implementations for most types.
extension AttributeKind {
  package static var documentExpectation: String { expectation }
  package static var isNumber: Bool { false }
  package static var boundType: AttributeType? { nil }
  package static var isPlain: Bool { true }
  package static var hasXMLDefault: Bool { true }
  package static var isDocumentText: Bool { false }
  package static var holdsUniqueNumbers: Bool { false }

  package static func form(of value: PropertyValue) -> PropertyValue? {
    keeps(value) ? value : PropertyValue?.none
  }
  package static func exactly(_ value: PropertyValue) -> PropertyValue? { fitting(value) }
  package static func restored(_ value: PropertyValue) -> PropertyValue? { restoredPlainly(value) }
  package static func spelled(_ text: String) -> PropertyValue? { fitting(.string(text)) }
  package static func value(ofJSON number: JSONNumber) -> PropertyValue? { PropertyValue?.none }
  package static func value(ofJSON text: String) -> PropertyValue? { PropertyValue?.none }
  package static func value(ofXML text: String) -> PropertyValue? { PropertyValue?.none }
  package static func value(ofFormerXML text: String) -> PropertyValue? { PropertyValue?.none }
  package static func value(ofDocument number: JSONNumber) -> PropertyValue? { PropertyValue?.none }
  package static func value(ofDocument node: JSONNode) -> PropertyValue? {
    node.number.flatMap { value(ofDocument: $0) }
  }
  package static func unique(_ number: Int64) -> PropertyValue? { .integer(number) }

  /// Returns a value in the form that attributes of this type store, or `nil` if it is invalid.
  package static func fitting(_ value: PropertyValue) -> PropertyValue? {
    switch value {
    case .null: return .null
    // NaN has no position in an order.
    default: return value.isNotANumber ? PropertyValue?.none : form(of: value)
    }
  }

  /// Converts a value that was written when the attribute had another type, or returns `nil` if
  /// this type cannot represent it. Reverses a migration of this type's values, and converts a
  /// string that is spelled like a number of this type.
  package static func restoredPlainly(_ value: PropertyValue) -> PropertyValue? {
    if case .string(let text) = value { return spelled(text) }
    return exactly(value)
  }
}

extension AttributeType {
  /// The kinds of all types, in the order used in messages.
  package static let kinds: [any AttributeKind.Type] = [
    Int16Kind.self, Int32Kind.self, Int64Kind.self, BooleanKind.self, FloatKind.self,
    DoubleKind.self, DecimalKind.self, StringKind.self, DateKind.self, BinaryKind.self,
    UUIDKind.self, URIKind.self, UndefinedKind.self, TransformableKind.self, CompositeKind.self,
    JSONKind.self,
  ]

  package var kind: any AttributeKind.Type {
    switch self {
    case .integer16: Int16Kind.self
    case .integer32: Int32Kind.self
    case .integer64: Int64Kind.self
    case .boolean: BooleanKind.self
    case .float: FloatKind.self
    case .double: DoubleKind.self
    case .decimal: DecimalKind.self
    case .string: StringKind.self
    case .date: DateKind.self
    case .binary: BinaryKind.self
    case .uuid: UUIDKind.self
    case .uri: URIKind.self
    case .transformable: TransformableKind.self
    case .composite: CompositeKind.self
    case .json: JSONKind.self
    case .undefined: UndefinedKind.self
    }
  }

  /// Returns a value in the form that attributes of this type store, or `nil` if it is invalid.
  ///
  /// A literal in code is independent of the attribute's type: `0` is an integer even if the
  /// attribute is a `double`, and a UUID is written as a string. Values are never rounded, except
  /// to the 32 bits of a `float`.
  package func fitting(_ value: PropertyValue) -> PropertyValue? { kind.fitting(value) }

  /// Returns a value converted to this type if it can be converted back without change, otherwise
  /// `nil`.
  package func exactly(_ value: PropertyValue) -> PropertyValue? { kind.exactly(value) }

  /// The valid values, for messages: `an integer from -32768 to 32767`.
  package var expectation: String { kind.expectation }

  /// The type of an attribute's bounds, or `nil` if the type doesn't support bounds. The bounds of
  /// a string are lengths.
  package var boundType: AttributeType? { kind.boundType }
}

extension FieldKind {
  package init(_ type: AttributeType) { self = type.kind.field }
}
