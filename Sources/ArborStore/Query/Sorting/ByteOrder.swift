internal import ArborFoundation
internal import ArborModel

/// Compares rows by byte keys that are encoded like index keys but never truncated.
///
/// The keys are stored consecutively in one buffer. Most comparisons are decided by the eight-byte
/// prefix stored in the key itself.
final class ByteOrder: RowOrder {
  struct Key {
    /// A number whose order agrees with that of the rows. Rows with equal prefixes are compared in
    /// full.
    let prefix: UInt64
    let offset: Int
    let count: Int
  }

  private let keys: [BoundSortKey]
  /// The sort keys, if all are attributes of the row itself. Following a path costs more than
  /// reading its value.
  private let attributes: [AttributeKey]?
  private let columns: SortColumns
  private var bytes = KeyBuffer(limit: .max)
  private var lastOffset = 0
  /// The slot of the attribute that determines a row's prefix without encoding the key: the first
  /// sort key, if it is an unfolded attribute of the row itself.
  private let prefixSlot: Int?
  private let prefixMask: UInt64
  /// The entity that most rows are expected to belong to. A constant, because it is read for every
  /// row.
  private let usualEntity: EntitySchema?
  /// The field of the prefix attribute in the usual entity. A constant for the same reason.
  private let usualField: RecordField?

  private struct AttributeKey {
    let slot: Int
    let isAscending: Bool
    let folding: StringFolding

    /// - Returns: `nil` for a key that is not an attribute of the row itself.
    init?(_ key: BoundSortKey) {
      guard let path = key.path, path.hops.isEmpty, case .attribute(let attribute) = path.leaf
      else { return nil }
      slot = attribute.slot
      isAscending = key.isAscending
      folding = attribute.field.kind.isText ? key.options.folding : []
    }
  }

  /// - Parameter entity: The entity that most rows are expected to belong to.
  /// - Returns: `nil` if a key's order cannot be expressed in bytes.
  init?(_ keys: [BoundSortKey], columns: SortColumns, usually entity: EntitySchema? = nil) {
    for key in keys {
      // Untyped and computed values have no byte encoding that preserves their order. Binary values
      // outside of records can be large, so they aren't copied into keys.
      guard let path = key.path, !key.options.isCollated, !path.leaf.isExternal else {
        return nil
      }
      if case .attribute(let attribute) = path.leaf, attribute.field.kind == .tagged {
        return nil
      }
    }
    self.keys = keys
    let attributes = keys.compactMap(AttributeKey.init)
    self.attributes = attributes.count == keys.count ? attributes : nil
    self.columns = columns
    prefixSlot = keys.first.flatMap(AttributeKey.init)
      .flatMap { $0.folding.isEmpty ? $0.slot : nil }
    prefixMask = keys.first?.isAscending ?? true ? 0 : .max
    usualEntity = entity
    usualField = prefixSlot.flatMap { slot in entity?.attributes[slot].field }
  }

  @inline(__always)
  func isCertainlyAfter(_ record: RecordView, of entity: EntitySchema, _ key: Key) -> Bool {
    guard let prefix = quickPrefix(record, of: entity) else { return false }
    return prefix > key.prefix
  }

  @inline(__always)
  func isCertainlyBefore(_ record: RecordView, of entity: EntitySchema, _ key: Key) -> Bool {
    guard let prefix = quickPrefix(record, of: entity) else { return false }
    return prefix < key.prefix
  }

  func key(of values: [PropertyValue]) -> Key? {
    guard values.count == keys.count else { return nil }
    lastOffset = bytes.count
    for (key, value) in zip(keys, values) {
      guard append(value, as: key) else { return nil }
    }
    var prefix = bytes.prefix(from: lastOffset)
    if prefixSlot != nil, case .attribute(let attribute)? = keys.first?.path?.leaf {
      prefix = Self.prefix(values[0], as: attribute.field.kind) ^ prefixMask
    }
    return Key(prefix: prefix, offset: lastOffset, count: bytes.count - lastOffset)
  }

  func key(_ number: ObjectNumber, _ record: RecordView, of entity: EntitySchema) -> Key {
    lastOffset = bytes.count
    if let attributes {
      for key in attributes { append(key, record, of: entity) }
    } else {
      for key in keys { append(key, number, record, of: entity) }
    }
    return Key(
      prefix: quickPrefix(record, of: entity) ?? bytes.prefix(from: lastOffset),
      offset: lastOffset, count: bytes.count - lastOffset)
  }

  /// Returns the bytes of a row's key, without keeping them.
  func bytes(_ number: ObjectNumber, _ record: RecordView, of entity: EntitySchema) -> [UInt8] {
    let key = key(number, record, of: entity)
    defer { dropLastKey() }
    return Array(bytes.bytes(key.offset, key.count))
  }

  func dropLastKey() { bytes.truncate(to: lastOffset) }

  func dropKeys() { bytes.truncate(to: 0) }

  @inline(__always)
  func compare(_ left: Key, _ right: Key) -> Ordering {
    if left.prefix != right.prefix { return left.prefix < right.prefix ? .less : .greater }
    return Ordering(
      bytes: bytes.bytes(left.offset, left.count), bytes.bytes(right.offset, right.count))
  }

  func prefix(of key: Key) -> UInt64 { key.prefix }

  @inline(__always)
  private func append(_ key: AttributeKey, _ record: RecordView, of entity: EntitySchema) {
    let field = entity.attributes[key.slot].field
    if record.isNull(field) {
      KeyEncoder.appendNil(isAscending: key.isAscending, to: &bytes)
    } else {
      append(field, of: record, isAscending: key.isAscending, key.folding)
    }
  }

