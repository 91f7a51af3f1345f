/// The escapes of JSON strings, whose grammar the scanner has checked.
enum JSONEscapes {
  /// The UTF-16 code unit of four hexadecimal digits, or nil where there are none.
  static func unit(at position: Int, in bytes: UnsafeRawBufferPointer) -> UInt16? {
    guard position + 4 <= bytes.count else { return nil }
    var unit: UInt16 = 0
    for byte in bytes[position..<(position + 4)] {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else {
        return nil
      }
      unit = unit << 4 | UInt16(digit)
    }
    return unit
  }

  /// The text between the quotation marks at both ends of a checked string.
  static func decode(_ bytes: UnsafeRawBufferPointer) -> String {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var position = 0
    while position < bytes.count {
      guard bytes[position] == UInt8(ascii: "\\") else {
        decoded.append(bytes[position])
        position += 1
        continue
      }
      let letter = bytes[position + 1]
      position += 2
      switch letter {
      case UInt8(ascii: "b"): decoded.append(0x08)
      case UInt8(ascii: "f"): decoded.append(0x0C)
      case UInt8(ascii: "n"): decoded.append(0x0A)
      case UInt8(ascii: "r"): decoded.append(0x0D)
      case UInt8(ascii: "t"): decoded.append(0x09)
      case UInt8(ascii: "u"):
        var units: [UInt16] = []
        while let unit = unit(at: position, in: bytes) {
          units.append(unit)
          position += 4
          guard UTF16.isLeadSurrogate(unit), units.count == 1 else { break }
          position += 2
        }
        decoded.append(contentsOf: String(decoding: units, as: UTF16.self).utf8)
      default: decoded.append(letter)
      }
    }
    return String(decoding: decoded, as: UTF8.self)
  }
}
