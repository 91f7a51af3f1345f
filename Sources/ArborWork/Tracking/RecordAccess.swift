public import ArborModel

// The loads and stores of hot paths. The compiler neither inlines nor specialises `package`
// functions in other modules, so these few lines, which only touch stored properties, stand here
// too; everything else goes through the functions of `RecordView` and `RecordBuffer`.
//
// Sound for the same reason as those: a field's slots lie inside of every record of its layout,
// which was verified when it was read, or was made from the layout's template.

extension RecordField {
  /// Whether a record is null here.
  @inlinable @inline(__always)
  package func isNull(at base: UnsafeRawPointer) -> Bool {
    base.load(fromByteOffset: Int(nullOffset), as: UInt8.self) & nullMask != 0
  }

  /// The fixed slot, as what the field's kind says; zero where it is null.
  @inlinable @inline(__always)
  package func load<T: BitwiseCopyable>(_ base: UnsafeRawPointer, as type: T.Type = T.self) -> T {
    base.loadUnaligned(fromByteOffset: Int(offset), as: type)
  }

  /// The target of a to-one relationship as a raw number; 0 for none.
  @inlinable @inline(__always)
  package func rawTarget(at base: UnsafeRawPointer) -> UInt64 {
    base.loadUnaligned(fromByteOffset: Int(offset), as: UInt64.self)
  }

  /// The bytes of a variable field; empty where it is null.
  @inlinable @inline(__always)
  package func bytes(at base: UnsafeRawPointer) -> UnsafeRawBufferPointer {
    let start = Int(base.loadUnaligned(fromByteOffset: Int(offset), as: UInt32.self))
    let length = Int(base.loadUnaligned(fromByteOffset: Int(offset) + 4, as: UInt32.self))
    return UnsafeRawBufferPointer(start: base + start, count: length)
  }
}

extension RecordBuffer {
  /// Writes a fixed slot. `T` is what the field's kind says.
  @inlinable @inline(__always)
  package func put<T: BitwiseCopyable>(_ field: RecordField, _ value: T) {
    let byte = base + Int(field.nullOffset)
    byte.storeBytes(of: byte.load(as: UInt8.self) & ~field.nullMask, as: UInt8.self)
    base.storeBytes(of: value, toByteOffset: Int(field.offset), as: T.self)
  }
}

extension TrackedObject {
  /// The object that a to-one relationship leads to by its record, as a number. Never fails: nil
  /// where it is of no entity that the relationship leads to, and the context remembers the error.
  @inlinable @inline(__always)
  package final func target(of relation: Relation) -> ObjectNumber? {
    guard let field = relation.field else { return nil }
    let raw = field.rawTarget(at: currentBase)
    guard raw != 0 else { return nil }
    let target = ObjectNumber(rawValue: raw)
    if relation.leads(to: target) { return target }
    _ = workspace?.admits(target, of: self, relation)
    return nil
  }
}
