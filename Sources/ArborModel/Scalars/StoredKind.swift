package import ArborFoundation

/// The encoding of one kind of field in records and keys.
///
/// Most attribute types have a field kind of their own, in the same file; see ``AttributeKind``.
/// Code that runs for each record dispatches once, with ``FieldKind/visit(_:)``, to code that is
/// specialized for the kind. All other code uses ``FieldKind/stored``.
package protocol StoredKind: SendableMetatype {
  /// The contents of the slot in the fixed part of a record. A variable field has the end of its
  /// bytes there.
  associatedtype Slot: BitwiseCopyable

  /// The kind's identifier in layouts.
  static var field: FieldKind { get }
  static var form: StorageForm { get }
  /// The kind of value for comparisons.
  static var valueKind: ValueKind { get }
  /// The kinds that represent every number of this kind exactly.
  static var wider: [FieldKind] { get }
  /// The other kinds that values of this kind can be read as.
  static var readAs: [FieldKind] { get }

  /// Returns the value of a non-null field.
  static func value(_ field: RecordField, of record: RecordView) -> PropertyValue
  /// Sets a field to a non-null value.
  ///
  /// - Returns: Whether the value can be stored without loss; see
  ///   ``RecordBuffer/set(_:_:allocator:)``.
  static func set(
    _ field: RecordField, _ value: PropertyValue, in record: inout RecordBuffer,
    _ allocator: SlabAllocator
  ) -> Bool

  /// Returns the key payload of a value, or `nil` for a value of another kind.
  static func key(of value: PropertyValue) -> KeyPayload?
  /// Returns the value for a key's bits, if the form stores numbers.
  static func value(ofKey bits: UInt64) -> PropertyValue?
  /// Returns the value for stored bytes, if the form stores bytes.
  static func value(ofBytes bytes: UnsafeRawBufferPointer) -> PropertyValue?
  /// Returns the value for an integer computed from fields of this kind.
  static func value(ofWhole number: Int64) -> PropertyValue
  /// Returns the value for a floating-point number computed from fields of this kind.
  static func value(ofReal number: Double) -> PropertyValue
}

extension StoredKind {
  package static var wider: [FieldKind] { [] }
  package static var readAs: [FieldKind] { [] }
  package static func value(ofKey bits: UInt64) -> PropertyValue? { PropertyValue?.none }
  package static func value(ofBytes bytes: UnsafeRawBufferPointer) -> PropertyValue? {
    PropertyValue?.none
  }
  package static func value(ofWhole number: Int64) -> PropertyValue { .null }
  package static func value(ofReal number: Double) -> PropertyValue { .null }
}

/// A kind whose values are stored in the fixed part of a record.
package protocol FixedStoredKind: StoredKind {
  /// Returns the slot of a value, or `nil` if it cannot be stored without loss.
  static func slot(of value: PropertyValue) -> Slot?
  static func value(of slot: Slot) -> PropertyValue
}

extension FixedStoredKind {
  @inline(__always)
  package static func value(_ field: RecordField, of record: RecordView) -> PropertyValue {
    value(of: record.load(field, as: Slot.self))
  }

  package static func set(
    _ field: RecordField, _ value: PropertyValue, in record: inout RecordBuffer,
    _ allocator: SlabAllocator
  ) -> Bool {
    guard let slot = slot(of: value) else { return false }
    record.store(field, slot)
    return true
  }
}

/// The storage forms of fields in records and keys. There are only a few, regardless of the number
/// of kinds.
package enum StorageForm: Sendable {
  /// An integer; in keys, eight bytes with the sign bit flipped.
  case whole
  case flag
  /// A floating-point number; in keys, eight order-preserving bytes.
  case real
  case reference
  /// Sixteen bytes.
  case identifier
  /// Self-delimiting bytes.
  case decimal
  /// Bytes of any length; in keys, escaped and terminated.
  case text
  /// A value with its own tag, which has no order.
  case tagged

  /// Whether values are integers or Booleans. A Boolean is 0 or 1.
  package var isWhole: Bool { self == .whole || self == .flag }

  /// Whether the values that satisfy a comparison with a constant form an interval of numbers.
  package var isNumeric: Bool { isWhole || self == .real }

  /// The number of bytes of a value in a key, including its marker, or `nil` if it varies.
  package var keyWidth: Int? {
    switch self {
    case .whole, .real, .reference: 9
    case .flag: 2
    case .identifier: 17
    case .decimal, .text, .tagged: nil
    }
  }
}

