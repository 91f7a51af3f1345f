package enum ComparisonOperator: String, Sendable, Hashable, CaseIterable {
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  case between = "BETWEEN"
  case `in` = "IN"
  case contains = "CONTAINS"
  case beginsWith = "BEGINSWITH"
  case endsWith = "ENDSWITH"
  case like = "LIKE"
  case matches = "MATCHES"
  /// Every word of the right side occurs in the left side.
  case tokenMatches = "TOKENMATCHES"
  case utiConformsTo = "UTI-CONFORMS-TO"
  case utiEquals = "UTI-EQUALS"

  /// The equivalent operator for swapped operands, or `nil` if there isn't one.
  package var mirrored: ComparisonOperator? {
    switch self {
    case .equal, .notEqual: self
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    case .in: .contains
    case .contains: .in
    case .between, .beginsWith, .endsWith, .like, .matches, .tokenMatches, .utiConformsTo,
      .utiEquals:
      nil
    }
  }

  /// Whether the result depends only on the order of the operands; see ``accepts(_:)``.
  var isOfOrders: Bool {
    switch self {
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: true
    default: false
    }
  }

  package func accepts(_ order: Ordering) -> Bool {
    switch self {
    case .equal: order == .equal
    case .notEqual: order != .equal
    case .less: order == .less
    case .lessOrEqual: order != .greater
    case .greater: order == .greater
    case .greaterOrEqual: order != .less
    default: false
    }
  }
}

/// The options in brackets after an operator, which affect the comparison of strings.
package struct ComparisonOptions: OptionSet, Sendable, Hashable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// `c`: ignores case.
  package static let caseInsensitive = ComparisonOptions(rawValue: 1)
  /// `d`: ignores diacritics.
  package static let diacriticInsensitive = ComparisonOptions(rawValue: 2)
  /// `n`: canonically equivalent strings are equal, such as composed and decomposed "é".
  package static let normalized = ComparisonOptions(rawValue: 4)
  /// `l`: uses the collation of the current locale.
  package static let localized = ComparisonOptions(rawValue: 8)

  /// `w`: matches whole words only.
  package static let words = ComparisonOptions(rawValue: 16)

  private static let letters: [(letter: UInt8, option: ComparisonOptions)] = [
    (UInt8(ascii: "c"), .caseInsensitive), (UInt8(ascii: "d"), .diacriticInsensitive),
    (UInt8(ascii: "n"), .normalized), (UInt8(ascii: "l"), .localized), (UInt8(ascii: "w"), .words),
  ]

  package init?(letter: UInt8) {
    guard let known = Self.letters.first(where: { $0.letter == letter | 0x20 }) else { return nil }
    self = known.option
  }

  /// The options in brackets, or an empty string.
  package var text: String {
    if isEmpty { return "" }
    let letters = Self.letters.filter { contains($0.option) }.map(\.letter)
    return "[" + String(decoding: letters, as: UTF8.self) + "]"
  }

  /// The folding that the options specify. Ignoring case or diacritics includes `n`.
  package var folding: StringFolding {
    var folding: StringFolding = .none
    if contains(.caseInsensitive) { folding.insert(.case) }
    if contains(.diacriticInsensitive) { folding.insert(.diacritics) }
    return folding.isEmpty && contains(.normalized) ? .canonical : folding
  }
}
