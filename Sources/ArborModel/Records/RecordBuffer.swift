/// A mutable record in a slab, which is modified in place. A value of another length moves those
/// that follow it in the variable area.
///
/// The record has no checksum; ``RecordView/seal(into:layout:key:version:commit:)`` writes its stored
/// form. The memory belongs to the slab that the allocator used for the last growth, so code that
/// keeps the buffer must also keep ``slab``.
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

  @inlinable package var view: RecordView { RecordView(base: base, count: count) }

  /// Sets a field to null, and clears its slot or removes its bytes.
  package mutating func setNull(_ field: RecordField) {
    setNullBit(field, true)
    guard !field.kind.isVariable else { return resize(field, to: 0) }
    (base + Int(field.offset)).initializeMemory(
      as: UInt8.self, repeating: 0, count: field.kind.width)
  }

  /// Writes a fixed slot. `T` must match the field's kind.
  @inlinable @inline(__always)
  package func store<T: BitwiseCopyable>(_ field: RecordField, _ value: T) {
    setNullBit(field, false)
    base.storeBytes(of: value, toByteOffset: Int(field.offset), as: T.self)
  }

  /// Writes the bytes of a variable field, which must not be bytes of this record.
  ///
  /// - Precondition: The record remains smaller than 4 GiB.
  /// - Complexity: The length of the value, and if it differs from the former one, of those after it.
  package mutating func store(
    _ field: RecordField, bytes: UnsafeRawBufferPointer, allocator: SlabAllocator
  ) {
    let growth = bytes.count - view.bytes(field).count
    if growth > 0 {
      reserve(view.contentSize(areaStart: Int(field.areaStart)) + growth, allocator: allocator)
    }
    resize(field, to: bytes.count)
    if let source = bytes.baseAddress {
      let place = UnsafeMutableRawPointer(mutating: view.bytes(field).baseAddress)
      place?.copyMemory(from: source, byteCount: bytes.count)
    }
    setNullBit(field, false)
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

  /// Moves the bytes after those of a field, so that it has another number of bytes. There must be
  /// space for them.
  private mutating func resize(_ field: RecordField, to length: Int) {
    let shift = length - view.bytes(field).count
    guard shift != 0 else { return }
    let area = Int(field.areaStart)
    let size = view.contentSize(areaStart: area)
    let end = base + area + Int(view.load(field, as: UInt32.self))
    guard size + shift <= Int(UInt32.max) else {
      stopProgram("A record can't be larger than 4 GiB. Store large values outside of records.")
    }
    (end + shift).copyMemory(from: end, byteCount: base + size - end)
    for offset in stride(from: Int(field.offset), to: area, by: 4) {
      let moved = base.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
      base.storeBytes(
        of: moved &+ UInt32(truncatingIfNeeded: shift), toByteOffset: offset, as: UInt32.self)
    }
    count = size + shift
  }

  private mutating func reserve(_ needed: Int, allocator: SlabAllocator) {
    guard needed > capacity else { return }
    capacity = max(needed, capacity * 2)
    let larger = allocator.allocate(capacity)
    larger.copyMemory(from: base, byteCount: count)
    base = larger
    slab = allocator.slab
  }
}

extension RecordView {
  /// Returns a copy without commit and checksum.
  package func copied(_ layout: RecordLayout, into allocator: SlabAllocator) -> RecordView {
    let size = contentSize(layout)
    let start = allocator.allocate(size)
    start.copyMemory(from: base, byteCount: size)
    return RecordView(base: start, count: size)
  }
}
