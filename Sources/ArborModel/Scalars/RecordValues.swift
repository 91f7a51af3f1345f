/// Access to fields as ``PropertyValue``s. This is the general, slow path; typed properties and
/// compiled predicates load slots directly.
extension RecordView {
  /// Returns the value of a field. The value of a to-one relationship is the target's number as
  /// `.integer`, which callers that know the store convert to an ``ObjectID``.
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

  /// Returns the text of a string field, empty if the field is null.
  @inlinable @inline(__always)
  package func string(_ field: RecordField) -> String {
    String(decoding: bytes(field), as: UTF8.self)
  }
}

extension RecordBuffer {
  /// Sets a field to a value.
  ///
  /// - Returns: Whether the value is null or can be stored in the field without loss: an integer in
  ///   range, an integer in a floating-point or decimal field, or a number other than NaN. If not,
  ///   the record remains unchanged.
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

  @inline(__always)
  package mutating func store(_ field: RecordField, _ text: String, allocator: SlabAllocator) {
    var text = text
    text.withUTF8 { store(field, bytes: UnsafeRawBufferPointer($0), allocator: allocator) }
  }
}
