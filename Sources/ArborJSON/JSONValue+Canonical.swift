extension JSONValue {
  /// The value's canonical text: without white space, with the members of each object in the order
  /// of their names' UTF-8 bytes, and with one form for each number. Equal values have equal bytes.
  ///
  /// Numbers have the form of RFC 8785 (that of ECMAScript), but keep all digits: `1`, `0.001`,
  /// `1e+21`. -0 is written as 0.
  package var canonicalBytes: [UInt8] {
    var writer = JSONWriter(.compact)
    writer.write(canonical)
    return writer.bytes
  }

  private var canonical: JSONValue {
    switch self {
    case .null, .bool, .string: self
    case .number(let number): .number(JSONNumber(checked: number.canonicalText))
    case .array(let elements): .array(elements.map(\.canonical))
    case .object(let members):
      .object(
        JSONObject(
          distinct: members.map { ($0.key, $0.value.canonical) }
            .sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }))
    }
  }
}

extension JSONNumber {
  /// The number in the form of RFC 8785, with all of its digits.
  package var canonicalText: String {
    guard let form = JSONNumberForm(text) else { return text }
    return form.canonicalText
  }
}

extension JSONNumberForm {
  /// The largest and smallest decimal exponents of numbers that are written without an exponent.
  private static let plain = -5...21

  fileprivate var canonicalText: String {
    guard !digits.isEmpty else { return "0" }
    let sign = isNegative ? "-" : ""
    let text = String(decoding: digits, as: UTF8.self)
    guard Self.plain.contains(exponent) else {
      let fraction = digits.count > 1 ? ".\(text.dropFirst())" : ""
      return "\(sign)\(text.prefix(1))\(fraction)e\(exponent > 0 ? "+" : "")\(exponent - 1)"
    }
    if exponent <= 0 { return "\(sign)0.\(String(repeating: "0", count: -exponent))\(text)" }
    let zeros = String(repeating: "0", count: max(0, exponent - digits.count))
    let fraction = digits.count > exponent ? ".\(text.dropFirst(exponent))" : ""
    return "\(sign)\(text.prefix(exponent))\(zeros)\(fraction)"
  }
}
