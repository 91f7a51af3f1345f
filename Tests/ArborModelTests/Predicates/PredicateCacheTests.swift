import ArborModel
import Foundation
import Testing

@Suite struct PredicateCacheTests {
  private func make(_ text: String) -> FetchPredicate { FetchPredicate(stringLiteral: text) }

  @Test("A predicate that was evicted from the cache is parsed again")
  func whatIsDisplacedIsParsedAgain() throws {
    let first = make("cached == 1")
    #expect(make("cached == 1").shape === first.shape)
    for number in 0..<5000 { _ = make("cached == \(number) OR other == 2") }
    #expect(make("cached == 1") == first)
    _ = try first.parsed
  }

  @Test("Predicates with a common beginning are cached separately")
  func piecesAreNotTheirSum() {
    let one: FetchPredicate = "a == \(1)"
    let two: FetchPredicate = "a == \(1) AND b == \(2)"
    let three: FetchPredicate = "a == \(1) AND b == \(2) AND c IN {\(3)}"
    let four: FetchPredicate = "a == \(1) AND b == \(2) AND c IN {\(3), \(4)}"
    let texts = [one, two, three, four].map(\.description)
    #expect(
      texts == [
        "a == 1", "a == 1 AND b == 2", "a == 1 AND b == 2 AND c IN {3}",
        "a == 1 AND b == 2 AND c IN {3, 4}",
      ])
    // A format string and a literal with the same text are cached separately, and so are different
    // limits.
    #expect(throws: Never.self) { try FetchPredicate(format: "a LIKE 'x'") }
    #expect(throws: ArborError.self) { try make("a == %@").parsed }
    #expect(throws: Never.self) { try FetchPredicate(format: "a == %@", 1) }
    #expect(throws: Never.self) { try FetchPredicate(format: "a MATCHES 'x'") }
    #expect(throws: ArborError.self) {
      try FetchPredicate(format: "a MATCHES 'x'", limits: .untrusted)
    }
  }

  @Test("Long predicates are not cached")
  func longTextsAreNotKept() {
    let text = "a == '" + String(repeating: "x", count: 5000) + "'"
    #expect(make(text).shape !== make(text).shape)
    #expect(make(text) == make(text))
  }

  @Test("Several threads can use the cache")
  func threadsShareIt() async {
    let texts = (0..<40).map { "thread == \($0) AND value == \($0 % 3)" }
    await withTaskGroup(of: Int.self) { group in
      for worker in 0..<4 {
        group.addTask {
          var wrong = 0
          for round in 0..<500 {
            let number = (round * 7 + worker) % 40
            let predicate = FetchPredicate(stringLiteral: texts[number]) && "x == \(round)"
            if predicate.arguments != [.integer(Int64(round))] { wrong += 1 }
            if !predicate.description.hasPrefix("thread == \(number) ") { wrong += 1 }
          }
          return wrong
        }
      }
      for await wrong in group { #expect(wrong == 0) }
    }
  }
}
