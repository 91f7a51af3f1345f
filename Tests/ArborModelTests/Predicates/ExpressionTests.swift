import ArborModel
import Foundation
import Testing

/// What expressions give and what predicates with them say, row by row of the language's tables.
@Suite struct ExpressionTests {
  /// A company `Foo` with three people and a company `Bar` with none.
  static func office() throws -> PredicateWorld {
    let world = try PredicateWorld()
    let foo = world.insert(world.company, ["title": "Foo", "size": 10])
    let bar = world.insert(world.company, ["title": "Bar", "size": 20])
    let ada = world.insert(
      world.person,
      [
        "name": "Ada", "long": 36, "ratio": 1.5, "company": .objectID(foo.id), "flag": true,
        "born": .date(Date(timeIntervalSinceReferenceDate: 1000)), "price": .decimal(10),
      ])
    let bob = world.insert(
      world.worker,
      [
        "name": "Bob", "long": 20, "ratio": 2.5, "company": .objectID(foo.id),
        "boss": .objectID(ada.id), "wage": 7, "extra": ["x", "y"],
      ])
    let cy = world.insert(
      world.person, ["name": "Cy", "company": .objectID(foo.id), "boss": .objectID(ada.id)])
    world.insert(world.person, ["name": "Dan", "long": 50, "boss": .objectID(bob.id)])
    world.link(foo, "ranking", to: [cy, ada, bob])
    world.link(bar, "ranking", to: [])
    return world
  }

  /// Whether a predicate without key paths holds.
  private func holds(_ text: String) throws -> Bool {
    let world = try PredicateWorld()
    world.insert(world.company, [:])
    return try world.matches(FetchPredicate(stringLiteral: text), in: world.company).count == 1
  }

  private func companies(_ text: String) throws -> [String] {
    let world = try Self.office()
    return try world.matches(FetchPredicate(stringLiteral: text), in: world.company)
      .compactMap { number in
        if case .string(let title)? = world.objects[number]?.values["title"] { title } else { nil }
      }.sorted()
  }

  private func people(_ text: String) throws -> [String] {
    try Self.office().names(FetchPredicate(stringLiteral: text))
  }

  // MARK: Constants

  @Test(arguments: [
    "1 + 2 == 3", "7 / 2 == 3", "-7 / 2 == -3", "7.0 / 2 == 3.5", "7 / 0 == nil",
    "7.5 / 0 == nil", "1 / 0.0 == nil", "modulus:by:(-7, 2) == -1", "modulus:by:(7, 0) == nil",
    "modulus:by:(7.5, 2) == 1.5", "2 ** 10 == 1024", "2 ** -1 == 0.5",
    "2 ** 63 == 9.223372036854776e18",
    "(1 + 2) * 2 == 6", "-(3) == -3", "9223372036854775807 + 1 == 9223372036854775808",
    "9223372036854775807 * 9223372036854775807 > 8.5e37",
    "-9223372036854775807 - 2 == -9223372036854775809",
    "(-9223372036854775807 - 1) / -1 == 9223372036854775808",
    "modulus:by:(-9223372036854775807 - 1, -1) == 0", "1 + nil == nil", "nil * 2 == nil",
    "TRUE + TRUE == 2", "CAST('0.1', 'NSDecimalNumber') + CAST('0.2', 'NSDecimalNumber') == 0.3",
    "CAST('1', 'NSDecimalNumber') / 3 < 0.34", "CAST('7', 'NSDecimalNumber') / 0 == nil",
    "modulus:by:(CAST('7.5', 'NSDecimalNumber'), 2) == 1.5",
    "modulus:by:(CAST('-7.5', 'NSDecimalNumber'), 2) == -1.5",
    "1e308 * 10 > 1e308", "5 & 3 == 1", "5 | 3 == 7", "bitwiseXor:with:(5, 3) == 6",
    "1 << 4 == 16", "1 << 64 == 0", "1 << 1000 == 0", "-8 >> 1 == -4", "-8 >> 99 == -1",
    "8 << -2 == 2", "onesComplement(0) == -1", "bitwiseAnd:with:(1.5, 1) == nil",
    "bitwiseAnd:with:(6.0, 3) == 2",
  ])
  func arithmetic(_ text: String) throws {
    #expect(try holds(text), "\(text)")
  }

