internal import CArborBits

/// Reads the fields of one record.
///
/// A view is a borrowed pointer: it is valid as long as what it was made from — a slab that
/// somebody holds, or a page of a transaction that is open. Loads are unaligned, since LMDB aligns
/// values to 2 bytes only. They are not checked against the record's length one by one:
/// ``verify(_:key:)`` has checked all of them at once for bytes that come from a file, and records
/// made in memory are well formed by construction.
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

  /// Begins to bring the first 128 bytes, most records as a whole, near to the processor.
  @inlinable @inline(__always)
  package func prefetch() {
    NumberMap.prefetch(UInt(bitPattern: base))
    NumberMap.prefetch(UInt(bitPattern: base) &+ 64)
  }

  /// How often the record has been written.
  @inlinable package var version: UInt32 {
    base.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
  }

  /// The number of the layout the record is in.
  @inlinable package var layoutNumber: UInt16 {
    base.loadUnaligned(fromByteOffset: 2, as: UInt16.self)
  }

  @inlinable @inline(__always)
  package func isNull(_ field: RecordField) -> Bool {
    base.load(fromByteOffset: Int(field.nullOffset), as: UInt8.self) & field.nullMask != 0
  }

  /// The fixed slot of a field, as what its kind says; zero where the field is null.
  @inlinable @inline(__always)
  package func load<T: BitwiseCopyable>(_ field: RecordField, as type: T.Type = T.self) -> T {
    base.loadUnaligned(fromByteOffset: Int(field.offset), as: type)
  }

  /// The bytes of a variable field; empty where the field is null.
  @inlinable @inline(__always)
  package func bytes(_ field: RecordField) -> UnsafeRawBufferPointer {
    let offset = Int(load(field, as: UInt32.self))
    let length = Int(base.loadUnaligned(fromByteOffset: Int(field.offset) + 4, as: UInt32.self))
    return UnsafeRawBufferPointer(start: base + offset, count: length)
  }

  @inlinable @inline(__always)
  package func reference(_ field: RecordField) -> ObjectNumber? {
    let raw = load(field, as: UInt64.self)
    return raw == 0 ? nil : ObjectNumber(rawValue: raw)
  }

  /// Why bytes from a file are no record of a layout.
  @usableFromInline
  package enum Damage: Sendable {
    case tooShort
    case unknownFormat
    case otherLayout
    case badChecksum
    case fieldOutOfBounds
  }

  /// Checks bytes that come from a file: format, layout, checksum, and that every field lies
  /// inside.
  ///
  /// - Returns: What is wrong, or nil where every accessor may be used.
  @inlinable
  package func verify(_ layout: RecordLayout, key: ObjectNumber) -> Damage? {
    guard count >= layout.fixedEnd + 4 else { return .tooShort }
    guard base.load(as: UInt8.self) == 1 else { return .unknownFormat }
    guard layoutNumber == layout.number else { return .otherLayout }
    let end = count - 4
    guard
      base.loadUnaligned(fromByteOffset: end, as: UInt32.self)
        == RecordChecksum.of(base, count: end, entity: layout.entity, key: key)
    else { return .badChecksum }
    return hasForm(of: layout) ? nil : .fieldOutOfBounds
  }

  /// Whether bytes are of a layout and every field lies inside of them. With the right checksum
  /// that is all that ``verify(_:key:)`` asks.
  @inlinable @inline(__always)
  package func hasForm(of layout: RecordLayout) -> Bool {
    guard count >= layout.fixedEnd + 4, base.load(as: UInt8.self) == 1,
      layoutNumber == layout.number
    else { return false }
    let end = count - 4
    for field in layout.variableFields {
      // Offset and length, loaded as one.
      let slot = load(field, as: UInt64.self)
      guard Int(slot & 0xFFFF_FFFF) + Int(slot >> 32) <= end else { return false }
    }
    return true
  }
}

/// The checksum at the end of a stored record.
@usableFromInline
package enum RecordChecksum {
  /// CRC-32C over object number, entity number and `count` bytes.
  @usableFromInline
  package static func of(
    _ bytes: UnsafeRawPointer, count: Int, entity: UInt16, key: ObjectNumber
  ) -> UInt32 {
    arbor_record_crc32c(key.rawValue, entity, bytes, count)
  }
}
