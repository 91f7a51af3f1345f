import ArborFoundation

/// The normalized value of a number: `±0.digits × 10^exponent`, without leading or trailing zeros.
struct JSONNumberForm: Hashable {
  let isNegative: Bool
  /// ASCII digits; empty for zero.
  let digits: [UInt8]
  let exponent: Int

  /// Parses a JSON number. Returns `nil` if its exponent is too large for an `Int`.
  init?(_ text: String) {
    var digits: [UInt8] = []
    var exponent = 0
    var isNegative = false
    var isFraction = false
    var written: Substring.UTF8View = text[...].utf8
    if written.first == UInt8(ascii: "-") {
      isNegative = true
      written = written.dropFirst()
    }
    for (index, byte) in zip(written.indices, written) {
      if byte == UInt8(ascii: ".") {
        isFraction = true
      } else if byte | 0x20 == UInt8(ascii: "e") {
        guard let power = Int(Substring(written[written.index(after: index)...])),
          power.magnitude < UInt(Int.max / 4)
        else { return nil }
        exponent += power
        break
      } else {
        // A leading zero is not significant, but after the decimal point it lowers the exponent.
        let isLeadingZero = digits.isEmpty && byte == UInt8(ascii: "0")
        if !isLeadingZero { digits.append(byte) }
        if isFraction ? isLeadingZero : !isLeadingZero { exponent += isFraction ? -1 : 1 }
      }
    }
    while digits.last == UInt8(ascii: "0") { digits.removeLast() }
    self.digits = digits
    self.exponent = digits.isEmpty ? 0 : exponent
    self.isNegative = isNegative && !digits.isEmpty
  }

  /// The text of the integer, or `nil` if the number has a fractional part or is too long for 64
  /// bits.
  var integer: String? {
    guard !digits.isEmpty else { return "0" }
    guard exponent >= digits.count, exponent <= 20 else { return nil }
    let zeros = String(repeating: "0", count: exponent - digits.count)
    return (isNegative ? "-" : "") + String(decoding: digits, as: UTF8.self) + zeros
  }

  /// The decimal number, or `nil` if `Decimal` would round it: `Decimal` has 38 digits and
  /// exponents from -128 to 127.
  var decimal: Decimal? {
    guard !digits.isEmpty else { return 0 }
    let power = exponent - digits.count
    let zeros = max(0, power - 127)
    guard power >= -128, zeros <= 38, digits.count + zeros <= 38 else { return nil }
    let text = String(decoding: digits, as: UTF8.self) + String(repeating: "0", count: zeros)
    return Decimal(string: "\(isNegative ? "-" : "")\(text)e\(power - zeros)")
  }
}