  @Test(arguments: [
    "sum({1, 2, 3}) == 6", "sum({}) == 0", "sum({1, nil, 2.5}) == 3.5", "sum(1, 2, 3) == 6",
    "count({1, nil}) == 2", "count({}) == 0", "min({3, 1, 2}) == 1", "max({'a', 'c'}) == 'c'",
    "min({}) == nil", "max({nil}) == nil", "average({1, 2}) == 1.5", "average({}) == nil",
    "median({5, 1, 3}) == 3", "median({4, 1, 3, 2}) == 2.5", "median({}) == nil",
    "mode({1, 2, 2, 3, 3}) == {2, 3}", "stddev({2, 4, 4, 4, 5, 5, 7, 9}) == 2",
    "stddev({}) == nil", "distinct({1, 2, 1.0}) == {1, 2}", "sqrt(16) == 4", "sqrt(-1) == nil",
    "log(1000) > 2.99", "ln(0) < -1e308", "ln(-1) == nil", "exp(0) == 1", "floor(-1.5) == -2",
    "ceiling(-1.5) == -1", "trunc(-1.5) == -1", "trunc(1.5) == 1", "abs(-3) == 3",
    "abs(-9223372036854775807 - 1) == 9223372036854775808", "abs(-2.5) == 2.5",
    "floor(CAST('-1.5', 'NSDecimalNumber')) == -2", "trunc(CAST('-1.5', 'NSDecimalNumber')) == -1",
    "floor(nil) == nil", "random() >= 0", "random() < 1", "randomn(3) < 3", "randomn(0) == nil",
    "randomn(1) == 0", "uppercase('straße') == 'STRASSE'", "lowercase('ÀB') == 'àb'",
    "length('e\\u0301a') == 2", "length('') == 0", "length(nil) == nil",
    "canonical('ÀB') == 'ab'", "now() > CAST(0, 'NSDate')", "now() == now()",
    "noindex(5) == 5", "distanceToLocation:fromLocation:({0, 0}, {0, 180}) > 20015000",
    "distanceToLocation:fromLocation:({0, 0}, {0, 0}) == 0",
    "distanceToLocation:fromLocation:({91, 0}, {0, 0}) == nil",
  ])
  func functions(_ text: String) throws {
    #expect(try holds(text), "\(text)")
  }

