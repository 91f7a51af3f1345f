import ArborModel
import Testing

@Suite struct SearchTextTests {
  private func described(_ terms: [SearchText.Term]) -> [String] {
    terms.map { term in
      term.tokens.map { String(decoding: $0.bytes, as: UTF8.self) + ($0.isPrefix ? "*" : "") }
        .joined(separator: " ")
    }
  }

  @Test(
    "Search terms, phrases and exclusions are parsed",
    arguments: [
      ("", [], []), (" ,;  ", [], []), ("Red  FOX", ["red", "fox"], []),
      ("fox red fox", ["fox", "red"], []), ("conc* x", ["conc*", "x"], []),
      ("\"Red fox\" den", ["red fox", "den"], []), ("\"red f*\"", ["red f*"], []),
      ("\"red f\"*", ["red f*"], []), ("e-mail", ["e mail"], []), ("東京 x", ["東 京", "x"], []),
      ("fox -red", ["fox"], ["red"]), ("-\"red fox\" -den* x", ["x"], ["red fox", "den*"]),
      ("- fox", ["fox"], []), ("-", [], []), ("fox \"open end", ["fox", "open end"], []),
      ("fox\"red\"den", ["fox", "red", "den"], []), ("\"\" *", [], []), ("don't", ["don t"], []),
      ("Café", ["cafe"], []), ("x--y", ["x y"], []), ("-- x", ["x"], []),
    ] as [(String, [String], [String])])
  func readsWhatPeopleType(text: String, wanted: [String], unwanted: [String]) {
    let search = SearchText(text)
    #expect(described(search.wanted) == wanted)
    #expect(described(search.unwanted) == unwanted)
  }

  @Test(
    "The occurrences of a term are counted",
    arguments: [
      ("fox", "The red fox, a FOX", 2), ("red fox", "red fox red foxes red fox", 2),
      ("red fox", "fox red", 0), ("fo*", "fox foe of", 2), ("a a", "a a a", 2),
      ("red f*", "red fish red dog red", 1), ("x", "", 0),
    ] as [(String, String, Int)])
  func counts(term: String, text: String, count: Int) throws {
    let search = SearchText("\"\(term)\"")
    var tokens = TextTokens()
    tokens.read(text)
    #expect(try #require(search.wanted.first).count(in: tokens) == count)
  }
}
