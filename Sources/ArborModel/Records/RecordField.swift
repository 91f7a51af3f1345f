/// The storage format of a field's value in a record.
///
/// Raw values are part of stored layouts and must never change.
@usableFromInline
package enum FieldKind: UInt8, Sendable, Hashable, CaseIterable {
  case boolean = 1
  case int16 = 2
  case int32 = 3
  case int64 = 4
  case float = 5
  case double = 6
  /// Seconds since 2001-01-01 UTC, as a double.
  case date = 7
  case uuid = 8
  /// A to-one relationship: the target's object number.
  case reference = 9
  case string = 10
  case binary = 11
  case decimal = 12
  case uri = 13
  /// A tagged value, for attributes without a type and for composites; see ``ValueCodec``.
  case tagged = 14
  /// The canonical text of a JSON value; see ``JSONKind``.
  case json = 15

  /// Whether the value's bytes are in the variable area, and only their end is in the fixed part.
  @inlinable package var isVariable: Bool { rawValue >= FieldKind.string.rawValue }
}

/// The location of an attribute or to-one relationship in the records of a layout.
@usableFromInline
package struct RecordField: Sendable, Hashable {
  @usableFromInline package let kind: FieldKind
  /// Whether the field is stored as null because the attribute is transient.
  package let isTransient: Bool
  /// Whether a large value may be stored outside the record; see ``BlobReference``. This is
  /// specified by the model, not by stored layouts.
  package private(set) var isExternal: Bool
  /// Whether the store computes the value. This is specified by the model, not by stored layouts.
  package private(set) var isDerived: Bool
  @usableFromInline package let nullMask: UInt8
  @usableFromInline package let nullOffset: UInt32
  /// The offset of the slot, or of a variable field's end, from the start of the record.
  @usableFromInline package let offset: UInt32
  /// The start of the variable area, or 0 for fixed fields.
  @usableFromInline let areaStart: UInt32
  /// A mask that removes, from the bytes of this field's end and the four before them, what precedes
  /// the ends. Only the first variable field has no end before its own.
  @usableFromInline let endsMask: UInt64
  /// The property's catalog number, never reused in its entity.
  package let catalogNumber: UInt16

  /// The variable area, for the fields whose bytes are there.
  struct Area {
    let start: Int
    /// Whether the field is the first one in the area.
    let isFirst: Bool
  }

  init(
    kind: FieldKind, isTransient: Bool, isExternal: Bool = false, isDerived: Bool = false,
    position: Int, offset: Int, area: Area?, catalogNumber: UInt16
  ) {
    self.kind = kind
    self.isTransient = isTransient
    self.isExternal = isExternal
    self.isDerived = isDerived
    nullMask = 1 << UInt8(position & 7)
    nullOffset = UInt32(RecordLayout.headerSize + position >> 3)
    self.offset = UInt32(offset)
    areaStart = UInt32(area?.start ?? 0)
    endsMask = area?.isFirst == true ? 0xFFFF_FFFF_0000_0000 : .max
    self.catalogNumber = catalogNumber
  }

  /// Returns a field of an older layout with those properties of this one that only the model
  /// specifies.
  func found(in older: RecordField) -> RecordField {
    var field = older
    field.isExternal = isExternal
    field.isDerived = isDerived
    return field
  }

  /// The field's index in its layout.
  package var position: Int {
    (Int(nullOffset) - RecordLayout.headerSize) * 8 + nullMask.trailingZeroBitCount
  }

  /// Returns whether a field of a stored layout is equivalent to this one.
  package func isStored(as other: RecordField) -> Bool {
    kind == other.kind && isTransient == other.isTransient && offset == other.offset
      && nullOffset == other.nullOffset && nullMask == other.nullMask
      && catalogNumber == other.catalogNumber
  }
}
