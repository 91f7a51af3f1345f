/// The replacement of compatibility forms of characters, such as double-width and half-width forms,
/// superscripts, ligatures and letter-like symbols, and the removal of invisible characters.
///
/// Words are compared in this form: `ＡＢＣ` is `ABC`, and `ｶﾀｶﾅ` is `カタカナ`. Soft hyphens, joiners and
/// non-joiners are removed. Fractions are kept, because `1½` is not `11` and `2`. The Thai vowel am
/// is kept, too.
enum CompatibilityForms {
  /// Returns whether UTF-8 may contain such characters. Fast, with false positives.
  static func mayOccur(in bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.contains { byte in
      switch byte {
      case 0xC2, 0xE1, 0xE2, 0xE3, 0xEF, 0xF0, 0xF3: true
      default: false
      }
    }
  }

  /// Returns a text with compatibility forms replaced.
  static func plain(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isMapped) else { return text }
    var plain = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if !isMapped(scalar) {
        plain.append(scalar)
      } else if !scalar.properties.isDefaultIgnorableCodePoint {
        plain.append(contentsOf: self.plain(scalar).unicodeScalars)
      }
    }
    return String(plain)
  }

  private static func isMapped(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    // Ordinal indicators, the soft hyphen and superscript digits.
    case 0xAA, 0xAD, 0xB2, 0xB3, 0xB9, 0xBA: true
    // Fillers, variation selectors, joiners and directional marks, but not the zero-width space,
    // which separates words.
    case 0x115F, 0x1160, 0x180B...0x180F, 0x200C...0x200F, 0x202A...0x202E, 0x2060...0x206F, 0x3164:
      true
    // Superscripts and subscripts, letter-like symbols, Roman numerals.
    case 0x2070...0x209F, 0x2100...0x214F, 0x2160...0x217F: true
    // Enclosed letters and digits.
    case 0x2460...0x24EA, 0x3200...0x33FF: true
    // Ligatures, presentation forms, double-width and half-width forms.
    case 0xFB00...0xFDFF, 0xFE30...0xFFEF: true
    // Mathematical letters, tags.
    case 0x1D400...0x1D7FF, 0xE0000...0xE0FFF: true
    default: false
    }
  }
}
