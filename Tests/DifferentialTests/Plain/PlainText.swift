import Foundation

/// What the documented rules say of texts, done the plain way.
enum PlainText {
  /// Full case folding where it is more than a lower-case letter.
  private static let foldings: [UInt32: String] = [
    0xDF: "ss", 0x1E9E: "ss", 0x17F: "s", 0x3C2: "\u{3C3}", 0xFB01: "fi", 0x130: "i\u{307}",
    0x345: "\u{3B9}", 0xB5: "\u{3BC}",
  ]

  /// Upper and lower case are one, or letters with and without diacritics; composed.
  ///
  /// Only for the characters of ``TextGenerator``.
  static func fold(_ text: String, case folds: Bool, diacritics strips: Bool) -> String {
    if !folds && !strips { return text }
    var folded = String.UnicodeScalarView()
    for scalar in text.decomposedStringWithCanonicalMapping.unicodeScalars {
      let isMark = (0x300...0x36F).contains(scalar.value)
      if strips, isMark, let last = folded.last, !(0x300...0x36F).contains(last.value) { continue }
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

  /// -1, 0 or 1 by code points.
  static func compare(_ left: String, _ right: String) -> Int {
    lexicographic(left.unicodeScalars.map(\.value), right.unicodeScalars.map(\.value))
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

  /// `*` any run, `?` one code point, a backslash takes the next as it is.
  static func isLike(_ text: String, _ pattern: String) -> Bool {
    glob(scalars(text)[...], scalars(pattern)[...])
  }

  private static func glob(
    _ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>
  ) -> Bool {
    guard let next = pattern.first else { return text.isEmpty }
    let rest = pattern.dropFirst()
    switch next {
    case "*": return glob(text, rest) || (!text.isEmpty && glob(text.dropFirst(), pattern))
    case "?": return !text.isEmpty && glob(text.dropFirst(), rest)
    case "\\" where !rest.isEmpty:
      return text.first == rest.first && glob(text.dropFirst(), rest.dropFirst())
    default: return text.first == next && glob(text.dropFirst(), rest)
    }
  }

  private static func scalars(_ text: String) -> [Unicode.Scalar] { Array(text.unicodeScalars) }

  /// For messages: code points beyond ASCII by number.
  static func quoted(_ text: String) -> String {
    "\""
      + text.unicodeScalars.map { $0.escaped(asASCII: true) }.joined() + "\""
  }
}
