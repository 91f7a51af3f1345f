/// Validates UTF-8 according to table 3-7 of the Unicode standard.
package enum UTF8Check {
  /// Returns the offset of the first invalid byte, or `nil` if all are valid.
  package static func firstFault(
    in bytes: UnsafeRawBufferPointer, from start: Int, to end: Int
  ) -> Int? {
    var position = start
    while position < end {
      let lead = bytes[position]
      guard lead >= 0x80 else {
        position += 1
        continue
      }
      // The second byte's range excludes overlong forms, surrogates and code points beyond
      // U+10FFFF.
      let count: Int
      let second: ClosedRange<UInt8>
      switch lead {
      case 0xC2...0xDF: (count, second) = (2, 0x80...0xBF)
      case 0xE0: (count, second) = (3, 0xA0...0xBF)
      case 0xED: (count, second) = (3, 0x80...0x9F)
      case 0xE1...0xEF: (count, second) = (3, 0x80...0xBF)
      case 0xF0: (count, second) = (4, 0x90...0xBF)
      case 0xF1...0xF3: (count, second) = (4, 0x80...0xBF)
      case 0xF4: (count, second) = (4, 0x80...0x8F)
      default: return position
      }
      guard position + count <= end, second.contains(bytes[position + 1]) else { return position }
      for offset in 2..<max(count, 2) where bytes[position + offset] & 0xC0 != 0x80 {
        return position
      }
      position += count
    }
    return nil
  }
}
