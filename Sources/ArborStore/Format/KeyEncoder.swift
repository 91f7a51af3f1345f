internal import ArborFoundation
package import ArborModel

/// Encodes values as order-preserving byte strings: comparing keys bytewise compares their values.
///
/// ```
/// column   01                          nil
///          02 · payload                any value
/// payload  int16/32/64  8 bytes big-endian, sign bit flipped
///          double float 8 bytes big-endian; sign bit set where it was clear, else all bits
///          date         flipped; -0 as 0
///          boolean      00 or 01
///          reference    8 bytes big-endian
///          uuid         16 bytes
///          decimal      as DecimalCodec writes it
///          string uri   the bytes, 00 as 01 01 and 01 as 01 02, then 00
///          binary
/// ```
///
/// The bytes of a descending column are inverted. The encoding of a column is prefix-free, so the
/// order of tuples is the order of their concatenated columns, and a key is unique to its tuple
/// unless it was truncated.
package enum KeyEncoder {
  static let nilMarker: UInt8 = 1
  static let valueMarker: UInt8 = 2
  static let terminator: UInt8 = 0

  /// Returns the mask with which the bytes of a column are XORed.
  @inline(__always)
  static func mask(isAscending: Bool) -> UInt8 { isAscending ? 0 : 0xFF }

  /// Appends a record's field to a key.
  ///
  /// - Precondition: The field is not ``FieldKind/tagged``, because untyped values have no order.
  @inline(__always)
  package static func append(
    _ field: RecordField, of record: RecordView, isAscending: Bool = true, to key: inout KeyBuffer
  ) {
    let mask = mask(isAscending: isAscending)
    guard !record.isNull(field) else {
      key.append(nilMarker ^ mask)
      return
    }
    switch field.kind {
    case .int64: key.append(valueMarker, KeyBits.of(record.load(field, as: Int64.self)), mask: mask)
    case .int32:
      key.append(valueMarker, KeyBits.of(Int64(record.load(field, as: Int32.self))), mask: mask)
    case .int16:
      key.append(valueMarker, KeyBits.of(Int64(record.load(field, as: Int16.self))), mask: mask)
    case .double, .date:
      key.append(valueMarker, KeyBits.of(record.load(field, as: Double.self)), mask: mask)
    case .float:
      key.append(valueMarker, KeyBits.of(Double(record.load(field, as: Float.self))), mask: mask)
    case .reference: key.append(valueMarker, record.load(field, as: UInt64.self), mask: mask)
    case .boolean:
      key.append(valueMarker ^ mask)
      key.append((record.load(field, as: UInt8.self) == 0 ? 0 : 1) ^ mask)
    case .uuid:
      let bytes = record.base + Int(field.offset)
      key.append(valueMarker ^ mask)
      key.append(UnsafeRawBufferPointer(start: bytes, count: 16), mask: mask)
    case .decimal:
      key.append(valueMarker ^ mask)
      key.append(record.bytes(field), mask: mask)
    case .string, .uri, .binary, .json: appendText(record.bytes(field), mask: mask, to: &key)
    case .tagged:
      stopProgram("Values without a type have no order. Index a typed attribute instead.")
    }
  }

  /// Appends the folded form of a record's text to a key.
  static func append(
    _ field: RecordField, folding: StringFolding, of record: RecordView, isAscending: Bool,
    to key: inout KeyBuffer
  ) {
    let mask = mask(isAscending: isAscending)
    guard !record.isNull(field) else { return key.append(nilMarker ^ mask) }
    folding.withFolded(record.bytes(field)) { appendText($0, mask: mask, to: &key) }
  }

  /// Replaces a key with that of a token.
  package static func setToken(_ token: UnsafeRawBufferPointer, to key: inout KeyBuffer) {
    key.removeAll()
    appendText(token, mask: 0, to: &key)
  }

  /// The length at which tokens are truncated. A longer token has the key of its prefix.
  package static let tokenLimit = KeyBuffer.indexLimit - 1

  /// Appends a value to a key.
  ///
  /// - Parameter kind: The kind of the indexed fields.
  /// - Returns: Whether the value is null or of that kind. Otherwise nothing is appended.
  package static func append(
    _ value: PropertyValue, as kind: FieldKind, isAscending: Bool = true, to key: inout KeyBuffer
  ) -> Bool {
    let mask = mask(isAscending: isAscending)
    if value.isNull {
      key.append(nilMarker ^ mask)
      return true
    }
    guard let payload = kind.stored.key(of: value) else { return false }
    switch payload {
    case .number(let bits): key.append(valueMarker, bits, mask: mask)
    case .flag(let flag):
      key.append(valueMarker ^ mask)
      key.append((flag ? 1 : 0) ^ mask)
    case .identifier(let uuid):
      key.append(valueMarker ^ mask)
      withUnsafeBytes(of: uuid.uuid) { key.append($0, mask: mask) }
    case .decimal(let bytes):
      key.append(valueMarker ^ mask)
      bytes.withUnsafeBytes { key.append($0, mask: mask) }
    case .text(let text): appendText(text, mask: mask, to: &key)
    case .binary(let data): data.withUnsafeBytes { appendText($0, mask: mask, to: &key) }
    }
    return true
  }

  static func appendNil(isAscending: Bool, to key: inout KeyBuffer) {
    key.append(nilMarker ^ mask(isAscending: isAscending))
  }

  static func append(_ number: ObjectNumber, isAscending: Bool, to key: inout KeyBuffer) {
    key.append(valueMarker, number.rawValue, mask: mask(isAscending: isAscending))
  }

  static func append(_ text: String, isAscending: Bool, to key: inout KeyBuffer) {
    appendText(text, mask: mask(isAscending: isAscending), to: &key)
  }

  /// Appends the common prefix of the keys of all strings that begin with a prefix.
  package static func appendPrefix(
    _ prefix: String, isAscending: Bool = true, to key: inout KeyBuffer
  ) {
    let mask = mask(isAscending: isAscending)
    var prefix = prefix
    key.append(valueMarker ^ mask)
    prefix.withUTF8 { key.append(escaping: UnsafeRawBufferPointer($0), mask: mask) }
  }

  /// Appends the common prefix of the keys of all values other than `nil`.
  package static func appendAnyValue(isAscending: Bool = true, to key: inout KeyBuffer) {
    key.append(valueMarker ^ mask(isAscending: isAscending))
  }

  private static func appendText(_ text: String, mask: UInt8, to key: inout KeyBuffer) {
    var text = text
    text.withUTF8 { appendText(UnsafeRawBufferPointer($0), mask: mask, to: &key) }
  }

  private static func appendText(
    _ bytes: UnsafeRawBufferPointer, mask: UInt8, to key: inout KeyBuffer
  ) {
    key.append(valueMarker ^ mask)
    key.append(escaping: bytes, mask: mask)
    key.append(terminator ^ mask)
  }
}
