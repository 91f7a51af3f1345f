import ArborModel
import Testing

@Suite struct TokenQueryTests {
  @Test(
    "A token query matches as specified",
    arguments: [
      ("house", "The House.", true), ("house", "houses", false), ("hous*", "Houses", true),
      ("house the", "the old house", true), ("house the", "a house", false),
      ("cafe", "CAFÉ", true), ("cof* house", "Coffee-house", true), ("", "anything", true),
      ("*", "", true), ("a", "", false), ("東京", "東京都", true), ("東京", "京", false),
      ("a a", "a", true), ("hous* house", "house", true),
    ])
  func matches(query: String, text: String, expected: Bool) {
    let parsed = TokenQuery(query)
    var scratch = TextTokens()
    var text = text
    let found = text.withUTF8 { bytes in
      parsed.matches(UnsafeRawBufferPointer(bytes), scratch: &scratch)
    }
    #expect(found == expected)
  }

  @Test("A query with many words is matched in any order")
  func findsManyWords() {
    let words = (0..<100).map { "w\($0 * 7 % 100)x" }
    func matches(_ query: String) -> Bool {
      var scratch = TextTokens()
      var text = words.joined(separator: " ")
      return text.withUTF8 {
        TokenQuery(query).matches(UnsafeRawBufferPointer($0), scratch: &scratch)
      }
    }
    #expect(matches(words.shuffled().joined(separator: " ")))
    #expect(matches((0..<20).map { "w\($0)*" }.joined(separator: " ")))
    #expect(!matches(words.joined(separator: " ") + " w100x"))
    #expect(!matches((0..<20).map { "w\($0)y*" }.joined(separator: " ")))
    #expect(!matches((0..<20).map { "w\($0)" }.joined(separator: " ")))
  }

  @Test("Each token is searched once, the longest first")
  func asksForEachTokenOnceTheLongestFirst() {
    let query = TokenQuery("a House hou* a")
    #expect(
      query.tokens.map { String(decoding: $0.bytes, as: UTF8.self) } == ["house", "hou", "a"])
    #expect(query.tokens.map(\.isPrefix) == [false, true, false])
  }
}
