import ArborModel
import Foundation
import Testing

/// The values of functions of constants, as listed in the language's tables.
@Suite struct PredicateFunctionEvaluationTests {
  @Test(
    "Functions return the listed values",
    arguments: [
      "sum({1, 2, 3}) == 6", "sum({}) == 0", "sum({1, nil, 2.5}) == 3.5", "sum(1, 2, 3) == 6",
      "count({1, nil}) == 2", "count({}) == 0", "min({3, 1, 2}) == 1", "max({'a', 'c'}) == 'c'",
      "min({}) == nil", "max({nil}) == nil", "average({1, 2}) == 1.5", "average({}) == nil",
      "median({5, 1, 3}) == 3", "median({4, 1, 3, 2}) == 2.5", "median({}) == nil",
      "mode({1, 2, 2, 3, 3}) == {2, 3}", "stddev({2, 4, 4, 4, 5, 5, 7, 9}) == 2",
      "stddev({}) == nil", "distinct({1, 2, 1.0}) == {1, 2}", "sqrt(16) == 4", "sqrt(-1) == nil",
      "log(1000) > 2.99", "ln(0) < -1e308", "ln(-1) == nil", "exp(0) == 1", "floor(-1.5) == -2",
      "ceiling(-1.5) == -1", "trunc(-1.5) == -1", "trunc(1.5) == 1", "abs(-3) == 3",
      "abs(-9223372036854775807 - 1) == 9223372036854775808", "abs(-2.5) == 2.5",
      "floor(CAST('-1.5', 'NSDecimalNumber')) == -2",
      "trunc(CAST('-1.5', 'NSDecimalNumber')) == -1",
      "floor(nil) == nil", "random() >= 0", "random() < 1", "randomn(3) < 3", "randomn(0) == nil",
      "randomn(1) == 0", "uppercase('straße') == 'STRASSE'", "lowercase('ÀB') == 'àb'",
      "length('e\\u0301a') == 2", "length('') == 0", "length(nil) == nil",
      "canonical('ÀB') == 'ab'", "now() > CAST(0, 'NSDate')", "now() == now()",
      "noindex(5) == 5", "distanceToLocation:fromLocation:({0, 0}, {0, 180}) > 20015000",
      "distanceToLocation:fromLocation:({0, 0}, {0, 0}) == 0",
      "distanceToLocation:fromLocation:({91, 0}, {0, 0}) == nil",
    ])
  func functions(_ text: String) throws {
    #expect(try PredicateWorld.holds(text), "\(text)")
  }

  /// `+` yields nil if either side is nil, as with numbers; `concat` and `join` skip nil.
  @Test(
    "Texts can be concatenated and joined",
    arguments: [
      "'a' + 'b' == 'ab'", "'a' + nil == nil", "nil + 'a' == nil", "'a' + '' == 'a'",
      "'a' + 'b' + 'c' == 'abc'", "add:to:('a', 'b') == 'ab'", "length('e' + '\\u0301') == 1",
      "'1' + CAST(2, 'NSString') == '12'", "CAST('1', 'NSNumber') + 2 == 3",
      "concat('a', 'b', 'c') == 'abc'", "concat('a', nil, 'c') == 'ac'", "concat('a') == 'a'",
      "concat(nil) == ''", "concat(nil, nil) != nil", "concat:('a', 'b') == 'ab'",
      "join({'a', 'b'}, ', ') == 'a, b'", "join({'a', nil, '', 'c'}, '-') == 'a--c'",
      "join({'a', 'b'}) == 'ab'", "join({}, ', ') == ''", "join({nil}, ', ') == ''",
      "join({'a'}, ', ') == 'a'", "join({'a', 'b'}, nil) == nil", "join(nil, ', ') == nil",
      "join:({'b'} UNION {'a'}, '+') == 'b+a'", "uppercase(concat('a', 'b')) + 'c' == 'ABc'",
      "concat(TERNARY(1 < 2, nil, 'x'), 'y') BEGINSWITH 'y'",
    ])
  func textsAreJoined(_ text: String) throws {
    #expect(try PredicateWorld.holds(text), "\(text)")
  }

  @Test(
    "A type mismatch that is found only at evaluation yields nil",
    arguments: ["noindex(%@) + 'a' == nil", "concat('a', noindex(%@)) == nil"])
  func whatIsNoTextGivesNil(_ format: String) throws {
    #expect(try PredicateWorld.holds(FetchPredicate(format: format, 5)))
    #expect(try !PredicateWorld.holds(FetchPredicate(format: format, "5")))
  }

  @Test(
    "Operators and functions on lists return the listed values",
    arguments: [
      "{1, 2} UNION {2, 3} == {1, 2, 3}", "{1, 2} INTERSECT {2, 3} == {2}",
      "{1, 2} MINUS {2, 3} == {1}", "{1, 2}[0] == 1", "{1, 2}[FIRST] == 1", "{1, 2}[LAST] == 2",
      "{1, 2}[SIZE] == 2", "{1, 2}[2] == nil", "{1, 2}[-1] == nil", "{}[FIRST] == nil",
      "{1, 2, 3}.@sum == 6", "{}.@max == nil", "{1, 1, nil}.@distinctUnionOfObjects == {1}",
      "{{1, 2}, {2}}.@distinctUnionOfArrays == {1, 2}", "{{1, 2}, {2}}.@unionOfArrays == {1, 2, 2}",
      "{1, 2} == {1, 2}", "{1, 2} != {2, 1}", "{1, {2}} == {1.0, {2}}", "2 IN {1, 2}",
      "{1, 2} CONTAINS 2", "'b' IN 'abc'", "NOT ('' IN 'abc')", "3 BETWEEN {1, 3}",
      "NOT (3 BETWEEN {4, 9})", "TERNARY(1 < 2, 'a', 'b') == 'a'",
      "SUBQUERY({1, 2, 3}, $x, $x > 1).@count == 2", "SUBQUERY({}, $x, TRUEPREDICATE).@count == 0",
      "ANY {1, 2} > 1", "ALL {1, 2} > 0", "NONE {1, 2} > 2", "ALL {} > 1", "NOT (ANY {} > 1)",
      "($x := 5) + $x == 10", "SOME {1, 2} == 2",
      "SUBQUERY({1, 2}, $x, SUBQUERY({2, 3}, $y, $y == $x).@count == 1).@count == 1",
      "SUBQUERY({1, 2}, $x, SUBQUERY({2, 3}, $x, $x > 2).@count == 1).@count == 2",
    ])
  func lists(_ text: String) throws {
    #expect(try PredicateWorld.holds(text), "\(text)")
  }
}
