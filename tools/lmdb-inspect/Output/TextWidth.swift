/// The width of text in a terminal.
///
/// East Asian characters and emoji take two columns, combining marks and joiners none. Terminals
/// with another version of Unicode may differ.
enum TextWidth {
  /// Returns the number of columns of text without control characters.
  static func of(_ text: String) -> Int {
    // ASCII text has one column per byte.
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    // So have other Latin letters and quotation marks, without a lookup of their properties.
    let isPlain = text.unicodeScalars.allSatisfy {
      $0.value < 0x300 || (0x2010...0x2027).contains($0.value)
    }
    if isPlain { return text.unicodeScalars.count { $0.value != 0xAD } }
    return text.reduce(0) { $0 + of($1) }
  }

  /// Returns the number of columns of a character. Adds the widths of its scalars, as do terminals,
  /// which draw the parts of a consonant cluster side by side. An emoji is a unit, however it is
  /// composed.
  static func of(_ character: Character) -> Int {
    let scalars = character.unicodeScalars
    guard let first = scalars.first else { return 0 }
    // A variation selector may request emoji presentation.
    if first.properties.isEmojiPresentation || scalars.contains(where: { $0.value == 0xFE0F }) {
      return 2
    }
    return scalars.reduce(0) { $0 + of($1) }
  }

  private static func of(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.value {
    case 0xAD: return 0
    case ..<0x300: return 1
    // Korean vowels and final consonants, which join the preceding consonant.
    case 0x1160...0x11FF, 0xD7B0...0xD7FF: return 0
    default: break
    }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return isWide(scalar) ? 2 : 1
    }
  }

  /// Returns text padded with trailing spaces to a width.
  static func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - of(text)))
  }

  /// Returns the start of text that fits a number of columns, with an ellipsis if it is
  /// truncated.
  static func cut(_ text: String, to width: Int) -> String {
    guard of(text) > width else { return text }
    if width < 1 { return "" }
    var kept = ""
    var room = width - 1
    for character in text {
      let size = of(character)
      if size > room { break }
      room -= size
      kept.append(character)
    }
    return kept + "…"
  }

  /// Returns whether a scalar takes two columns. Source: EastAsianWidth.txt, W and F.
  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF,
      0x4E00...0x9FFF,
      0xA000...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x17000...0x18CFF, 0x1B000...0x1B2FF, 0x20000...0x3FFFD:
      return true
    default: return false
    }
  }
}
