internal import Foundation

/// Characters that are other forms of plain ones, such as those of double and half width,
/// superscripts, ligatures and signs made of letters, and characters that show nothing.
///
/// Words are compared without them: `ＡＢＣ` is `ABC`, `ｶﾀｶﾅ` is `カタカナ`, and soft hyphens, joiners
/// and non-joiners are dropped. Fractions stay whole, since `1½` is not `11` and `2`, and so does
/// the Thai vowel am.
enum CompatibilityForms {
  /// Whether UTF-8 may hold such a character. Quick, and true for some texts without any.
  static func mayOccur(in bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.contains { byte in
      switch byte {
      case 0xC2, 0xE1, 0xE2, 0xE3, 0xEF, 0xF0, 0xF3: true
      default: false
      }
    }
  }

  /// A text with plain characters in place of other forms.
  static func plain(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isMapped) else { return text }
    var plain = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if !isMapped(scalar) {
        plain.append(scalar)
      } else if !scalar.properties.isDefaultIgnorableCodePoint {
        plain.append(
          contentsOf: String(scalar).precomposedStringWithCompatibilityMapping.unicodeScalars)
      }
    }
    return String(plain)
  }

  private static func isMapped(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    // Ordinal indicators, the soft hyphen and superscript digits.
    case 0xAA, 0xAD, 0xB2, 0xB3, 0xB9, 0xBA: true
    // Fillers, variation selectors, joiners and signs of direction. The space of no width between
    // words stays.
    case 0x115F, 0x1160, 0x180B...0x180F, 0x200C...0x200F, 0x202A...0x202E, 0x2060...0x206F, 0x3164:
      true
    // Superscripts and subscripts, signs made of letters, Roman numerals.
    case 0x2070...0x209F, 0x2100...0x214F, 0x2160...0x217F: true
    // Letters and digits in circles and squares.
    case 0x2460...0x24EA, 0x3200...0x33FF: true
    // Ligatures, presentation forms, double and half width.
    case 0xFB00...0xFDFF, 0xFE30...0xFFEF: true
    // Mathematical letters, tags.
    case 0x1D400...0x1D7FF, 0xE0000...0xE0FFF: true
    default: false
    }
  }
}
