package import ArborFoundation

/// An order-preserving encoding of decimals, used in records and index keys.
///
/// ```
/// NaN       00, only in records of uncommitted objects: never committed
/// zero      02
/// positive  03 · exponent u16 big-endian, biased by 8000 · digits + 1, one per byte · 00
/// negative  01 · all bytes of the positive form after the first, inverted
/// ```
///
/// The number is 0.d₁d₂d₃… × 10^exponent with d₁ ≠ 0 and without trailing zeros, so that equal
/// numbers have equal bytes. The bias is hexadecimal.
package enum DecimalCodec {
  private static let bias = 0x8000

  package static let notANumber: [UInt8] = [0]

  /// Returns the encoding of a number, or `nil` for NaN.
  package static func encode(_ number: Decimal) -> [UInt8]? {
    guard !number.isNaN else { return nil }
    if number.isZero { return [2] }
    // The significand is an integer, so its description consists of its digits.
    let digits = DecimalDigits(
      isNegative: number.sign == .minus, text: number.significand.description.utf8,
      exponent: number.exponent)
    return encode(digits)
  }

  /// Returns the encoding of a number from its digits. The number may exceed the range of
  /// `Decimal`.
  package static func encode(_ number: DecimalDigits) -> [UInt8] {
    if number.digits.isEmpty { return [2] }
    let biased = UInt16(number.exponent + bias)
    var bytes: [UInt8] = [3, UInt8(biased >> 8), UInt8(truncatingIfNeeded: biased)]
    for digit in number.digits { bytes.append(digit + 1) }
    bytes.append(0)
    guard number.isNegative else { return bytes }
    bytes[0] = 1
    for index in 1..<bytes.count { bytes[index] = ~bytes[index] }
    return bytes
  }

  /// Returns the number for an encoding, or `nil` if the bytes are invalid.
  package static func decode(_ bytes: UnsafeRawBufferPointer) -> Decimal? {
    guard let first = bytes.first else { return nil }
    if first == 0 { return bytes.count == 1 ? .nan : nil }
    if first == 2 { return bytes.count == 1 ? 0 : nil }
    guard first == 1 || first == 3, bytes.count >= 5 else { return nil }
    let mask: UInt8 = first == 1 ? 0xFF : 0
    let exponent = Int(bytes[1] ^ mask) << 8 | Int(bytes[2] ^ mask)
    if bytes.count <= 3 + 19 + 1, let number = decodeShort(bytes, exponent - bias, mask) {
      return number
    }
    var digits: [UInt8] = []
    for byte in bytes[3..<(bytes.count - 1)] {
      let digit = byte ^ mask
      guard (1...10).contains(digit) else { return nil }
      digits.append(digit - 1)
    }
    guard bytes[bytes.count - 1] ^ mask == 0, digits.first != 0, digits.last != 0 else {
      return nil
    }
    return DecimalDigits(isNegative: first == 1, digits: digits, exponent: exponent - bias).decimal
  }

  /// Decodes a number of at most 19 digits. Returns `nil` if its exponent is unusual or the bytes
  /// are invalid.
  private static func decodeShort(
    _ bytes: UnsafeRawBufferPointer, _ exponent: Int, _ mask: UInt8
  ) -> Decimal? {
    let end = bytes.count - 1
    var significand: UInt64 = 0
    for index in 3..<end {
      let digit = (bytes[index] ^ mask) &- 1
      guard digit < 10 else { return nil }
      // Nineteen digits always fit into 64 bits.
      significand = significand * 10 + UInt64(digit)
    }
    let power = exponent - (end - 3)
    guard bytes[end] ^ mask == 0, bytes[3] ^ mask != 1, bytes[end - 1] ^ mask != 1,
      power >= -128, power <= 127
    else { return nil }
    return Decimal(
      sign: mask == 0 ? .plus : .minus, exponent: power, significand: Decimal(significand))
  }
}
