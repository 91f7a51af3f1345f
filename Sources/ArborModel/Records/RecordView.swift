internal import CArborBits

/// A view of the fields of one record.
///
/// A view is a borrowed pointer that is valid as long as its memory: a retained slab, or a page of
/// an open transaction. Loads are unaligned, because LMDB aligns values only to 2 bytes. Individual
/// loads are not bounds-checked: ``verify(_:key:)`` validates all fields of a stored record at
/// once, and records created in memory are valid by construction.
@usableFromInline
package struct RecordView {
  @usableFromInline package let base: UnsafeRawPointer
  @usableFromInline package let count: Int

  @inlinable @inline(__always)
  package init(base: UnsafeRawPointer, count: Int) {
    self.base = base
    self.count = count
  }

  @inlinable package var bytes: UnsafeRawBufferPointer { .init(start: base, count: count) }

  /// Prefetches the first 128 bytes, which contain most records completely.
  @inlinable @inline(__always)
  package func prefetch() {
    NumberMap.prefetch(UInt(bitPattern: base))
    NumberMap.prefetch(UInt(bitPattern: base) &+ 64)
  }

  /// The number of times the record has been written.
  @inlinable package var version: UInt32 {
    base.loadUnaligned(fromByteOffset: RecordLayout.versionOffset, as: UInt32.self)
  }

  @inlinable package var layoutNumber: UInt16 {
    base.loadUnaligned(fromByteOffset: RecordLayout.layoutOffset, as: UInt16.self)
  }

  /// The sequence number of the commit that wrote the record, which must be a stored one.
  package var commit: UInt64 {
    base.loadUnaligned(fromByteOffset: count - RecordLayout.trailerSize, as: UInt64.self)
      & 0xFFFF_FFFF_FFFF
  }

  /// Returns the number of bytes without commit and checksum.
  @inlinable @inline(__always)
  package func contentSize(_ layout: RecordLayout) -> Int {
    layout.variableFields.isEmpty
      ? layout.fixedEnd : contentSize(areaStart: layout.fixedEnd)
  }

  /// Returns the number of bytes without commit and checksum of a record with variable fields.
  @inlinable @inline(__always)
  func contentSize(areaStart: Int) -> Int {
    areaStart &+ Int(base.loadUnaligned(fromByteOffset: areaStart &- 4, as: UInt32.self))
  }

  @inlinable @inline(__always)
  package func isNull(_ field: RecordField) -> Bool {
    base.load(fromByteOffset: Int(field.nullOffset), as: UInt8.self) & field.nullMask != 0
  }

  /// Returns the fixed slot of a field, or zero if the field is null. `T` must match the field's
  /// kind.
  @inlinable @inline(__always)
  package func load<T: BitwiseCopyable>(_ field: RecordField, as type: T.Type = T.self) -> T {
    base.loadUnaligned(fromByteOffset: Int(field.offset), as: type)
  }

  /// Returns the bytes of a variable field, empty if the field is null.
  @inlinable @inline(__always)
  package func bytes(_ field: RecordField) -> UnsafeRawBufferPointer {
    // The end of the field before and its own, loaded together.
    let ends =
      base.loadUnaligned(fromByteOffset: Int(field.offset) &- 4, as: UInt64.self) & field.endsMask
    let start = Int(ends & 0xFFFF_FFFF)
    return UnsafeRawBufferPointer(
      start: base + Int(field.areaStart) + start, count: Int(ends >> 32) &- start)
  }

  @inlinable @inline(__always)
  package func reference(_ field: RecordField) -> ObjectNumber? {
    let raw = load(field, as: UInt64.self)
    return raw == 0 ? nil : ObjectNumber(rawValue: raw)
  }

  /// The reason stored bytes are not a valid record of a layout.
  @usableFromInline
  package enum Damage: Sendable {
    case tooShort
    case otherLayout
    case badChecksum
    case fieldOutOfBounds
  }

  /// Validates stored bytes: layout, checksum, and that all fields are within bounds.
  ///
  /// - Returns: The damage, or `nil` if all accessors are safe to use.
  @inlinable
  package func verify(_ layout: RecordLayout, key: ObjectNumber) -> Damage? {
    guard count >= layout.fixedEnd + RecordLayout.trailerSize else { return .tooShort }
    guard layoutNumber == layout.number else { return .otherLayout }
    let end = count - 4
    guard
      base.loadUnaligned(fromByteOffset: end, as: UInt32.self)
        == RecordChecksum.of(base, count: end, layout, key: key)
    else { return .badChecksum }
    return hasForm(of: layout) ? nil : .fieldOutOfBounds
  }

  /// Returns whether the bytes have the given layout and its fields fill the variable area. Together
  /// with a valid checksum, this is equivalent to ``verify(_:key:)``.
  @inlinable @inline(__always)
  package func hasForm(of layout: RecordLayout) -> Bool {
    guard count >= layout.fixedEnd + RecordLayout.trailerSize, layoutNumber == layout.number
    else { return false }
    var last: UInt32 = 0
    var offset = layout.endsStart
    while offset < layout.fixedEnd {
      let end = base.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
      guard end >= last else { return false }
      last = end
      offset &+= 4
    }
    return layout.fixedEnd &+ Int(last) &+ RecordLayout.trailerSize == count
  }
}

/// The checksum at the end of a stored record.
@usableFromInline
package enum RecordChecksum {
  /// Returns the checksum of a record of a layout.
  ///
  /// - Parameter count: The number of bytes before the checksum.
  @usableFromInline
  package static func of(
    _ bytes: UnsafeRawPointer, count: Int, _ layout: RecordLayout, key: ObjectNumber
  ) -> UInt32 {
    arbor_record_crc32c(key.rawValue, layout.entity, bytes, count) ^ layout.seed
  }

  /// Returns the seed with which the last four of `bytes` are the checksum of a record. If they
  /// aren't a record, the result is arbitrary.
  package static func seed(of bytes: UnsafeRawBufferPointer, key: ObjectNumber) -> UInt32? {
    guard let base = bytes.baseAddress, bytes.count >= 12 else { return nil }
    let end = bytes.count - 4
    return arbor_record_crc32c(key.rawValue, key.entity, base, end)
      ^ bytes.loadUnaligned(fromByteOffset: end, as: UInt32.self)
  }
}
