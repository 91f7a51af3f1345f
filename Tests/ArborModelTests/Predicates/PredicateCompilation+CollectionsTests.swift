import ArborModel
import Foundation
import Testing

/// Predicates on collections of objects.
@Suite struct PredicateCompilationCollectionsTests {
  private func companies(_ text: String) throws -> [String] {
    let world = try PredicateWorld.office()
    return try world.matches(FetchPredicate(stringLiteral: text), in: world.company)
      .compactMap { number in
        if case .string(let title)? = world.objects[number]?.values["title"] { title } else { nil }
      }.sorted()
  }

  @Test(
    "Predicates on collections select the right objects",
    arguments: [
      ("ANY staff.long > 30", ["Foo"]), ("ALL staff.long > 30", ["Bar"]),
      ("ALL staff.long > 10 OR title == 'Bar'", ["Bar"]), ("NONE staff.long > 40", ["Bar", "Foo"]),
      ("NONE staff.long > 30", ["Bar"]), ("ANY staff.boss.name == 'Ada'", ["Foo"]),
      ("ANY staff.reports.name == 'Dan'", ["Foo"]), ("ALL staff.reports.name == 'Dan'", ["Bar"]),
      ("ANY staff.reports.@count > 1", ["Foo"]), ("ANY staff.reports.reports.long == 50", ["Foo"]),
      ("ANY staff.long == nil", ["Foo"]), ("ANY staff.long > #size", ["Foo"]),
      ("ALL staff.long > #size", ["Bar"]), ("ANY staff.name IN {'Bob', 'X'}", ["Foo"]),
      ("ANY staff.name BEGINSWITH[c] 'b'", ["Foo"]), ("NOT ANY staff.long > 30", ["Bar"]),
      ("ANY staff.long BETWEEN {35, 37}", ["Foo"]), ("staff.@count == 3", ["Foo"]),
      ("staff.@count == 0", ["Bar"]), ("count(staff) > 0", ["Foo"]), ("staff[SIZE] < 1", ["Bar"]),
      ("staff.@sum.long == 56", ["Foo"]), ("staff.long.@sum == 56", ["Foo"]),
      ("staff.@sum.long == 0", ["Bar"]), ("staff.@avg.long == 28", ["Foo"]),
      ("staff.@avg.long == nil", ["Bar"]), ("staff.@min.long == 20", ["Foo"]),
      ("staff.@max.name == 'Cy'", ["Foo"]), ("staff.@max.long == nil", ["Bar"]),
      ("sum(staff.long) == 56", ["Foo"]), ("max(staff.reports.long) == 50", ["Foo"]),
      ("staff.@distinctUnionOfObjects.boss.@count == 1", ["Foo"]),
      ("staff.@unionOfObjects.long.@count == 2", ["Foo"]), ("staff.long.@count == 3", ["Foo"]),
      ("'Bob' IN staff.name", ["Foo"]), ("staff.name CONTAINS 'Bob'", ["Foo"]),
      ("nil IN staff.long", ["Foo"]), ("ranking[0].name == 'Cy'", ["Foo"]),
      ("ranking[FIRST].name == 'Cy'", ["Foo"]), ("ranking[LAST].name == 'Bob'", ["Foo"]),
      ("ranking[7].name == nil", ["Bar", "Foo"]), ("ranking.name == {'Cy', 'Ada', 'Bob'}", ["Foo"]),
      ("ranking.name == {'Ada', 'Bob', 'Cy'}", []), ("staff.name == {'Cy', 'Bob', 'Ada'}", ["Foo"]),
      ("staff.name ==[c] {'cY', 'bob', 'ada'}", ["Foo"]), ("staff.name != {'Cy'}", ["Bar", "Foo"]),
      ("staff == ranking", ["Bar", "Foo"]), ("staff.entity.name CONTAINS 'Worker'", ["Foo"]),
      ("SUBQUERY(staff, $p, $p.long > 30).@count == 1", ["Foo"]),
      ("SUBQUERY(staff, $p, $p.long > #size).@count == 2", ["Foo"]),
      ("SUBQUERY(staff, $p, $p.company.title == title).@count == 3", ["Foo"]),
      ("SUBQUERY(staff, $p, ANY $p.reports.long == 50).@count > 0", ["Foo"]),
      (
        "SUBQUERY(staff, $p, SUBQUERY($p.reports, $q, $q.long > $p.long).@count > 0).@count == 1",
        ["Foo"]
      ),
      (
        "SUBQUERY(staff, $p, SUBQUERY($p.reports, $p, $p.name == 'Dan').@count > 0).@count == 1",
        ["Foo"]
      ),
      ("ANY SUBQUERY(staff, $p, $p.long > 10).name == 'Ada'", ["Foo"]),
      ("SUBQUERY(staff, $p, $p == $p.company.ranking[1]).name == {'Ada'}", ["Foo"]),
      ("SUBQUERY(staff, $p, $p.boss IN staff).@count == 2", ["Foo"]),
      ("(staff UNION ranking).@count == 3", ["Foo"]),
      (
        "(staff MINUS ranking).@count == 0",
        ["Bar", "Foo"]
      ),
      ("SELF IN staff.company", ["Foo"]), ("ANY staff.company == SELF", ["Foo"]),
      ("staff.reports.@count == 3", ["Foo"]), ("ANY staff.flag == TRUE", ["Foo"]),
      ("TERNARY(#size > 15, title, 'no') == 'Bar'", ["Bar"]), ("#size * 2 == 40", ["Bar"]),
      ("($n := #size) > 15 AND $n < 25", ["Bar"]), ("#size + staff.@count == 13", ["Foo"]),
      ("ANY staff.extra CONTAINS 'y'", ["Foo"]),
      ("staff.extra.@unionOfArrays.@count == 2", ["Foo"]),
      ("ranking.@count > #size / 4", ["Foo"]),
      ("SUBQUERY((staff UNION ranking), $p, $p.long > 30).@count == 1", ["Foo"]),
      ("ANY (ranking INTERSECT staff).name == 'Cy'", ["Foo"]),
      ("(ranking MINUS staff).name == {}", ["Bar", "Foo"]),
      ("TERNARY(#size > 0, ranking[0], ranking[1]).name == 'Cy'", ["Foo"]),
      ("TERNARY(#size > 0, ranking[1], ranking[0]).company.title == 'Foo'", ["Foo"]),
      ("TERNARY(#size > 0, ranking[0], ranking[1]).reports.@count == 0", ["Bar", "Foo"]),
      ("SUBQUERY(TERNARY(#size > 0, staff, ranking), $p, $p.long > 30).@count == 1", ["Foo"]),
      ("SUBQUERY({ranking[0], ranking[1], nil}, $p, $p.name == 'Ada').@count == 1", ["Foo"]),
    ])
  func collections(_ text: String, _ expected: [String]) throws {
    #expect(try companies(text) == expected, "\(text)")
  }

