internal import ArborFoundation
package import ArborModel

/// Decodes keys that ``KeyEncoder`` encoded, for tools and checks.
package enum KeyDecoder {
  /// A column of a key: the kind of its field and its direction.
  package typealias Column = (kind: FieldKind, isAscending: Bool)

  /// The values of a key.
  package struct Tuple: Sendable, Hashable {
    /// One value per column, or fewer if the key was truncated. References are `.integer`.
    package let values: [PropertyValue]
    /// Whether all columns are complete.
    package let isWhole: Bool
  }

  /// Decodes a key, or returns `nil` if it is not a key of these columns.
  package static func decode(_ key: UnsafeRawBufferPointer, columns: [Column]) -> Tuple? {
    var reader = Reader(bytes: key)
    var values: [PropertyValue] = []
    for column in columns {
      reader.mask = KeyEncoder.mask(isAscending: column.isAscending)
      switch reader.column(column.kind) {
      case .value(let value): values.append(value)
      case .cut:
        guard key.count == KeyBuffer.indexLimit else { return nil }
        return Tuple(values: values, isWhole: false)
      case .damaged: return nil
      }
    }
    guard reader.position == key.count else { return nil }
    return Tuple(values: values, isWhole: true)
  }

  /// Returns the number of bytes that the values of leading columns take, or `nil` if they are cut
  /// off or aren't values of these columns.
  static func length(ofLeading columns: ArraySlice<Column>, in key: UnsafeRawBufferPointer) -> Int?
  {
    var length = 0
    for column in columns {
      guard let end = end(of: column, in: key, from: length) else { return nil }
      length = end
    }
    return length
  }

  /// Returns the end of a column's value that begins at an offset, or `nil` if it is cut off or isn't
  /// a value of the column. Reads no more of the value than that requires.
  static func end(of column: Column, in key: UnsafeRawBufferPointer, from start: Int) -> Int? {
    let mask = KeyEncoder.mask(isAscending: column.isAscending)
    guard start < key.count else { return nil }
    if key[start] == KeyEncoder.nilMarker ^ mask { return start + 1 }
    guard key[start] == KeyEncoder.valueMarker ^ mask else { return nil }
    let form = column.kind.stored.form
    if let width = form.keyWidth { return start + width <= key.count ? start + width : nil }
    if case .text = form {
      return key[(start + 1)...].firstIndex(of: KeyEncoder.terminator ^ mask).map { $0 + 1 }
    }
    var reader = Reader(bytes: key, position: start, mask: mask)
    guard case .value = reader.column(column.kind) else { return nil }
    return reader.position
  }

  /// Returns the first value of a key that may have further columns, or `nil` if it is damaged.
  static func first(_ key: UnsafeRawBufferPointer, column: Column) -> PropertyValue? {
    var reader = Reader(bytes: key)
    reader.mask = KeyEncoder.mask(isAscending: column.isAscending)
    if case .value(let value) = reader.column(column.kind) { return value }
    return nil
  }

  private enum Result {
    case value(PropertyValue)
    case cut
    case damaged
  }

  private struct Reader {
    let bytes: UnsafeRawBufferPointer
    var position = 0
    var mask: UInt8 = 0

    mutating func column(_ kind: FieldKind) -> Result {
      guard let marker = byte() else { return .cut }
      if marker == KeyEncoder.nilMarker { return .value(.null) }
      guard marker == KeyEncoder.valueMarker else { return .damaged }
      let stored = kind.stored
      switch stored.form {
      case .whole, .real, .reference: return number { stored.value(ofKey: $0) }
      case .flag:
        guard let flag = byte() else { return .cut }
        return flag <= 1 ? .value(.boolean(flag == 1)) : .damaged
      case .identifier: return uuid()
      case .decimal: return decimal()
      case .text: return text(stored)
      case .tagged: return .damaged
      }
    }

    private mutating func byte() -> UInt8? {
      guard position < bytes.count else { return nil }
      defer { position += 1 }
      return bytes[position] ^ mask
    }

    private mutating func number(_ value: (UInt64) -> PropertyValue?) -> Result {
      var number: UInt64 = 0
      for _ in 0..<8 {
        guard let next = byte() else { return .cut }
        number = number << 8 | UInt64(next)
      }
      return value(number).map(Result.value) ?? .damaged
    }

    private mutating func uuid() -> Result {
      guard position + 16 <= bytes.count else { return .cut }
      var uuid: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
      withUnsafeMutableBytes(of: &uuid) { target in
        for index in 0..<16 { target[index] = bytes[position + index] ^ mask }
      }
      position += 16
      return .value(.uuid(UUID(uuid: uuid)))
    }

    private mutating func decimal() -> Result {
      var digits: [UInt8] = []
      guard let sign = byte() else { return .cut }
      digits.append(sign)
      // Zero consists of the sign alone. Other numbers end with 00, which is inverted for negative
      // numbers.
      let end: UInt8 = sign == 1 ? 0xFF : 0
      while sign != 2 {
        guard let next = byte() else { return .cut }
        digits.append(next)
        if digits.count > 3, next == end { break }
      }
      guard let number = digits.withUnsafeBytes(DecimalCodec.decode), !number.isNaN else {
        return .damaged
      }
      return .value(.decimal(number))
    }

    private mutating func text(_ kind: any StoredKind.Type) -> Result {
      var text: [UInt8] = []
      while true {
        guard let next = byte() else { return .cut }
        if next == KeyEncoder.terminator { break }
        guard next == 1 else {
          text.append(next)
          continue
        }
        guard let escaped = byte() else { return .cut }
        guard escaped == 1 || escaped == 2 else { return .damaged }
        text.append(escaped - 1)
      }
      return text.withUnsafeBytes { kind.value(ofBytes: $0) }.map(Result.value) ?? .damaged
    }
  }
}
