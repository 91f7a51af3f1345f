/// The words of strings, which are the longest runs of letters, digits and marks that don't begin
/// with a mark.
enum PlainWords {
  struct Word {
    var text: String
    /// Whether an asterisk follows directly.
    var isPrefix: Bool
  }

  static func words(_ text: String, _ fold: (String) -> String) -> [Word] {
    var words: [Word] = []
    var run = String.UnicodeScalarView()
    for scalar in text.unicodeScalars + ["\u{0}"] {
      if isLetter(scalar) || (isMark(scalar) && !run.isEmpty) {
        run.append(scalar)
      } else if !isMark(scalar) {
        if !run.isEmpty {
          words.append(Word(text: fold(String(run)), isPrefix: scalar == "*"))
        }
        run = String.UnicodeScalarView()
      }
    }
    return words
  }

  private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .decimalNumber, .letterNumber, .otherNumber:
      true
    default: false
    }
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: true
    default: false
    }
  }

  /// Implements `TOKENMATCHES`: every word of the query must be a word of the string, or the prefix
  /// of one if an asterisk follows it. A query without words matches nothing.
  static func matches(_ text: String, _ query: String) -> Bool {
    let fold = { PlainText.fold($0, case: true, diacritics: true) }
    let present = words(text, fold).map(\.text)
    let wanted = words(query, fold)
    return !wanted.isEmpty
      && wanted.allSatisfy { word in
        present.contains {
          word.isPrefix
            ? $0.unicodeScalars.starts(with: word.text.unicodeScalars)
            : PlainText.compare($0, word.text) == 0
        }
      }
  }

  /// Implements `CONTAINS[w]`: the words of the phrase must occur consecutively.
  static func contain(
    _ text: String, _ phrase: String, _ options: PlainComparison.Options
  ) -> Bool {
    let present = words(text, options.fold).map(\.text)
    let wanted = words(phrase, options.fold).map(\.text)
    if wanted.isEmpty || wanted.count > present.count { return false }
    return (0...(present.count - wanted.count)).contains { start in
      zip(present[start...], wanted).allSatisfy { PlainText.compare($0, $1) == 0 }
    }
  }
}
