/// A mutable record in a slab. Slots are modified in place; longer values are appended to the
/// variable area, except that its last value is extended in place.
///
/// The record has no checksum; ``seal(into:layout:key:version:)`` writes its compact stored form.
/// Until then, replaced values leave unused bytes, fewer than are used whenever the record has just
/// been copied or moved. The memory belongs to the slab that the
/// allocator used for the last growth, so code that keeps the buffer must also keep ``slab``.
@usableFromInline
package struct RecordBuffer {
  @usableFromInline package private(set) var base: UnsafeMutableRawPointer
  @usableFromInline package private(set) var count: Int
  package private(set) var capacity: Int
  @usableFromInline package private(set) var slab: RecordSlab

  /// The number of spare bytes in a copy: space for a few short strings, so that setting the
  /// properties of a new object rarely reallocates it.
  private static let slack = 64

  /// Copies a record, leaving space to grow. The bytes may be in the allocator's current slab.
  package init(copying bytes: UnsafeRawBufferPointer, into allocator: SlabAllocator) {
    let present = allocator.slab
    capacity = bytes.count + Self.slack
    base = allocator.allocate(capacity)
    slab = allocator.slab
    count = bytes.count
    withExtendedLifetime(present) {
      if let source = bytes.baseAddress { base.copyMemory(from: source, byteCount: count) }
    }
  }

  package init(copying bytes: [UInt8], into allocator: SlabAllocator) {
    self = bytes.withUnsafeBytes { RecordBuffer(copying: $0, into: allocator) }
  }

  /// Copies a record without its unused bytes.
  init(
    compacting record: RecordView, _ layout: RecordLayout, capacity size: Int,
    into allocator: SlabAllocator
  ) {
    capacity = size + Self.slack
    base = allocator.allocate(capacity)
    slab = allocator.slab
    count = record.copyCompactly(to: base, layout)
  }

  @inlinable package var view: RecordView { RecordView(base: base, count: count) }

  /// Sets a field to null, and clears its slot.
  package func setNull(_ field: RecordField) {
    setNullBit(field, true)
    (base + Int(field.offset)).initializeMemory(
      as: UInt8.self, repeating: 0, count: field.kind.width)
  }

  /// Writes a fixed slot. `T` must match the field's kind.
  @inlinable @inline(__always)
  package func store<T: BitwiseCopyable>(_ field: RecordField, _ value: T) {
    setNullBit(field, false)
    base.storeBytes(of: value, toByteOffset: Int(field.offset), as: T.self)
  }

  /// Writes the bytes of a variable field, over the current ones if they fit or are the last ones,
  /// otherwise at the end.
  ///
  /// - Precondition: The record remains smaller than 4 GiB.
  package mutating func store(
    _ field: RecordField, bytes: UnsafeRawBufferPointer, allocator: SlabAllocator
  ) {
    let present = view.bytes(field)
    var offset = Int(view.load(field, as: UInt32.self))
    if offset == 0 || bytes.count > present.count {
      if offset == 0 || offset + present.count != count { offset = count }
      grow(to: offset + bytes.count, allocator: allocator)
    }
    if let source = bytes.baseAddress {
      (base + offset).copyMemory(from: source, byteCount: bytes.count)
    }
    setNullBit(field, false)
    let slot = base + Int(field.offset)
    slot.storeBytes(of: UInt32(offset), as: UInt32.self)
    slot.storeBytes(of: UInt32(bytes.count), toByteOffset: 4, as: UInt32.self)
  }

  package func setVersion(_ version: UInt32) {
    base.storeBytes(of: version, toByteOffset: RecordLayout.versionOffset, as: UInt32.self)
  }

  @inlinable @inline(__always)
  func setNullBit(_ field: RecordField, _ isNull: Bool) {
    let byte = base + Int(field.nullOffset)
    let bits = byte.load(as: UInt8.self)
    byte.storeBytes(of: isNull ? bits | field.nullMask : bits & ~field.nullMask, as: UInt8.self)
  }

  private mutating func grow(to needed: Int, allocator: SlabAllocator) {
    if needed > capacity {
      capacity = max(needed, capacity * 2)
      let larger = allocator.allocate(capacity)
      larger.copyMemory(from: base, byteCount: count)
      base = larger
      slab = allocator.slab
    }
    count = needed
  }
}
