/// Decodes the escapes of JSON strings that the scanner has validated.
enum JSONEscapes {
  /// Returns the UTF-16 code unit of four hexadecimal digits, or `nil` if they are missing.
  static func unit(at position: Int, in bytes: UnsafeRawBufferPointer) -> UInt16? {
    guard position + 4 <= bytes.count else { return nil }
    var unit: UInt16 = 0
    for byte in bytes[position..<(position + 4)] {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): unit = unit << 4 | UInt16(byte - 0x30)
      case UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: "a")...UInt8(ascii: "f"):
        unit = unit << 4 | UInt16(byte & 0xDF - 0x37)
      default: return nil
      }
    }
    return unit
  }

  /// Returns the text of a validated string, given without its quotation marks.
  static func decode(_ bytes: UnsafeRawBufferPointer) -> String {
    // Sound: an escape is longer than the character it represents, so the text fits.
    String(unsafeUninitializedCapacity: bytes.count) { text in
      var count = 0
      var position = 0
      while position < bytes.count {
        let byte = bytes[position]
        guard byte == UInt8(ascii: "\\") else {
          text[count] = byte
          count += 1
          position += 1
          continue
        }
        let letter = bytes[position + 1]
        position += 2
        switch letter {
        case UInt8(ascii: "b"): text[count] = 0x08
        case UInt8(ascii: "f"): text[count] = 0x0C
        case UInt8(ascii: "n"): text[count] = 0x0A
        case UInt8(ascii: "r"): text[count] = 0x0D
        case UInt8(ascii: "t"): text[count] = 0x09
        case UInt8(ascii: "u"):
          for byte in UTF8.encode(scalar(at: &position, in: bytes)) ?? .init() {
            text[count] = byte
            count += 1
          }
          continue
        default: text[count] = letter
        }
        count += 1
      }
      return count
    }
  }

  /// Decodes one `uXXXX`, or two that form a surrogate pair. `position` is at the first digit, and
  /// is advanced past the last one.
  private static func scalar(
    at position: inout Int, in bytes: UnsafeRawBufferPointer
  ) -> Unicode.Scalar {
    let unit = UInt32(unit(at: position, in: bytes) ?? 0)
    position += 4
    if let scalar = Unicode.Scalar(unit) { return scalar }
    let trail = UInt32(self.unit(at: position + 2, in: bytes) ?? 0)
    position += 6
    return Unicode.Scalar(0x1_0000 + (unit & 0x3FF) << 10 + (trail & 0x3FF))
      ?? Unicode.UTF8.decode(Unicode.UTF8.encodedReplacementCharacter)
  }
}
