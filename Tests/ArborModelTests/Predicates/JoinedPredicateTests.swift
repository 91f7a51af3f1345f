import TestLength
import ArborModel
import Testing

@Suite struct JoinedPredicateTests {
  @Test("Joined conditions equal the predicate that is parsed from their combined text")
  func chainsOfAnyShapeAreTheirText() throws {
    let seed = UInt64.random(in: 0...(.max))
    var random = SplitMix(seed: seed)
    for _ in 0..<200 {
      var parts = (0..<Int.random(in: 1...12, using: &random)).map {
        number -> (text: String, whole: FetchPredicate) in
        let text = "a\(number) == \(number)"
        return (text: "(\(text))", whole: FetchPredicate(stringLiteral: text))
      }
      while parts.count > 1 {
        let index = Int.random(in: 0..<parts.count - 1, using: &random)
        let (left, right) = (parts[index], parts.remove(at: index + 1))
        if Bool.random(using: &random) { _ = left.whole.description }
        let isAnd = Bool.random(using: &random)
        parts[index] = (
          "(\(left.text) \(isAnd ? "AND" : "OR") \(right.text))",
          isAnd ? left.whole && right.whole : left.whole || right.whole
        )
      }
      let read = try FetchPredicate(format: parts[0].text)
      #expect(parts[0].whole == read, "seed \(seed)")
      #expect(parts[0].whole.description == read.description, "seed \(seed)")
      #expect(parts[0].whole.arguments.count == parts[0].whole.shape.argumentCount)
    }
  }

  @Test("A joined predicate can be part of several others")
  func whatWasPutTogetherIsJoinedOn() {
    let one: FetchPredicate = "a == \(1)"
    let first = one || "b == \(2)"
    #expect(first.arguments == [.integer(1), .integer(2)])
    let second = first || "c == \(3)"
    let zero: FetchPredicate = "z == \(0)"
    let other = zero && first
    #expect(second.description == "a == 1 OR b == 2 OR c == 3")
    #expect(other.description == "z == 0 AND (a == 1 OR b == 2)")
    #expect(second.arguments == [.integer(1), .integer(2), .integer(3)])
    let same: FetchPredicate = "a == \(5)"
    #expect(first.shape === (same || "b == \(6)").shape)
  }

  @Test("Long chains of conditions can be joined and released")
  func chainsAreOfAnyLength() {
    var (left, right) = (FetchPredicate.false, FetchPredicate.false)
    for age in 0..<20_000 {
      left = left || "age == \(age)"
      right = "age == \(age)" || right
    }
    #expect(left.arguments.count == 20_000 && right.arguments.count == 20_000)
    #expect(right.arguments == left.arguments.reversed())
    var unused = FetchPredicate.true
    for age in 0..<100_000 { unused = unused && "age != \(age)" }
    let half = unused
    for age in 0..<100_000 { unused = unused && "age != \(age)" }
    withExtendedLifetime(half) {}
  }

  @Test("Alternating AND and OR too often exceeds the nesting limit")
  func whatAlternatesTooOftenIsRefused() throws {
    var deep: FetchPredicate = "a == 1"
    for index in 0..<10_000 {
      deep = index.isMultiple(of: 2) ? deep && "b == 2" : deep || "c == 3"
    }
    let error = #expect(throws: ArborError.self) { try deep.parsed }
    #expect(
      error?.message
        == "The predicate is nested more than 64 levels deep. Combine fewer conditions with AND, "
        + "OR and NOT.")
  }

  @Test("Several threads can describe the same chain")
  func threadsPutAChainTogetherSideBySide() async {
    for round in 0..<50 {
      let chain = (0..<40).reduce(FetchPredicate.false) { chain, number in
        chain || FetchPredicate(stringLiteral: "n\(round) == \(number)")
      }
      await withTaskGroup(of: Int.self) { group in
        for _ in 0..<4 { group.addTask { chain.description.count } }
        for await count in group { #expect(count == chain.description.count) }
      }
    }
  }
}
