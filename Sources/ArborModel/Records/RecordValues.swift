internal import Foundation

/// Fields as ``Value``s: the slow, general way in and out of a record. Typed properties and
/// compiled predicates load slots directly.
extension RecordView {
  /// The value of a field. A to-one relationship gives its target's number as `.integer`, which
  /// callers that know the store turn into an ``ObjectID``.
  package func value(_ field: RecordField) -> Value {
    if isNull(field) { return .null }
    switch field.kind {
    case .boolean: return .boolean(load(field, as: UInt8.self) != 0)
    case .int16: return .integer(Int64(load(field, as: Int16.self)))
    case .int32: return .integer(Int64(load(field, as: Int32.self)))
    case .int64: return .integer(load(field, as: Int64.self))
    case .float: return .double(Double(load(field, as: Float.self)))
    case .double: return .double(load(field, as: Double.self))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: load(field, as: Double.self)))
    case .uuid: return .uuid(UUID(uuid: load(field, as: uuid_t.self)))
    case .reference: return .integer(load(field, as: Int64.self))
    case .string: return .string(string(field))
    case .binary:
      guard field.isExternal else { return .binary(Data(bytes(field))) }
      // Code that needs the value of a reference loads it; see value(_:of:from:).
      guard case .value(let bytes) = content(field) else { return .null }
      return .binary(Data(bytes))
    case .decimal: return DecimalCodec.decode(bytes(field)).map(Value.decimal) ?? .null
    case .uri: return URL(string: string(field)).map(Value.uri) ?? .null
    case .tagged: return ValueCodec.decode(bytes(field)) ?? .null
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
    _ field: RecordField, _ value: Value, allocator: SlabAllocator
  ) -> Bool {
    switch (field.kind, value) {
    case (_, .null): setNull(field)
    case (.boolean, .boolean(let flag)): store(field, UInt8(flag ? 1 : 0))
    case (.int16, .integer(let number)):
      guard let narrow = Int16(exactly: number) else { return false }
      store(field, narrow)
    case (.int32, .integer(let number)):
      guard let narrow = Int32(exactly: number) else { return false }
      store(field, narrow)
    case (.int64, .integer(let number)): store(field, number)
    case (.reference, .integer(let number)): store(field, number)
    case (.float, .double(let number)):
      guard Float(number).isFinite else { return false }
      store(field, Float(number))
    case (.float, .integer(let number)): store(field, Float(number))
    case (.double, .double(let number)):
      guard number.isFinite else { return false }
      store(field, number)
    case (.double, .integer(let number)): store(field, Double(number))
    case (.date, .date(let date)):
      guard date.timeIntervalSinceReferenceDate.isFinite else { return false }
      store(field, date.timeIntervalSinceReferenceDate)
    case (.uuid, .uuid(let uuid)): store(field, uuid.uuid)
    default: return setVariable(field, value, allocator: allocator)
    }
    return true
  }

  private mutating func setVariable(
    _ field: RecordField, _ value: Value, allocator: SlabAllocator
  ) -> Bool {
    switch (field.kind, value) {
    case (.string, .string(let text)): store(field, text, allocator: allocator)
    case (.uri, .uri(let url)): store(field, url.absoluteString, allocator: allocator)
    case (.binary, .binary(let data)):
      data.withUnsafeBytes { bytes in
        if field.isExternal {
          store(external: field, bytes: bytes, allocator: allocator)
        } else {
          store(field, bytes: bytes, allocator: allocator)
        }
      }
    case (.decimal, .decimal(let number)):
      guard let bytes = DecimalCodec.encode(number) else { return false }
      bytes.withUnsafeBytes { store(field, bytes: $0, allocator: allocator) }
    case (.decimal, .integer(let number)):
      return setVariable(field, .decimal(Decimal(number)), allocator: allocator)
    case (.tagged, let any):
      guard ValueCodec.canEncode(any) else { return false }
      ValueCodec.encode(any).withUnsafeBytes { store(field, bytes: $0, allocator: allocator) }
    default: return false
    }
    return true
  }

  /// Writes the UTF-8 of a text.
  @inline(__always)
  package mutating func store(_ field: RecordField, _ text: String, allocator: SlabAllocator) {
    var text = text
    text.withUTF8 { store(field, bytes: UnsafeRawBufferPointer($0), allocator: allocator) }
  }
}
