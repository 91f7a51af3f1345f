import ArborModel
import Testing

@Suite struct SearchSnippetTests {
  private func marked(_ text: String, _ search: String, words: Int) -> String {
    SearchSnippet(of: text, SearchText(search), words: words).marked("[", "]")
  }

  @Test(
    "A snippet is the part with the most matches",
    arguments: [
      ("The red fox.", "fox", 20, "The red [fox]."), ("The red fox.", "fox", 0, "The red [fox]."),
      ("The red fox.", "\"red fox\"", 20, "The [red fox]."),
      ("The red fox.", "re* fox", 20, "The [red] [fox]."),
      ("a b c d e f g h i", "e", 3, "…d [e] f…"), ("a b c d e f g h i", "a", 3, "[a] b c…"),
      ("a b c d e f g h i", "i", 3, "…g h [i]"), ("a b c d", "x", 2, "a b…"), ("", "x", 2, ""),
      ("x a b c d x y", "x y", 3, "…d [x] [y]"), ("x x a b y c d", "x y", 2, "[x] [x]…"),
      ("(Café) ünïcode, ÇA!", "cafe ca", 9, "([Café]) ünïcode, [ÇA]!"),
      ("新しい東京タワー", "東京", 4, "…い[東京]タ…"),
      ("a b b c", "\"b b\" \"b c\"", 9, "a [b b c]"), ("don't stop", "don't", 9, "[don't] stop"),
    ] as [(String, String, Int, String)])
  func showsTheBestPart(text: String, search: String, words: Int, expected: String) {
    #expect(marked(text, search, words: words) == expected)
  }

  @Test("A snippet indicates whether text was omitted")
  func saysWhetherThereIsMore() {
    let part = SearchSnippet(of: "a b c d e", SearchText("c"), words: 1)
    #expect(part.text == "c" && part.hasMoreBefore && part.hasMoreBehind && "\(part)" == "…c…")
    #expect(part.matches.map { String(part.text[$0]) } == ["c"])
    #expect(part.marked("<b>", "</b>", ellipsis: "") == "<b>c</b>")
    let whole = SearchSnippet(of: " a, ", SearchText("a"), words: 5)
    #expect(whole.text == " a, " && !whole.hasMoreBefore && !whole.hasMoreBehind)
  }

  @Test("Texts are rated by matching terms and matches")
  func textsAreComparedByTermsAndMatches() {
    let search = SearchText("red fox")
    let worth = SearchSnippet.worth(of: "red fox red", search)
    #expect(worth.terms == 2 && worth.matches == 3)
    #expect(SearchSnippet.worth(of: "nothing", search).matches == 0)
  }
}
