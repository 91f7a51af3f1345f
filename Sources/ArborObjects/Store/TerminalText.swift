/// The escaping of text from files, so that it is safe to print to a terminal.
package enum TerminalText {
  /// Returns the text with control characters and characters that change the text direction
  /// escaped, for example as `\u{1B}`. Newlines, carriage returns and tabs are written as `\n`,
  /// `\r` and `\t`.
  package static func escaped(_ text: String) -> String {
    // Fast path for the common case.
    guard text.unicodeScalars.contains(where: isHostile) else { return text }
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": escaped += "\\n"
      case "\r": escaped += "\\r"
      case "\t": escaped += "\\t"
      case let scalar where isHostile(scalar):
        escaped += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  private static func isHostile(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    // C0 and C1 controls and delete; line and paragraph separators; bidirectional embeddings,
    // overrides and isolates; and invisible characters: zero-width spaces, fillers, the byte order
    // mark, tags. Joiners are kept because Persian and emoji need them. The browser's dom.js has
    // the same list.
    case 0..<0x20, 0x7F..<0xA0, 0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x180E, 0x200B, 0x200E, 0x200F,
      0x2028...0x202E, 0x2060...0x206F, 0x3164, 0xFEFF, 0xFFA0, 0xFFF9...0xFFFB,
      0xE0000...0xE007F:
      true
    default: false
    }
  }
}
