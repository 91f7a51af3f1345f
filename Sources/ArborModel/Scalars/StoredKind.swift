package import Foundation

/// All that is to be known of one kind of field: how a value lies in a record and in a key.
///
/// Most types of attributes have a kind of field of their own, in the same file; see
/// ``AttributeKind``. What runs for each record dispatches once, by ``FieldKind/visit(_:)``, to
/// code that is specialized for the kind; everything else asks ``FieldKind/stored``.
package protocol StoredKind: SendableMetatype {
  /// What lies in the fixed part of a record; for a variable field offset and length.
  associatedtype Slot: BitwiseCopyable

  /// The kind's mark in layouts.
  static var field: FieldKind { get }
  static var form: StorageForm { get }
  /// What the kind is to comparisons.
  static var valueKind: ValueKind { get }
  /// The kinds of numbers that hold every number of this one, exactly.
  static var wider: [FieldKind] { get }
  /// Other kinds as which each value of this one is read.
  static var readAs: [FieldKind] { get }

  /// The value of a field that is not null.
  static func value(_ field: RecordField, of record: RecordView) -> PropertyValue
  /// Writes a field from a value that is not null.
  ///
  /// - Returns: Whether the value fits without loss; see ``RecordBuffer/set(_:_:allocator:)``.
  static func set(
    _ field: RecordField, _ value: PropertyValue, in record: inout RecordBuffer,
    _ allocator: SlabAllocator
  ) -> Bool

  /// What a value adds to a key; nil for a value of another kind.
  static func key(of value: PropertyValue) -> KeyPayload?
  /// The value of a key's number, where the form has one.
  static func value(ofKey bits: UInt64) -> PropertyValue?
  /// The value of stored bytes, where the form has some.
  static func value(ofBytes bytes: UnsafeRawBufferPointer) -> PropertyValue?
  /// The value of a whole number that was worked out of such fields.
  static func value(ofWhole number: Int64) -> PropertyValue
  /// The value of a floating-point number that was worked out of such fields.
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

/// Kinds whose values lie in the fixed part of a record.
package protocol FixedStoredKind: StoredKind {
  /// What a value is in a record; nil where it does not fit without loss.
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

/// The forms that fields have in records and keys: few, whatever kinds are added.
package enum StorageForm: Sendable {
  /// A whole number; in keys eight bytes with the sign bit flipped.
  case whole
  /// A Boolean.
  case flag
  /// A floating-point number; in keys eight bytes in order.
  case real
  /// The number of an object.
  case reference
  /// Sixteen bytes.
  case identifier
  /// Bytes that say themselves where they end.
  case decimal
  /// Bytes of any length; in keys escaped and ended.
  case text
  /// A value with its own tag, which has no order.
  case tagged

  /// Whether a whole number comes out of it, a Boolean's being 0 or 1.
  package var isWhole: Bool { self == .whole || self == .flag }

  /// Whether an interval of numbers tells what a comparison with a constant accepts.
  package var isNumeric: Bool { isWhole || self == .real }

  /// Bytes that a value takes in a key, its marker included; nil where they differ.
  package var keyWidth: Int? {
    switch self {
    case .whole, .real, .reference: 9
    case .flag: 2
    case .identifier: 17
    case .decimal, .text, .tagged: nil
    }
  }
}

/// What a value adds to a key behind its marker, by the form of its kind.
package enum KeyPayload {
  case number(UInt64)
  case flag(Bool)
  case identifier(UUID)
  case decimal([UInt8])
  case text(String)
  case binary(Data)

  /// What a field stores, where its values are equal and ordered as their bytes are.
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

/// Numbers as bits whose order is that of the numbers.
package enum KeyBits {
  @inlinable @inline(__always)
  package static func of(_ number: Int64) -> UInt64 { UInt64(bitPattern: number) ^ (1 << 63) }

  @inlinable @inline(__always)
  package static func of(_ number: Double) -> UInt64 {
    // Adding 0 makes -0 a plain 0 and leaves every other number as it is.
    let pattern = (number + 0).bitPattern
    return pattern >> 63 == 0 ? pattern | 1 << 63 : ~pattern
  }

  /// The number of bits; nil for NaN and -0, which are in no key.
  static func double(_ bits: UInt64) -> Double? {
    let number = Double(bitPattern: bits >> 63 == 1 ? bits ^ (1 << 63) : ~bits)
    return number.isNaN || of(number) != bits ? nil : number
  }
}

/// What is done for a field, whatever its kind is.
package protocol StoredKindVisitor {
  associatedtype Result
  mutating func visit<Kind: StoredKind>(_ kind: Kind.Type) -> Result
}

extension FieldKind {
  /// Calls a visitor with the kind, whose code is specialized for it.
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
    }
  }

  package var stored: any StoredKind.Type {
    var kind = TheKind()
    return visit(&kind)
  }

  /// The bytes a field of this kind takes in the fixed part of a record.
  package var width: Int {
    var width = SlotWidth()
    return visit(&width)
  }

  package var form: StorageForm {
    var form = TheForm()
    return visit(&form)
  }

  /// Whether every value of this kind is read as one of another kind.
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
