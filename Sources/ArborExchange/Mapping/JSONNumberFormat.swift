internal import ArborFoundation
public import ArborJSON

/// The format of numbers in strings: `"1.234,5"` or `"1,234.5"`. All digits are preserved.
///
/// ```swift
/// let german = JSONNumberFormat(decimalSeparator: ",", groupingSeparator: ".")
/// german.number("1.234,5")?.decimal   // 1234.5
/// ```
public struct JSONNumberFormat: Sendable, Hashable {
  /// The decimal separator.
  public var decimalSeparator: String
  /// The grouping separator, or `nil` for none.
  public var groupingSeparator: String?

  /// Creates a format with separators. Defaults to a decimal point without grouping, as in JSON.
  public init(decimalSeparator: String = ".", groupingSeparator: String? = nil) {
    self.decimalSeparator = decimalSeparator
    self.groupingSeparator = groupingSeparator
  }

  /// The format of spreadsheets converted to JSON: a decimal point, and apostrophes as grouping
  /// separators.
  static let spreadsheet = JSONNumberFormat(groupingSeparator: "'")

  /// Parses a number from an entire string. Returns `nil` if it isn't a number.
  ///
  /// A sign may precede the number, and white space may surround it. If the digits are grouped, the
  /// first group has one to three digits, the last has three, and all others have two or three:
  /// `"12,34,567"` is a number in India, but `"1,2"` is not. If the grouping separator is a space,
  /// any space is accepted; likewise for apostrophes. Digits before the decimal separator may be
  /// omitted, as in `".5"`, and an exponent may follow, as in `"1e3"`.
  public func number(_ text: String) -> JSONNumber? {
    var digits = text[...].trimmingSpace
    var exponent = ""
    if let mark = digits.lastIndex(where: { $0 == "e" || $0 == "E" }) {
      var power = digits[digits.index(after: mark)...]
      if let sign = power.first, sign == "-" || sign == "+" { power.removeFirst() }
      guard Self.areDigits(power) else { return nil }
      exponent = "e" + digits[digits.index(after: mark)...]
      digits = digits[..<mark]
    }
    var isNegative = false
    if let sign = digits.first, ["-", "\u{2212}", "+"].contains(sign) {
      isNegative = sign != "+"
      digits.removeFirst()
    }
    let parts = Self.split(digits, at: decimalSeparator)
    guard (1...2).contains(parts.count), parts.count == 1 || Self.areDigits(parts[1]),
      let whole = parts.count == 2 && parts[0].isEmpty ? "0" : ungrouped(parts[0])
    else { return nil }
    let significant = whole.drop { $0 == "0" }
    let plain = (isNegative ? "-" : "") + (significant.isEmpty ? "0" : String(significant))
    return JSONNumber(text: (parts.count == 1 ? plain : "\(plain).\(parts[1])") + exponent)
  }

  /// Formats a number with all of its digits. Returns `nil` if a `Decimal` cannot represent it.
  public func text(_ number: JSONNumber) -> String? {
    guard let decimal = number.decimal else { return nil }
    let parts = decimal.description.split(separator: ".")
    let isNegative = parts[0].first == "-"
    var whole = isNegative ? String(parts[0].dropFirst()) : String(parts[0])
    if let groupingSeparator {
      var groups: [Substring] = []
      var rest = whole[...]
      while rest.count > 3 {
        groups.append(rest.suffix(3))
        rest.removeLast(3)
      }
      whole = ([rest] + groups.reversed()).joined(separator: groupingSeparator)
    }
    let text = (isNegative ? "-" : "") + whole
    return parts.count == 1 ? text : "\(text)\(decimalSeparator)\(parts[1])"
  }

  /// A number in the format, for messages.
  var example: String { JSONNumber(text: "1234.5").flatMap(text) ?? "" }

  /// Returns the digits of an integer without grouping separators, or `nil` if the grouping is
  /// malformed.
  private func ungrouped(_ text: Substring) -> Substring? {
    if Self.areDigits(text) { return text }
    guard let groupingSeparator else { return nil }
    let isSpace = groupingSeparator.allSatisfy(\.isWhitespace)
    let isApostrophe = groupingSeparator.allSatisfy(Self.apostrophes.contains)
    let groups =
      isSpace || isApostrophe
      ? text.split(omittingEmptySubsequences: false) {
        isSpace ? $0.isWhitespace : Self.apostrophes.contains($0)
      } : Self.split(text, at: groupingSeparator)
    guard groups.count > 1, groups.allSatisfy(Self.areDigits), (1...3).contains(groups[0].count),
      groups.dropFirst().allSatisfy({ (2...3).contains($0.count) }),
      groups[groups.count - 1].count == 3
    else { return nil }
    return groups.joined(separator: "")[...]
  }

  private static let apostrophes: Set<Character> = ["'", "\u{2019}"]

  private static func split(_ text: Substring, at separator: String) -> [Substring] {
    guard !separator.isEmpty else { return [text] }
    var parts: [Substring] = []
    var rest = text
    while let range = rest.firstRange(of: separator) {
      parts.append(rest[..<range.lowerBound])
      rest = rest[range.upperBound...]
    }
    return parts + [rest]
  }

  private static func areDigits(_ text: Substring) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }
}

extension Substring {
  /// The string without surrounding white space.
  var trimmingSpace: Substring {
    var text = drop(while: \.isWhitespace)
    while text.last?.isWhitespace == true { text.removeLast() }
    return text
  }
}