  /// The expression itself, written where the variable is used, is the oracle.
  @Test(
    "An assigned expression has the same value in nested scopes",
    arguments: [
      "#size", "title", "SELF", "staff", "ranking.name", "#size + staff.@count", "{1, #size}",
      "ranking[0].long", "ranking[#size / 20].name", "ranking[LAST].boss.name",
      "CAST(#size, 'NSString')", "staff.reports.long", "staff.@distinctUnionOfObjects.boss",
      "staff.@unionOfObjects.long", "(staff UNION ranking).@count", "staff.@max.long",
      "SUBQUERY(staff, $q, $q.long > #size)",
      "SUBQUERY(staff, $q, $q.long > #size AND ANY $q.reports.long == 50).@count",
      "SUBQUERY({5, 15, 25}, $v, $v > #size)", "TERNARY(#size > 15, title, 'other')",
      "TERNARY(ANY staff.long > #size, 1, 2)",
      "TERNARY(NOT (#size > 3 AND title == 'Foo') OR staff.@count == 0, 1, 2)",
      "TERNARY(ALL staff.reports.@count > 0 AND TRUEPREDICATE, #size, 2)",
    ])
  func assignedExpressions(_ expression: String) throws {
    for text in [
      "SUBQUERY(staff, $p, $x == (\(expression))).@count == staff.@count",
      "SUBQUERY(staff, $p, SUBQUERY($p.reports, $r, $x == (\(expression))).@count "
        + "== $p.reports.@count).@count == staff.@count",
      "SUBQUERY(staff, $p, NOT $x != (\(expression))).@count == staff.@count",
    ] {
      #expect(
        try companies("(($x := \(expression)) == $x OR TRUEPREDICATE) AND \(text)") == [
          "Bar", "Foo",
        ],
        "\(text)")
    }
  }
}
