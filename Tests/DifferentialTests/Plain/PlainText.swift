import Foundation

/// The documented rules for strings, in a simple implementation.
enum PlainText {
  /// Full case foldings that differ from the lowercase mapping.
  private static let foldings: [UInt32: String] = [
    0xDF: "ss", 0x1E9E: "ss", 0x17F: "s", 0x3C2: "\u{3C3}", 0xFB01: "fi", 0x130: "i\u{307}",
    0x345: "\u{3B9}", 0xB5: "\u{3BC}",
  ]

  /// Removes differences in case or diacritics; the result is composed.
  ///
  /// Supports only the characters of ``TextGenerator``.
  static func fold(_ text: String, case folds: Bool, diacritics strips: Bool) -> String {
    if !folds && !strips { return text }
    var folded = String.UnicodeScalarView()
    for scalar in text.decomposedStringWithCanonicalMapping.unicodeScalars {
      if strips, scalar.properties.canonicalCombiningClass != .notReordered { continue }
      if !folds {
        folded.append(scalar)
      } else if let other = foldings[scalar.value] {
        folded.append(contentsOf: other.unicodeScalars)
      } else {
        folded.append(contentsOf: scalar.properties.lowercaseMapping.unicodeScalars)
      }
    }
    return String(folded).precomposedStringWithCanonicalMapping
  }

  /// Compares by code points; returns -1, 0 or 1.
  static func compare(_ left: String, _ right: String) -> Int {
    lexicographic(left.unicodeScalars.map(\.value), right.unicodeScalars.map(\.value))
  }

  /// Compares with the platform's collation, as documented; returns -1, 0 or 1.
  static func collate(
    _ left: String, _ right: String, case folds: Bool, diacritics strips: Bool,
    localized: Bool, numeric: Bool
  ) -> Int {
    var options: String.CompareOptions = []
    if folds { options.insert(.caseInsensitive) }
    if strips { options.insert(.diacriticInsensitive) }
    if numeric { options.insert(.numeric) }
    return left.compare(right, options: options, locale: localized ? Locale.current : nil).rawValue
  }

  /// Returns whether a part occurs in a string by the rules of the locale: anywhere, at its
  /// beginning, or at its end. A combining mark belongs to the preceding letter.
  static func finds(
    _ part: String, in text: String, case folds: Bool, diacritics strips: Bool,
    _ anchoring: String.CompareOptions = []
  ) -> Bool {
    func form(_ text: String) -> [Unicode.Scalar] {
      scalars(fold(text, case: folds, diacritics: strips).precomposedStringWithCanonicalMapping)
    }
    let (part, text) = (form(part), form(text))
    if part.isEmpty || part.count > text.count { return false }
    let last = text.count - part.count
    let starts =
      anchoring.contains(.backwards)
      ? last...last : (anchoring.contains(.anchored) ? 0...0 : 0...last)
    return starts.contains { start in
      let end = start + part.count
      let isWhole =
        end == text.count || text[end].properties.canonicalCombiningClass == .notReordered
      return isWhole && Array(text[start..<end]) == part
    }
  }

  static func isPart(_ part: String, of text: String) -> Bool {
    let (part, text) = (scalars(part), scalars(text))
    if part.isEmpty || part.count > text.count { return false }
    return (0...(text.count - part.count)).contains {
      Array(text[$0..<($0 + part.count)]) == part
    }
  }

  static func begins(_ text: String, with part: String) -> Bool {
    !part.isEmpty && scalars(text).starts(with: scalars(part))
  }

  static func ends(_ text: String, with part: String) -> Bool {
    !part.isEmpty && scalars(text).reversed().starts(with: scalars(part).reversed())
  }

  /// Matches a pattern in which `*` stands for any run, `?` for one code point, and a backslash
  /// escapes the next one.
  static func isLike(_ text: String, _ pattern: String) -> Bool {
    let text = scalars(text)
    // The positions at which a match of the pattern so far can end.
    var positions: Set<Int> = [0]
    var isEscaped = false
    var rest = scalars(pattern)[...]
    while let next = rest.popFirst() {
      if next == "\\", !isEscaped, !rest.isEmpty {
        isEscaped = true
      } else if next == "*", !isEscaped {
        if let first = positions.min() { positions = Set(first...text.count) }
      } else {
        let isAny = next == "?" && !isEscaped
        positions = Set(
          positions.filter { $0 < text.count && (isAny || text[$0] == next) }.map { $0 + 1 })
        isEscaped = false
      }
    }
    return positions.contains(text.count)
  }

  private static func scalars(_ text: String) -> [Unicode.Scalar] { Array(text.unicodeScalars) }

  /// Quotes a string for messages, with non-ASCII code points as numbers and long strings
  /// shortened.
  static func quoted(_ text: String) -> String {
    let escaped = text.unicodeScalars.map { $0.escaped(asASCII: true) }
    if escaped.count < 100 { return "\"" + escaped.joined() + "\"" }
    let (start, end) = (escaped.prefix(4).joined(), escaped.suffix(4).joined())
    return "\"\(start)…\(escaped.count - 8) more…\(end)\""
  }
}
