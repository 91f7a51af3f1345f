import ArborModel
import Foundation
import Testing

/// Shapes derived from others: composed, with bound variables, and with substituted key paths.
@Suite struct ParsedPredicateTests {
  @Test("Composing predicates keeps their arguments apart")
  func composingKeepsArgumentsApart() {
    let left: FetchPredicate = "a == \(1) OR b IN {\(2), 3}"
    let right: FetchPredicate = "c == \(4)"
    #expect((right && left).description == "c == 4 AND (a == 1 OR b IN {2, 3})")
    #expect((left || right).description == "a == 1 OR b IN {2, 3} OR c == 4")
    #expect((right && !right && left).arguments == [4, 4, 1, 2])
    #expect((left && left).shape.argumentCount == 4)
  }

  @Test("Substituted variables become arguments")
  func variablesBecomeArguments() throws {
    let template = try FetchPredicate(format: "a == $B AND b IN {$A, %@, $B}", 1)
    #expect(template.shape.variables == ["A", "B"])
    let first = template.substituting(["B": 2])
    #expect(first.arguments == [1, 2])
    #expect(first.description == "a == 2 AND b IN {$A, 1, 2}")
    #expect(first.substituting(["A": 3]).description == "a == 2 AND b IN {3, 1, 2}")
    #expect(template.substituting(["A": 3, "B": 2]) == first.substituting(["A": 3]))
    #expect(template.substituting([:]).shape === template.shape)
  }

  @Test("Key path arguments become part of the shape")
  func keyPathsLeaveTheArguments() throws {
    let predicate = try FetchPredicate(
      format: "%@ < %K.%K AND %K == %@ AND x.%K != %@", 1, "a", "b.c", "SELF.d", 2, "e", 3)
    #expect(predicate.arguments == [1, 2, 3])
    #expect(predicate.description == "1 < a.b.c AND d == 2 AND x.e != 3")
    let same = try FetchPredicate(
      format: "%@ < %K.%K AND %K == %@ AND x.%K != %@", 7, "a", "b.c", "SELF.d", 8, "e", 9)
    #expect(same.shape === predicate.shape)
    let odd = try FetchPredicate(format: "%K == 1", "first name.size")
    #expect(odd == FetchPredicate(stringLiteral: odd.description))
  }

  @Test("Evicted shapes are recreated correctly")
  func derivationsAreForgottenAndMadeAgain() throws {
    for number in 0..<200 {
      let predicate = try FetchPredicate(format: "%K == %@", "name\(number)", number)
      #expect(predicate.description == "name\(number) == \(number)")
    }
  }
}
