import ArborModel
import Testing

/// The open variables of a tree, which substitution binds exactly.
@Suite struct OpenLeavesTests {
  @Test(
    "The variables of a predicate are listed and can be substituted",
    arguments: [
      ("a == $X AND b == $Y", ["X", "Y"]), ("SUBQUERY(a, $x, $x.b == $Y).@count > $Z", ["Y", "Z"]),
      ("SUBQUERY($x, $x, $x.b == 1).@count > 0", ["x"]),
      ("SUBQUERY(a, $x, $x == 1).@count > $x", ["x"]), ("$v := a + 1 > 2 AND $v < 5", []),
      ("$v == 1 AND ($v := a) == 2", ["v"]),
      (
        "TERNARY($A == 1, $B, $C) == sum($D, {$E})[$F]",
        ["A", "B", "C", "D", "E", "F"]
      ),
      ("CAST($A, 'NSString') == FUNCTION($B, 'f', $C).d", ["A", "B", "C"]),
      (
        "SUBQUERY(a, $x, SUBQUERY($x.b, $y, $y == $x AND $y == $z).@count > 0).@count > $y",
        ["y", "z"]
      ),
    ])
  func areTheVariables(_ text: String, _ names: [String]) throws {
    let predicate = FetchPredicate(stringLiteral: text)
    #expect(predicate.variables == names)
    var values: [String: (any PredicateArgument)?] = [:]
    for name in names { values[name] = 7 }
    let closed = predicate.substituting(values)
    #expect(closed.variables == [])
    #expect(FetchPredicate(stringLiteral: closed.description) == closed)
  }

  @Test("Substitution doesn't replace the bound variable of a subquery")
  func boundVariablesAreNotReplaced() {
    let predicate: FetchPredicate = "SUBQUERY(a, $x, $x.b == $x).@count > $x"
    #expect(
      predicate.substituting(["x": 5]).description
        == "SUBQUERY(a, $x, $x.b == $x).@count > 5")
  }

  @Test("Arguments for key paths are allowed everywhere")
  func pathArgumentsStandAnywhere() throws {
    let predicate = try FetchPredicate(
      format: "SUBQUERY(%K, $x, $x.%K > %@ AND TERNARY(%K == nil, %@, 2) == 2).%K > a.%K",
      "staff", "boss.age", 40, "SELF.name", 1, "@count", "b.@max.c")
    #expect(
      predicate.description
        == "SUBQUERY(staff, $x, $x.boss.age > 40 AND TERNARY(name == NIL, 1, 2) == 2).@count "
        + "> a.b.@max.c")
  }

  @Test("Composition renumbers the arguments in all nested expressions")
  func compositionMovesArgumentsEverywhere() {
    let left: FetchPredicate = "a == \(1)"
    let right: FetchPredicate = "SUBQUERY(b, $x, $x.c + \(2) > {\(3), d}[\(0)]).@count == sum(\(4))"
    #expect(
      (left && right).description
        == "a == 1 AND SUBQUERY(b, $x, $x.c + 2 > {3, d}[0]).@count == sum(4)")
  }
}
