/// Fields as ``PropertyValue``s: the slow, general way in and out of a record. Typed properties and
/// compiled predicates load slots directly.
extension RecordView {
  /// The value of a field. A to-one relationship gives its target's number as `.integer`, which
  /// callers that know the store turn into an ``ObjectID``.
  package func value(_ field: RecordField) -> PropertyValue {
    if isNull(field) { return .null }
    var loading = Loading(record: self, field: field)
    return field.kind.visit(&loading)
  }

  private struct Loading: StoredKindVisitor {
    let record: RecordView
    let field: RecordField

    func visit<Kind: StoredKind>(_ kind: Kind.Type) -> PropertyValue {
      Kind.value(field, of: record)
    }
  }

  /// The text of a string field; empty where the field is null.
  @inlinable @inline(__always)
  package func string(_ field: RecordField) -> String {
    String(decoding: bytes(field), as: UTF8.self)
  }
}

extension RecordBuffer {
  /// Writes a field from a value.
  ///
  /// - Returns: Whether the value is null or fits the field's kind without loss: whole numbers in
  ///   range, whole numbers into floating point and decimal, a finite number. Nothing is written
  ///   where it does not.
  package mutating func set(
    _ field: RecordField, _ value: PropertyValue, allocator: SlabAllocator
  ) -> Bool {
    if value.isNull {
      setNull(field)
      return true
    }
    var storing = Storing(record: self, field: field, value: value, allocator: allocator)
    defer { self = storing.record }
    return field.kind.visit(&storing)
  }

  private struct Storing: StoredKindVisitor {
    var record: RecordBuffer
    let field: RecordField
    let value: PropertyValue
    let allocator: SlabAllocator

    mutating func visit<Kind: StoredKind>(_ kind: Kind.Type) -> Bool {
      Kind.set(field, value, in: &record, allocator)
    }
  }

  /// Writes the UTF-8 of a text.
  @inline(__always)
  package mutating func store(_ field: RecordField, _ text: String, allocator: SlabAllocator) {
    var text = text
    text.withUTF8 { store(field, bytes: UnsafeRawBufferPointer($0), allocator: allocator) }
  }
}
