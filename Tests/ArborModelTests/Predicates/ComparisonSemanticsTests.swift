import ArborModel
import Foundation
import Testing

/// The rules of comparisons, on stored records as well as on values.
@Suite struct ComparisonSemanticsTests {
  /// Returns whether a predicate matches a person with the given values.
  private func holds(_ values: [String: PropertyValue], _ predicate: FetchPredicate) throws -> Bool
  {
    let world = try PredicateWorld()
    world.insert(world.person, values)
    return try world.matches(predicate).count == 1
  }

  /// With a missing value, `x == nil` and `x != v` are true, all other comparisons are false, and
  /// NOT inverts them.
  @Test(
    "Comparisons with missing values follow the rules",
    arguments: [
      ("name == nil", true), ("name != nil", false), ("name != 'x'", true), ("name == 'x'", false),
      ("name < 'x'", false), ("name >= 'x'", false), ("NOT (name < 'x')", true),
      ("name BEGINSWITH 'x'", false), ("name ENDSWITH 'x'", false), ("name CONTAINS 'x'", false),
      ("name LIKE '*'", false), ("name MATCHES '.*'", false), ("name IN {'x'}", false),
      ("name IN {'x', nil}", true), ("name IN {}", false), ("name IN nil", false),
      ("name BETWEEN {'a', 'z'}", false), ("'x' IN name", false), ("NOT name LIKE '*'", true),
      ("long == nil", true), ("long != 0", true), ("long == 0", false), ("long < 1", false),
      ("long <= 0", false), ("long BETWEEN {-1, 1}", false), ("long IN {0}", false),
      ("flag == FALSE", false), ("flag == NIL", true), ("ratio > -1", false), ("ratio == 0", false),
      ("price == 0", false), ("price < 1", false), ("born == CAST(0, 'NSDate')", false),
      ("born < CAST(1, 'NSDate')", false), ("photo == data('')", false), ("key == nil", true),
      ("home != uri('https://x')", true), ("company == nil", true), ("company != nil", false),
      ("company.title == nil", true), ("company.title != 'x'", true), ("company.size < 5", false),
      ("boss.boss.name == nil", true), ("boss.entity.name == nil", true),
      ("name == boss.name", true),
      ("name != boss.name", false), ("long < short", false), ("extra == nil", true),
      ("extra != 5", true), ("boss == company", true), ("single IN {0, nil}", true),
    ])
  func missingValues(_ text: String, _ expected: Bool) throws {
    #expect(try holds([:], FetchPredicate(stringLiteral: text)) == expected)
  }

  @Test(
    "Numbers of different types are compared by value",
    arguments: [
      ("long == 2.0", true), ("long == 2.5", false), ("long < 2.5", true), ("long > 1.5", true),
      ("long == TRUE", false), ("flag == 1", true), ("flag > 0.5", true), ("flag == 'TRUE'", false),
      ("long == '2'", false), ("long != '2'", true), ("price == 9.99", true),
      ("price > 9.98", true),
      ("price == 9.990", true), ("price < 10", true), ("price BETWEEN {9.99, 9.99}", true),
      ("ratio == 0.1", true), ("ratio == price", false), ("single == 0.1", false),
      ("single > 0.1", true), ("single < 0.10000001", true), ("short IN {2.0, 3}", true),
      ("medium == 9007199254740993", false), ("long == short", true), ("long == extra", true),
      ("extra == 2", true), ("extra == TRUE", false), ("extra < 3", true),
      ("extra CONTAINS 'x'", false),
    ])
  func numbersAreWhatTheyAreWorth(_ text: String, _ expected: Bool) throws {
    let person: [String: PropertyValue] = [
      "long": 2, "short": 2, "flag": true, "price": .decimal(Decimal(string: "9.99") ?? 0),
      "ratio": 0.1, "single": .double(Double(Float(0.1))), "extra": 2.0, "medium": 5,
    ]
    #expect(try holds(person, FetchPredicate(stringLiteral: text)) == expected)
  }

  @Test("Large integers are compared exactly with doubles")
  func largeWholeNumbersAreExact() throws {
    let world = try PredicateWorld()
    world.insert(world.person, ["name": "odd", "long": 9_007_199_254_740_993])
    world.insert(world.person, ["name": "even", "long": 9_007_199_254_740_992])
    #expect(try world.names("long == \(9_007_199_254_740_992.0)") == ["even"])
    #expect(try world.names("long > \(9_007_199_254_740_992.0)") == ["odd"])
    #expect(try world.names("long <= \(9_007_199_254_740_993)") == ["even", "odd"])
  }

