import TestLength
import ArborModel
import Foundation
import Testing

@Suite struct TextTokensTests {
  private func tokens(_ text: String) -> [String] {
    var tokens = TextTokens()
    tokens.read(text)
    return (0..<tokens.count).map { tokenIndex in
      tokens.withToken(tokenIndex) { String(decoding: $0, as: UTF8.self) }
        + (tokens.isStarred(tokenIndex) ? "*" : "")
    }
  }

  @Test(
    "Texts are split into tokens",
    arguments: [
      ("", []), ("  ,;", []), ("The Café, 2nd", ["the", "cafe", "2nd"]),
      ("don't_stop", ["don", "t", "stop"]), ("a\u{301}b", ["ab"]), ("\u{301} x", ["x"]),
      ("STRAẞE Straße", ["strasse", "strasse"]), ("x—y…z", ["x", "y", "z"]),
      ("東京タワー 333", ["東", "京", "タ", "ワ", "ー", "333"]), ("a東b", ["a", "東", "b"]),
      ("안녕 하세요", ["안녕", "하세요"]), ("हिन्दी", ["हिनदी"]), ("٣٤ ½", ["٣٤", "½"]),
      ("كِتَاب שָׁלוֹם น้ำ", ["كتاب", "שלום", "นำ"]), ("ＡＢＣ１２", ["abc12"]),
      ("ｶﾀｶﾅ ﾀﾞ", ["カ", "タ", "カ", "ナ", "タ"]), ("co\u{AD}op", ["coop"]),
      ("می\u{200C}خواهم", ["میخواهم"]), ("x² ㎏ Ⅷ ﬁn", ["x2", "kg", "viii", "fin"]),
      ("ＡＢ！ＣＤ　ＥＦ", ["ab", "cd", "ef"]), ("ﻛﺘﺎﺏ", ["كتاب"]), ("ab\u{200B}cd", ["ab", "cd"]),
      ("caf* hou se*", ["caf*", "hou", "se*"]), ("* a *", ["a"]),
      ("é* ü!* x**", ["e*", "u", "x*"]),
      ("a…*", ["a"]), ("x\u{0}y", ["x", "y"]),
    ] as [(String, [String])])
  func cutsTexts(text: String, expected: [String]) {
    #expect(tokens(text) == expected)
    // Tokens are stored in files, so a change of the results requires a new version.
    #expect(TextTokens.version == 2)
  }

  /// Tokenizes naively: folds the text and splits it at characters that are not part of words.
  private func naive(_ text: String) -> [String] {
    let isSeparator = { (scalar: Unicode.Scalar) in
      scalar.isASCII && !("a"..."z").contains(scalar) && !("A"..."Z").contains(scalar)
        && !("0"..."9").contains(scalar)
    }
    let word = CharacterSet.letters.union(.decimalDigits).union(.nonBaseCharacters)
    var found: [String] = []
    for chunk in text.unicodeScalars.split(whereSeparator: isSeparator) {
      let folded = StringFolding([.case, .diacritics]).fold(String(String.UnicodeScalarView(chunk)))
      for part in folded.unicodeScalars.split(whereSeparator: { !word.contains($0) }) {
        let base = part.drop { CharacterSet.nonBaseCharacters.contains($0) }
        if !base.isEmpty { found.append(String(String.UnicodeScalarView(base))) }
      }
    }
    return found
  }

  @Test("Tokenization agrees with a naive implementation")
  func agreesWithANaiveReading() {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    let pieces = [
      "a", "B", "z9", "7", " ", ",", "'", "é", "Å", "ß", "ñ", "\u{301}", "Σ", "ж", "א", "-", "…",
      "\u{1F600}", "\n", "_", "İ",
    ]
    var reused = TextTokens()
    for _ in 0..<3000 {
      let text = (0..<Int.random(in: 0...12, using: &random)).map { _ in
        pieces.randomElement(using: &random) ?? ""
      }.joined()
      reused.read(text)
      let found = (0..<reused.count).map { tokenIndex in
        reused.withToken(tokenIndex) { String(decoding: $0, as: UTF8.self) }
      }
      #expect(found == naive(text), "\(text.debugDescription), seed \(seed)")
      reused.sortDistinct()
      let sorted = (0..<reused.count).map { tokenIndex in reused.withToken(tokenIndex) { Array($0) }
      }
      let expected = Set(found.map { Array($0.utf8) }).sorted { $0.lexicographicallyPrecedes($1) }
      #expect(sorted == expected, "seed \(seed)")
    }
  }

  @Test("Tokens are located in the text")
  func knowsWhereTokensStand() throws {
    var tokens = TextTokens()
    let text = "The Café, Straße e\u{301}te\u{301} 東京 x"
    let ranges = tokens.readLocated(text)
    #expect(ranges.map { String(text[$0]) } == ["The", "Café", "Straße", "été", "東", "京", "x"])
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    let pieces = [
      "a", "B", " ", "-", "é", "e\u{301}", "\u{301}", "ß", "İ", "東", "ク\u{3099}", "ﬁ", "½", "…",
      "🙂", "Ａ", "ｶ", "ﾞ", "\u{AD}", "\u{200C}", "²",
      "\u{200D}", "ὈΔΥΣΣΕΎΣ", "*", "ก", "\r\n",
    ]
    for _ in 0..<300 {
      let text = (0..<Int.random(in: 0...9, using: &random)).map { _ in
        pieces.randomElement(using: &random) ?? ""
      }.joined()
      var plain = TextTokens()
      plain.read(text)
      let ranges = tokens.readLocated(text)
      #expect(ranges.count == plain.count, "\(text.debugDescription), seed \(seed)")
      for index in 0..<min(ranges.count, plain.count) {
        let same = tokens.withToken(index) { own in
          plain.withToken(index) { Ordering(bytes: own, $0) == .equal }
        }
        #expect(same && !ranges[index].isEmpty, "\(text.debugDescription), seed \(seed)")
      }
      #expect(
        zip(ranges, ranges.dropFirst()).allSatisfy { $0.lowerBound <= $1.lowerBound },
        "\(text.debugDescription), seed \(seed)")
    }
  }
}
