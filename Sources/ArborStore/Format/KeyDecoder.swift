package import ArborModel
internal import Foundation

/// Reads keys that ``KeyEncoder`` wrote, for tools and checks.
package enum KeyDecoder {
  /// One column of a key: the kind of field it is over, and its direction.
  package typealias Column = (kind: FieldKind, isAscending: Bool)

  /// The values of a key.
  package struct Tuple: Sendable, Hashable {
    /// One value per column; fewer where the key was cut. References are `.integer`.
    package let values: [Value]
    /// Whether every column is there and whole.
    package let isWhole: Bool
  }

  /// The values of a key, or nil for bytes that are no key over these columns.
  package static func decode(_ key: UnsafeRawBufferPointer, columns: [Column]) -> Tuple? {
    var reader = Reader(bytes: key)
    var values: [Value] = []
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

  private enum Result {
    case value(Value)
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
      switch kind {
      case .int16, .int32, .int64:
        return number { .integer(Int64(bitPattern: $0 ^ (1 << 63))) }
      case .reference: return number { .integer(Int64(bitPattern: $0)) }
      case .double, .float: return number { Self.double($0).map(Value.double) }
      case .date:
        return number {
          Self.double($0).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        }
      case .boolean:
        guard let flag = byte() else { return .cut }
        return flag <= 1 ? .value(.boolean(flag == 1)) : .damaged
      case .uuid: return uuid()
      case .decimal: return decimal()
      case .string, .uri, .binary: return text(kind)
      case .tagged: return .damaged
      }
    }

    private mutating func byte() -> UInt8? {
      guard position < bytes.count else { return nil }
      defer { position += 1 }
      return bytes[position] ^ mask
    }

    private mutating func number(_ value: (UInt64) -> Value?) -> Result {
      var number: UInt64 = 0
      for _ in 0..<8 {
        guard let next = byte() else { return .cut }
        number = number << 8 | UInt64(next)
      }
      return value(number).map(Result.value) ?? .damaged
    }

    /// NaN and -0 are in no key.
    private static func double(_ bits: UInt64) -> Double? {
      let number = Double(bitPattern: bits >> 63 == 1 ? bits ^ (1 << 63) : ~bits)
      return number.isNaN || KeyEncoder.bits(number) != bits ? nil : number
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
      // Zero is its sign alone; others end with 00, inverted where the number is negative.
      let end: UInt8 = sign == 1 ? 0xFF : 0
      while sign != 2 {
        guard let next = byte() else { return .cut }
        digits.append(next)
        if digits.count > 3, next == end { break }
      }
      guard let number = digits.withUnsafeBytes(DecimalCodec.decode) else { return .damaged }
      return .value(.decimal(number))
    }

    private mutating func text(_ kind: FieldKind) -> Result {
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
      switch kind {
      case .binary: return .value(.binary(Data(text)))
      case .uri:
        return URL(string: String(decoding: text, as: UTF8.self)).map { .value(.uri($0)) }
          ?? .damaged
      default: return .value(.string(String(decoding: text, as: UTF8.self)))
      }
    }
  }
}