  @Test(
    "Text comparisons follow their options",
    arguments: [
      ("name BEGINSWITH 'Ma'", true), ("name BEGINSWITH 'ma'", false),
      ("name BEGINSWITH[c] 'mA'", true),
      ("name BEGINSWITH ''", false), ("name ENDSWITH ''", false), ("name CONTAINS ''", false),
      ("'' IN name", false), ("name BEGINSWITH[cd] ''", false), ("name LIKE ''", false),
      ("name ENDSWITH 'ía'", true), ("name ENDSWITH 'ia'", false), ("name ENDSWITH[d] 'ia'", true),
      ("name ==[cd] 'MARIA'", true), ("name ==[c] 'MARÍA'", true), ("name ==[d] 'maria'", false),
      ("name ==[cn] 'maría'", true), ("name == 'Mari\u{301}a'", false),
      ("name ==[n] 'Mari\u{301}a'", true), ("name ==[n] 'maría'", false),
      ("name !=[n] 'Mari\u{301}a'", false), ("name IN[n] {'x', 'Mari\u{301}a'}", true),
      ("name <[n] 'Mari\u{301}a'", false), ("name >=[n] 'Mari\u{301}a'", true),
      ("name BEGINSWITH[n] 'Mari\u{301}'", true), ("name BEGINSWITH[n] 'Mari'", false),
      ("name ENDSWITH[n] 'i\u{301}a'", true), ("name CONTAINS[n] 'i\u{301}'", true),
      ("name CONTAINS[n] 'i'", false), ("name LIKE[n] 'M*i\u{301}?'", true),
      ("name MATCHES[n] 'Mari\u{301}.'", true), ("name MATCHES[cn] 'MARI\u{301}.'", true),
      ("name MATCHES[c] 'mari\u{301}.'", false), ("name BETWEEN[n] {'Mari\u{301}a', 'N'}", true),
      ("name ==[c] 'Mari\u{301}a'", true), ("name CONTAINS[cd] 'RI'", true),
      ("name LIKE[cd] 'm*IA'", true),
      ("name LIKE 'M????'", true), ("name MATCHES 'Mar.a'", true), ("name MATCHES 'Mar'", false),
      ("name MATCHES 'Mar|María'", true), ("name MATCHES[c] 'mar.+'", true),
      ("name MATCHES[d] 'Maria'", true), ("name MATCHES '(?x) Mar.* # comment'", true),
      ("name < 'Mb'", true), ("name < 'M'", false), ("name <[c] 'mb'", true), ("name > 'a'", false),
      ("name >[c] 'a'", true), ("name IN[cd] {'x', 'MARIA'}", true), ("name IN 'Ana María'", true),
      ("name IN[cd] 'ana maria'", true), ("'Ma' IN name", true), ("name BETWEEN {'M', 'N'}", true),
      ("name ==[l] 'María'", true), ("name ==[cdl] 'maria'", true), ("name <[l] 'N'", true),
      ("name CONTAINS[l] 'ar'", true), ("name BEGINSWITH[cl] 'ma'", true),
      ("name ENDSWITH[l] 'x'", false), ("name CONTAINS[l] 'ri\u{301}a'", true),
      ("name CONTAINS[l] 'ri'", false), ("name ENDSWITH[l] 'i\u{301}a'", true),
      ("'Mari\u{301}a' CONTAINS[l] 'Mari'", false), ("'Mari\u{301}a' BEGINSWITH[l] 'Mari'", false),
      ("'Mari\u{301}a' CONTAINS[ld] 'Mari'", true), ("'STRASSE' CONTAINS[cl] 'aße'", true),
      ("name CONTAINS[l] ''", false),
      ("name BETWEEN[cl] {'l', 'n'}", true), ("name IN[cl] {'MARÍA'}", true),
      ("'Mar*' LIKE name", false), ("'María' LIKE name", true), ("'María' MATCHES name", true),
      ("'Maríana' BEGINSWITH name", true), ("'x' BEGINSWITH nil", false),
    ])
  func texts(_ text: String, _ expected: Bool) throws {
    #expect(try holds(["name": "María"], FetchPredicate(stringLiteral: text)) == expected)
  }