  @Test(arguments: [
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
    #expect(try holds(text), "\(text)")
  }

  @Test(arguments: [
    "CAST(CAST(5, 'NSDate'), 'NSNumber') == 5", "CAST('12', 'NSNumber') == 12",
    "CAST('1.5', 'NSNumber') == 1.5", "CAST(length('abcde'), 'NSString') == '5'",
    "CAST(1.0 + 4, 'NSString') == '5'", "CAST('x' , 'NSNumber') == nil",
    "CAST(now(), 'NSDate') == now()", "CAST(lowercase('A'), 'NSUUID') == nil",
    "CAST(CAST(0, 'NSDate'), 'NSString') BEGINSWITH '2001-01-01 00:00:00'",
    "CAST(5, 'NSDate') + 5 == CAST(10, 'NSDate')", "5 + CAST(5, 'NSDate') == CAST(10, 'NSDate')",
    "CAST(5, 'NSDate') - 5 == CAST(0, 'NSDate')", "CAST(9, 'NSDate') - CAST(5, 'NSDate') == 4",
    "now() - now() == 0", "CAST(length('abc') / 2, 'Int') == 1",
  ])
  func castsAndDates(_ text: String) throws {
    #expect(try holds(text), "\(text)")
  }

  @Test(arguments: [
    ("'the quick fox' TOKENMATCHES 'fox quick'", true), ("'the quick' TOKENMATCHES 'qui*'", true),
    ("'the quick' TOKENMATCHES 'qui'", false), ("'a' TOKENMATCHES ''", false),
    ("'Café au lait' TOKENMATCHES 'CAFE'", true), ("'a' TOKENMATCHES nil", false),
    ("'the quick fox' CONTAINS[w] 'quick fox'", true), ("'the quick' CONTAINS[w] 'quic'", false),
    ("'the Quick' CONTAINS[w] 'quick'", false), ("'the Quick' CONTAINS[cw] 'quick'", true),
    ("'quick the fox' CONTAINS[w] 'quick fox'", false), ("'a' CONTAINS[w] ''", false),
    ("'public.jpeg' UTI-CONFORMS-TO 'public.image'", true),
    ("'PUBLIC.JPEG' UTI-CONFORMS-TO 'public.data'", true),
    ("'public.image' UTI-CONFORMS-TO 'public.jpeg'", false),
    ("'x.y' UTI-CONFORMS-TO 'x.y'", true), ("'X.Y' UTI-EQUALS 'x.y'", true),
    ("'X.Y' UTI-EQUALS 'x.z'", false), ("nil UTI-EQUALS 'x.z'", false),
  ])
  func wordsAndTypes(_ text: String, _ expected: Bool) throws {
    #expect(try holds(text) == expected, "\(text)")
    // The same with the text in a record.
    guard let end = text.dropFirst().firstIndex(of: "'"), text.hasPrefix("'") else { return }
    let world = try PredicateWorld()
    let value = String(text[text.index(after: text.startIndex)..<end])
    world.insert(world.person, ["name": .string(value)])
    let predicate = FetchPredicate(stringLiteral: "name" + text[text.index(after: end)...])
    #expect(try world.matches(predicate).count == (expected ? 1 : 0), "\(predicate)")
  }

  // MARK: Paths

  @Test(arguments: [
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
    ("ANY staff.extra CONTAINS 'y'", ["Foo"]), ("staff.extra.@unionOfArrays.@count == 2", ["Foo"]),
    ("ranking.@count > #size / 4", ["Foo"]),
  ])
  func collections(_ text: String, _ expected: [String]) throws {
    #expect(try companies(text) == expected, "\(text)")
  }

  @Test(arguments: [
    ("long > ratio", ["Ada", "Bob"]), ("ratio < long", ["Ada", "Bob"]), ("long == short", ["Cy"]),
    ("name > company.title", []), ("name < company.title", ["Ada", "Bob", "Cy"]),
    ("long * ratio > 50", ["Ada"]), ("born + 60 > born", ["Ada"]), ("born - 60 > born", []),
    ("boss.long - long > 10", ["Ada"].dropLast() + ["Bob"]),
    ("boss IN company.staff", ["Bob", "Cy"]),
    ("company.staff CONTAINS boss", ["Bob", "Cy"]), ("ANY reports.name == 'Bob'", ["Ada"]),
    ("company.staff.@count == 3", ["Ada", "Bob", "Cy"]),
    (
      "ALL company.staff.name != 'X'",
      ["Ada", "Bob", "Cy", "Dan"]
    ),
    ("ANY company.staff.name != 'X'", ["Ada", "Bob", "Cy"]), ("SELF == company.ranking[0]", ["Cy"]),
    ("company.ranking[0].boss.name == 'Ada'", ["Ada", "Bob", "Cy"]),
    ("ANY company.staff.long > long", ["Bob"]), ("price + 1 == 11", ["Ada"]),
    ("uppercase(name) == 'ADA'", ["Ada"]), ("length(name) == 2", ["Cy"]),
    ("extra[1] == 'y'", ["Bob"]),
    ("extra.@count == 2", ["Bob"]), ("'x' IN extra", ["Bob"]), ("flag + 1 == 2", ["Ada"]),
    ("born == CAST(1000, 'NSDate')", ["Ada"]), ("CAST(born, 'NSNumber') == 1000", ["Ada"]),
    ("CAST(long, 'NSString') == '36'", ["Ada"]), ("ratio / 0 == nil", ["Ada", "Bob", "Cy", "Dan"]),
  ])
  func paths(_ text: String, _ expected: [String]) throws {
    #expect(try people(text) == expected, "\(text)")
  }
}
