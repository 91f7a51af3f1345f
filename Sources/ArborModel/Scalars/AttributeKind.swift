package import ArborJSON

/// All that is to be known of one type of attributes.
///
/// A type is added by a case of ``AttributeType``, a kind in the file of its family (whole numbers,
/// other numbers and dates, bytes, special) and a line in ``AttributeType/kind``. What a record
/// keeps of it is told by its ``StoredKind``.
package protocol AttributeKind: SendableMetatype {
  // MARK: Names

  /// The type; a transformable or composite one without its name.
  static var type: AttributeType { get }
  /// The type's number in fingerprints and digests, which stores keep: never change one.
  static var fingerprintCode: UInt8 { get }
  /// The type's name in a model's XML.
  static var xmlName: String { get }
  /// The type's name in a model's JSON.
  static var jsonName: String { get }
  /// The Swift type that reads attributes of this type.
  static var swiftName: String { get }
  /// What fits the type, for messages: `a whole number from -32768 to 32767`.
  static var expectation: String { get }
  /// What a document has to hold, for messages.
  static var documentExpectation: String { get }

  // MARK: Traits

  /// The kind of field that keeps an attribute of the type.
  static var field: FieldKind { get }
  /// What the type is to comparisons.
  static var valueKind: ValueKind { get }
  static var isNumber: Bool { get }
  /// The type of an attribute's bounds, nil where it knows none. A text is bounded by its length.
  static var boundType: AttributeType? { get }
  /// Whether a value is one of its own, within the record.
  static var isPlain: Bool { get }

  // MARK: Values

  /// Whether attributes of the type keep values of a case, their range apart.
  static func keeps(_ value: PropertyValue) -> Bool
  /// The form that an attribute of the type keeps a value in, which is neither nil nor NaN.
  static func form(of value: PropertyValue) -> PropertyValue?
  /// A value as one of this type, where that holds it: converted there and back it is the same.
  static func exactly(_ value: PropertyValue) -> PropertyValue?
  /// A value that was written while an attribute had another type; see ``restoredPlainly(_:)``.
  static func restored(_ value: PropertyValue) -> PropertyValue?
  /// What a text says, where it is written as this type's values are.
  static func spelled(_ text: String) -> PropertyValue?

  // MARK: Models

  /// The value that a number in a model's JSON stands for.
  static func value(ofJSON number: JSONNumber) -> PropertyValue?
  /// The value that a text in a model's JSON stands for.
  static func value(ofJSON text: String) -> PropertyValue?
  /// The value that a text in a model's XML stands for.
  static func value(ofXML text: String) -> PropertyValue?
  /// The value that the default of a former type stands for, where ``value(ofXML:)`` knows none.
  static func value(ofFormerXML text: String) -> PropertyValue?
  /// Whether a model file can give attributes of the type a default value.
  static var hasXMLDefault: Bool { get }

  // MARK: Documents

  /// The value of a document's number.
  static func value(ofDocument number: JSONNumber) -> PropertyValue?
  /// The value of a document; dates and composites are read by their own readers.
  static func value(ofDocument node: JSONNode) -> PropertyValue?
  /// Whether a document's value is read from a text that spells it.
  static var isDocumentText: Bool { get }
  /// Whether attributes of the type may hold unique numbers.
  static var holdsUniqueNumbers: Bool { get }
  /// A unique number in the form that an attribute keeps; nil where it does not fit.
  static func unique(_ number: Int64) -> PropertyValue?
}

/// What most types have in common.
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

  /// The value in the form that an attribute of this type keeps, or nil where it does not fit.
  package static func fitting(_ value: PropertyValue) -> PropertyValue? {
    switch value {
    case .null: return .null
    // NaN has no place in an order.
    default: return value.isNotANumber ? PropertyValue?.none : form(of: value)
    }
  }

  /// A value that was written while an attribute had another type, as one of this type; nil where
  /// this type does not hold it. The result of a migration of this type's values comes back as what
  /// it was, and a text as the number that is written so.
  package static func restoredPlainly(_ value: PropertyValue) -> PropertyValue? {
    if case .string(let text) = value { return spelled(text) }
    return exactly(value)
  }
}

extension AttributeType {
  /// The kinds of all types, in the order in which messages name them.
  package static let kinds: [any AttributeKind.Type] = [
    Int16Kind.self, Int32Kind.self, Int64Kind.self, BooleanKind.self, FloatKind.self,
    DoubleKind.self, DecimalKind.self, StringKind.self, DateKind.self, BinaryKind.self,
    UUIDKind.self, URIKind.self, UndefinedKind.self, TransformableKind.self, CompositeKind.self,
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
    case .undefined: UndefinedKind.self
    }
  }

  /// The value in the form that an attribute of this type keeps, or nil where it does not fit.
  ///
  /// A literal in code does not know the attribute it is for: `0` is whole although the attribute
  /// is a `double`, and a UUID is written as text. Nothing is rounded but a `float`, which has 32
  /// bits.
  package func fitting(_ value: PropertyValue) -> PropertyValue? { kind.fitting(value) }

  /// A value as one of this type, where that holds it: converted there and back it is the same.
  package func exactly(_ value: PropertyValue) -> PropertyValue? { kind.exactly(value) }

  /// What fits the type, for messages: `a whole number from -32768 to 32767`.
  package var expectation: String { kind.expectation }

  /// The type of an attribute's bounds, nil where it knows none. A text is bounded by its length.
  package var boundType: AttributeType? { kind.boundType }
}

extension FieldKind {
  package init(_ type: AttributeType) { self = type.kind.field }
}