  @Test("Localized patterns match only within the text")
  func localizedPatternsEndInsideOfTheText() throws {
    for (text, pattern) in [("ab\u{301}", "ab\u{0}"), ("ſıa\u{301}İe", "é\u{0}")] {
      for predicate in [
        "name CONTAINS[ld] \(pattern)", "name CONTAINS[lcd] \(pattern)",
        "name BEGINSWITH[ld] \(pattern)", "name ENDSWITH[lcd] \(pattern)",
      ] as [FetchPredicate] {
        #expect(try !holds(["name": .string(text)], predicate), "\(predicate)")
      }
    }
  }

  @Test(
    "Expressions can be on both sides of a comparison",
    arguments: [
      ("{1, 2} == {1.0, 2}", true), ("{1, 2} == {2, 1}", false), ("{'a'} ==[c] {'A'}", true),
      ("{} == {}", true), ("{1} CONTAINS 1", true), ("{nil} CONTAINS nil", true),
      ("1 IN {2}", false),
      ("'b' IN 'abc'", true), ("5 BETWEEN {1, 5}", true), ("5 BETWEEN {6, 9}", false),
      ("CAST(5, 'NSDate') > CAST(4, 'NSDate')", true), ("nil == nil", true), ("nil != nil", false),
      ("{long, 7} CONTAINS 2", true), ("long IN {short, 1}", true),
      ("long BETWEEN {short, 9}", true),
      ("{long, short} == {2, 2}", true), ("SELF == SELF", true),
      ("SELF.objectID == objectID", true),
      ("entity.name == 'Person'", true), ("entity.name BEGINSWITH[c] 'p'", true),
      ("entity.name == 'Worker'", false), ("SELF IN {SELF}", true),
    ])
  func expressionsOfAnyShape(_ text: String, _ expected: Bool) throws {
    #expect(try holds(["long": 2, "short": 2], FetchPredicate(stringLiteral: text)) == expected)
  }

  @Test("Invalid regular expressions are rejected")
  func badExpressionsThrowWithTheirLocation() throws {
    let world = try PredicateWorld()
    for text in ["name MATCHES '('", "extra MATCHES '('", "'x' MATCHES ')('"] {
      let error = #expect(throws: ArborError.self) {
        try world.matches(FetchPredicate(stringLiteral: text))
      }
      #expect(error?.code == .invalidPredicate)
      #expect(error?.message.contains("regular expression") == true)
    }
    // An invalid regular expression in a record matches nothing.
    world.insert(world.person, ["name": "("])
    #expect(try world.names("'x' MATCHES name") == [])
  }

  @Test("Key paths cross entities")
  func pathsCrossEntities() throws {
    let world = try PredicateWorld()
    let foo = world.insert(world.company, ["title": "Foo", "size": 3])
    let head = world.insert(world.worker, ["name": "head", "wage": 9, "long": 1])
    let company = world.insert(
      world.company, ["title": "Bar", "head": .objectID(head.id)])
    world.insert(
      world.person,
      ["name": "a", "company": .objectID(foo.id), "boss": .objectID(head.id), "long": 1])
    world.insert(
      world.worker, ["name": "b", "company": .objectID(company.id), "boss": .objectID(head.id)])
    #expect(try world.names("company.title == 'Foo'") == ["a"])
    #expect(try world.names("company.title BEGINSWITH[c] 'b'") == ["b"])
    #expect(try world.names("company.head.name == 'head'") == ["b"])
    #expect(try world.names("boss.entity.name == 'Worker'") == ["a", "b"])
    #expect(try world.names("boss.long == long") == ["a"])
    #expect(try world.names("company == \(foo.id)") == ["a"])
    #expect(try world.names("company.head == \(head.id)") == ["b"])
    #expect(try world.names("company IN \([foo.id, company.id])") == ["a", "b"])
    #expect(try world.names("SELF == \(head.id) OR boss.objectID == nil") == ["head"])
    #expect(try world.names("company.size > 2") == ["a"])
    #expect(try world.names("NOT company.size > 2") == ["b", "head"])
    // Without a resolver the target of a relationship is nil.
    let predicate: FetchPredicate = "company.title == nil"
    let test = try predicate.compiled(for: world.person, environment: world.environment)
    let person = try #require(world.objects.values.first { $0.values["name"] == "a" })
    let record = try #require(world.record(of: person.number))
    #expect(test(record, person.number, nil))
    #expect(!test(record, person.number, world))
  }
}