  private func append(
    _ field: RecordField, of record: RecordView, isAscending: Bool, _ folding: StringFolding
  ) {
    if field.kind == .string, !folding.isEmpty {
      KeyEncoder.append(folding.fold(record.string(field)), isAscending: isAscending, to: &bytes)
    } else {
      KeyEncoder.append(field, of: record, isAscending: isAscending, to: &bytes)
    }
  }

  private func append(
    _ key: BoundSortKey, _ number: ObjectNumber, _ record: RecordView, of entity: EntitySchema
  ) {
    guard let path = key.path else { return }
    let isAscending = key.isAscending
    switch columns.operand(path, number, record, of: entity) {
    case .null: KeyEncoder.appendNil(isAscending: isAscending, to: &bytes)
    case .field(let field, let view):
      append(field, of: view, isAscending: isAscending, key.options.folding)
    case .binary(let data):
      _ = KeyEncoder.append(.binary(data), as: .binary, isAscending: isAscending, to: &bytes)
    case .object(let object): KeyEncoder.append(object, isAscending: isAscending, to: &bytes)
    case .text(let text):
      KeyEncoder.append(key.options.folding.fold(text), isAscending: isAscending, to: &bytes)
    }
  }

  /// Appends the value of a sort key. Returns `false` if the key cannot have such a value.
  private func append(_ value: PropertyValue, as key: BoundSortKey) -> Bool {
    let isAscending = key.isAscending
    guard let path = key.path else { return false }
    switch (path.leaf, value) {
    case (_, .null): KeyEncoder.appendNil(isAscending: isAscending, to: &bytes)
    case (.attribute(let attribute), .string(let text)) where attribute.field.kind == .string:
      KeyEncoder.append(key.options.folding.fold(text), isAscending: isAscending, to: &bytes)
    case (.attribute(let attribute), _):
      return KeyEncoder.append(
        value, as: attribute.field.kind, isAscending: isAscending, to: &bytes)
    case (.toOne, .integer(let raw)), (.object, .integer(let raw)):
      let number = ObjectNumber(rawValue: UInt64(bitPattern: raw))
      KeyEncoder.append(number, isAscending: isAscending, to: &bytes)
    case (.entityName, .string(let text)):
      KeyEncoder.append(key.options.folding.fold(text), isAscending: isAscending, to: &bytes)
    default: return false
    }
    return true
  }

  @inline(__always)
  private func quickPrefix(_ record: RecordView, of entity: EntitySchema) -> UInt64? {
    if let usualField, entity === usualEntity {
      return Self.prefix(record, usualField) ^ prefixMask
    }
    guard let prefixSlot else { return nil }
    return Self.prefix(record, entity.attributes[prefixSlot].field) ^ prefixMask
  }

  /// Returns eight bytes that are consistent with the order of a field's values. `nil`, the least
  /// value, has the least prefix.
  @inline(__always)
  private static func prefix(_ record: RecordView, _ field: RecordField) -> UInt64 {
    if record.isNull(field) { return 0 }
    switch field.kind {
    case .boolean: return UInt64(record.load(field, as: UInt8.self))
    case .int16: return KeyBits.of(Int64(record.load(field, as: Int16.self)))
    case .int32: return KeyBits.of(Int64(record.load(field, as: Int32.self)))
    case .int64: return KeyBits.of(record.load(field, as: Int64.self))
    case .float: return KeyBits.of(Double(record.load(field, as: Float.self)))
    case .double, .date: return KeyBits.of(record.load(field, as: Double.self))
    case .reference: return record.load(field, as: UInt64.self)
    case .uuid: return UInt64(bigEndian: record.load(field, as: UInt64.self))
    case .string, .uri, .binary, .json, .decimal: return record.bytes(field).prefixNumber
    case .tagged: return 0
    }
  }

  /// Returns the prefix of a value that has been appended to a key as a field of this kind.
  private static func prefix(_ value: PropertyValue, as kind: FieldKind) -> UInt64 {
    switch value {
    case .boolean(let flag): flag ? 1 : 0
    case .integer(let number): kind == .reference ? UInt64(bitPattern: number) : KeyBits.of(number)
    case .double(let number): KeyBits.of(number)
    case .date(let date): KeyBits.of(date.timeIntervalSinceReferenceDate)
    case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { $0.prefixNumber }
    case .string(let text): Array(text.utf8).withUnsafeBytes { $0.prefixNumber }
    case .uri(let url): Array(url.absoluteString.utf8).withUnsafeBytes { $0.prefixNumber }
    case .binary(let data): data.withUnsafeBytes { $0.prefixNumber }
    case .decimal(let number): DecimalCodec.encode(number)?.withUnsafeBytes { $0.prefixNumber } ?? 0
    case .null, .objectID, .list, .composite: 0
    }
  }
}

extension UnsafeRawBufferPointer {
  /// The first eight bytes as a big-endian number. Missing bytes count as 0.
  @inline(__always)
  var prefixNumber: UInt64 {
    if count >= 8 { return UInt64(bigEndian: loadUnaligned(as: UInt64.self)) }
    var number: UInt64 = 0
    for byte in self { number = number << 8 | UInt64(byte) }
    return count == 0 ? 0 : number << UInt64(64 - 8 * count)
  }
}

extension FieldKind {
  /// Whether text options apply to fields of this kind.
  fileprivate var isText: Bool { self == .string }
}
