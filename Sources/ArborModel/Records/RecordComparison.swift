internal import ArborFoundation

/// Comparison of records with the same layout.
extension RecordView {
  /// Returns whether a field is null in exactly one of the records, or has different bytes.
  @inlinable @inline(__always)
  package func differs(from other: RecordView, _ field: RecordField) -> Bool {
    isNull(field) != other.isNull(field) || hasOtherBytes(than: other, field)
  }

  @usableFromInline @inline(__always)
  func hasOtherBytes(than other: RecordView, _ field: RecordField) -> Bool {
    if field.kind.isVariable {
      let mine = bytes(field)
      let theirs = other.bytes(field)
      guard mine.count == theirs.count else { return true }
      guard let left = mine.baseAddress, let right = theirs.baseAddress else { return false }
      return memcmp(left, right, mine.count) != 0
    }
    switch field.kind.width {
    case 8: return load(field, as: UInt64.self) != other.load(field, as: UInt64.self)
    case 4: return load(field, as: UInt32.self) != other.load(field, as: UInt32.self)
    case 2: return load(field, as: UInt16.self) != other.load(field, as: UInt16.self)
    case 1: return load(field, as: UInt8.self) != other.load(field, as: UInt8.self)
    default:
      let offset = Int(field.offset)
      return memcmp(base + offset, other.base + offset, field.kind.width) != 0
    }
  }

  /// Returns one bit for each field that differs between two records of a layout. The highest bit
  /// represents the 64th field and all further ones.
  package func changedFields(since other: RecordView, in layout: RecordLayout) -> UInt64 {
    var bits: UInt64 = 0
    for (index, field) in layout.fields.enumerated() where differs(from: other, field) {
      bits |= 1 << UInt64(min(index, 63))
    }
    return bits
  }

  /// Returns the bits of the fields that differ, like ``changedFields(since:in:)``, but without
  /// those that the store computes.
  package func editedFields(since other: RecordView, in layout: RecordLayout) -> UInt64 {
    var bits: UInt64 = 0
    for (index, field) in layout.fields.enumerated()
    where !field.isDerived && differs(from: other, field) {
      bits |= 1 << UInt64(min(index, 63))
    }
    return bits
  }

  /// Returns whether any of the fields that the store computes differs.
  package func differsInDerivedFields(from other: RecordView, in layout: RecordLayout) -> Bool {
    layout.derivedFields.contains { differs(from: other, $0) }
  }
}
