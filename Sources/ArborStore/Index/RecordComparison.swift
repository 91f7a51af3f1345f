package import ArborModel

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

extension RecordView {
  /// Whether a field holds the same bytes in two records of one layout.
  @inline(__always)
  package func isSame(_ field: RecordField, as other: RecordView) -> Bool {
    isSame(field, as: other, field)
  }

  /// Whether two fields of one kind hold the same bytes, in records of layouts that may differ.
  @inline(__always)
  package func isSame(
    _ field: RecordField, as other: RecordView, _ otherField: RecordField
  ) -> Bool {
    guard isNull(field) == other.isNull(otherField) else { return false }
    if field.kind.isVariable { return bytes(field).elementsEqual(other.bytes(otherField)) }
    switch field.kind.width {
    case 8: return load(field, as: UInt64.self) == other.load(otherField, as: UInt64.self)
    case 4: return load(field, as: UInt32.self) == other.load(otherField, as: UInt32.self)
    case 2: return load(field, as: UInt16.self) == other.load(otherField, as: UInt16.self)
    case 1: return load(field, as: UInt8.self) == other.load(otherField, as: UInt8.self)
    default:
      let mine = base + Int(field.offset)
      return memcmp(mine, other.base + Int(otherField.offset), field.kind.width) == 0
    }
  }
}

extension RecordView {
  /// Whether a field is null here and not there, or of other bytes, in two records of one layout.
  package func differs(from other: RecordView, _ field: RecordField) -> Bool {
    !isSame(field, as: other)
  }

  /// One bit for each field in which two records of one layout differ; the highest stands for all
  /// from the 64th on.
  package func changedFields(since other: RecordView, in layout: RecordLayout) -> UInt64 {
    var bits: UInt64 = 0
    for (index, field) in layout.fields.enumerated() where !isSame(field, as: other) {
      bits |= 1 << UInt64(min(index, 63))
    }
    return bits
  }
}

extension UnsafeRawBufferPointer {
  /// Whether two runs hold the same bytes.
  @inline(__always)
  func elementsEqual(_ other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard let left = baseAddress, let right = other.baseAddress else { return true }
    return memcmp(left, right, count) == 0
  }

  /// Whether these bytes come before others, as LMDB orders keys.
  @inline(__always)
  func isBefore(_ other: UnsafeRawBufferPointer) -> Bool {
    let shared = Swift.min(count, other.count)
    if shared > 0, let left = baseAddress, let right = other.baseAddress {
      let order = memcmp(left, right, shared)
      if order != 0 { return order < 0 }
    }
    return count < other.count
  }
}
