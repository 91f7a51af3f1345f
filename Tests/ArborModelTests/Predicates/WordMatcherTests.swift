import ArborModel
import Foundation
import Testing

/// Operators on words and on uniform type identifiers.
@Suite struct WordMatcherTests {
  @Test(
    "Operators on words and types have the listed results",
    arguments: [
      ("'the quick fox' TOKENMATCHES 'fox quick'", true), ("'the quick' TOKENMATCHES 'qui*'", true),
      ("'the quick' TOKENMATCHES 'qui'", false), ("'a' TOKENMATCHES ''", false),
      ("'Café au lait' TOKENMATCHES 'CAFE'", true), ("'a' TOKENMATCHES nil", false),
      ("'the quick fox' CONTAINS[w] 'quick fox'", true), ("'the quick' CONTAINS[w] 'quic'", false),
      ("'the Quick' CONTAINS[w] 'quick'", false), ("'the Quick' CONTAINS[cw] 'quick'", true),
      ("'quick the fox' CONTAINS[w] 'quick fox'", false), ("'a' CONTAINS[w] ''", false),
      ("'a a a b' CONTAINS[w] 'a a b'", true), ("'a a a' CONTAINS[w] 'a a b'", false),
      ("'ＡＢＣ ｶﾅ' TOKENMATCHES 'abc カナ'", true), ("'كِتَاب' TOKENMATCHES 'كتاب'", true),
      ("'public.jpeg' UTI-CONFORMS-TO 'public.image'", true),
      ("'PUBLIC.JPEG' UTI-CONFORMS-TO 'public.data'", true),
      ("'public.image' UTI-CONFORMS-TO 'public.jpeg'", false),
      ("'x.y' UTI-CONFORMS-TO 'x.y'", true), ("'X.Y' UTI-EQUALS 'x.y'", true),
      ("'X.Y' UTI-EQUALS 'x.z'", false), ("nil UTI-EQUALS 'x.z'", false),
    ])
  func wordsAndTypes(_ text: String, _ expected: Bool) throws {
    #expect(try PredicateWorld.holds(text) == expected, "\(text)")
    // The same with the text in a record.
    guard let end = text.dropFirst().firstIndex(of: "'"), text.hasPrefix("'") else { return }
    let world = try PredicateWorld()
    let value = String(text[text.index(after: text.startIndex)..<end])
    world.insert(world.person, ["name": .string(value)])
    let predicate = FetchPredicate(stringLiteral: "name" + text[text.index(after: end)...])
    #expect(try world.matches(predicate).count == (expected ? 1 : 0), "\(predicate)")
  }
}