/// The payload of a value in a key, after its marker.
package enum KeyPayload {
  case number(UInt64)
  case flag(Bool)
  case identifier(UUID)
  case decimal([UInt8])
  case text(String)
  case binary(Data)

  /// The bytes that a field stores for the value, or `nil` if their equality and order differ from
  /// those of the values.
  var bytes: [UInt8]? {
    switch self {
    case .number, .flag: nil
    case .identifier(let uuid): withUnsafeBytes(of: uuid.uuid) { Array($0) }
    case .decimal(let bytes): bytes
    case .text(let text): Array(text.utf8)
    case .binary(let data): Array(data)
    }
  }
}

/// An order-preserving encoding of numbers as bits.
@usableFromInline
package enum KeyBits {
  @inlinable @inline(__always)
  package static func of(_ number: Int64) -> UInt64 { UInt64(bitPattern: number) ^ (1 << 63) }

  @inlinable @inline(__always)
  package static func of(_ number: Double) -> UInt64 {
    // Adding 0 turns -0 into 0, and leaves every other number unchanged.
    let pattern = (number + 0).bitPattern
    return pattern >> 63 == 0 ? pattern | 1 << 63 : ~pattern
  }

  /// Returns the number for bits, or `nil` for NaN and -0, which don't occur in keys.
  static func double(_ bits: UInt64) -> Double? {
    let number = Double(bitPattern: bits >> 63 == 1 ? bits ^ (1 << 63) : ~bits)
    return number.isNaN || of(number) != bits ? nil : number
  }
}

/// An operation on a field of any kind.
package protocol StoredKindVisitor {
  associatedtype Result
  mutating func visit<Kind: StoredKind>(_ kind: Kind.Type) -> Result
}

extension FieldKind {
  /// Calls a visitor with the kind. The visitor's code is specialized for each kind.
  @inline(__always)
  package func visit<Visitor: StoredKindVisitor>(_ visitor: inout Visitor) -> Visitor.Result {
    switch self {
    case .boolean: visitor.visit(BooleanKind.self)
    case .int16: visitor.visit(Int16Kind.self)
    case .int32: visitor.visit(Int32Kind.self)
    case .int64: visitor.visit(Int64Kind.self)
    case .float: visitor.visit(FloatKind.self)
    case .double: visitor.visit(DoubleKind.self)
    case .date: visitor.visit(DateKind.self)
    case .uuid: visitor.visit(UUIDKind.self)
    case .reference: visitor.visit(ReferenceKind.self)
    case .string: visitor.visit(StringKind.self)
    case .binary: visitor.visit(BinaryKind.self)
    case .decimal: visitor.visit(DecimalKind.self)
    case .uri: visitor.visit(URIKind.self)
    case .tagged: visitor.visit(UndefinedKind.self)
    case .json: visitor.visit(JSONKind.self)
    }
  }

  package var stored: any StoredKind.Type {
    var kind = TheKind()
    return visit(&kind)
  }

  /// The number of bytes of a field of this kind in the fixed part of a record.
  package var width: Int {
    var width = SlotWidth()
    return visit(&width)
  }

  package var form: StorageForm {
    var form = TheForm()
    return visit(&form)
  }

  /// Returns whether every value of this kind can be read as another kind.
  package func converts(to other: FieldKind) -> Bool {
    other == .tagged || stored.wider.contains(other) || stored.readAs.contains(other)
  }
}

private struct TheKind: StoredKindVisitor {
  func visit<Kind: StoredKind>(_ kind: Kind.Type) -> any StoredKind.Type { kind }
}

private struct TheForm: StoredKindVisitor {
  func visit<Kind: StoredKind>(_ kind: Kind.Type) -> StorageForm { Kind.form }
}

private struct SlotWidth: StoredKindVisitor {
  func visit<Kind: StoredKind>(_ kind: Kind.Type) -> Int { MemoryLayout<Kind.Slot>.size }
}

extension ValueKind {
  package init(_ field: FieldKind) { self = field.stored.valueKind }
}
