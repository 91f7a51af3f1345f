import ArborModel
import Foundation
import Testing

/// The form of the conjunction used for planning, and of its terms. That they agree with the
/// predicate is tested with the compiler.
@Suite struct PredicateNormalizerTests {
  let world: PredicateWorld

  init() throws { world = try PredicateWorld() }

  private func conjuncts(_ predicate: FetchPredicate) throws -> [Conjunct] {
    let bound = try PredicateBinder.bind(predicate, to: world.person, in: world.schema)
    return try bound.conjunction(
      arguments: predicate.arguments, environment: world.environment
    ).conjuncts
  }

  private func term(_ predicate: FetchPredicate) throws -> IndexableTerm? {
    let conjuncts = try conjuncts(predicate)
    #expect(conjuncts.count == 1)
    return conjuncts.first?.term
  }

  private func isNever(_ predicate: FetchPredicate) throws -> Bool {
    let conjuncts = try conjuncts(predicate)
    guard conjuncts.count == 1, case .constant(false) = conjuncts[0].node else { return false }
    return true
  }

  @Test("Negations are moved inward")
  func negationsMoveInwards() throws {
    let predicate: FetchPredicate = """
      NOT (long == 1 OR NOT (short == 2 AND flag == TRUE) OR name != 'x') AND TRUEPREDICATE
      AND NOT (long < 3) AND NOT (long == 1 AND short == 2)
      """
    let found = try conjuncts(predicate)
    #expect(found.map { $0.term != nil } == [false, true, true, true, false, false])
    guard case .comparison(let first) = found[0].node, case .not = found[4].node,
      case .or(let either) = found[5].node
    else {
      Issue.record("\(found)")
      return
    }
    #expect(first.comparison == .notEqual)
    #expect(either.count == 2)
    #expect(try conjuncts("TRUEPREDICATE OR FALSEPREDICATE AND long == 1").isEmpty)
    #expect(
      try conjuncts("(long == 1 AND short == 2) AND (TRUEPREDICATE AND flag == 1)").count == 3)
    #expect(try conjuncts("TRUEPREDICATE").isEmpty)
    #expect(try conjuncts("NOT FALSEPREDICATE").isEmpty)
    #expect(try isNever("long == 1 AND FALSEPREDICATE"))
    #expect(try isNever("long == 1 AND NOT TRUEPREDICATE"))
  }

  @Test("Different spellings of an equality yield the same term")
  func equalityIsOneValue() throws {
    let slot = try #require(world.person.attributes.first { $0.name == "long" }?.slot)
    let expected = IndexableTerm.Condition.equals(5)
    for text in [
      "long == 5", "5 == long", "long == 5.0", "NOT (long != 5)", "long IN {5, 5.0, 'x'}",
      "{5} CONTAINS long", "long == CAST('5', 'NSDecimalNumber')",
    ] {
      let term = try term(FetchPredicate(stringLiteral: text))
      #expect(term?.condition == expected, "\(text)")
      #expect(term?.subject == .attribute(slot: slot))
      #expect(term?.isExact == true)
    }
    #expect(try term("long == nil")?.condition == .equals(.null))
    #expect(try term("flag == 1")?.condition == .equals(true))
    #expect(try term("price == 2.5")?.condition == .equals(.decimal(2.5)))
    #expect(try term("name == 'x'")?.condition == .equals("x"))
    #expect(try term("ratio == 3")?.condition == .equals(3.0))
    let folded = try term("name ==[c] 'X'")
    #expect(folded?.condition == .equals("x") && folded?.folding == .case)
    #expect(try term("name ==[l] 'x'") == nil)
    #expect(try term("long == short") == nil)
    #expect(try term("extra == 5") == nil)
    #expect(try term("boss.long == 5") == nil)
    #expect(try term("long != 5") == nil)
  }

  @Test("A condition that no stored value can satisfy is recognized")
  func whatNoFieldHoldsIsNever() throws {
    for text in [
      "short == 40000", "long == 2.5", "long == 'x'", "flag == 2", "single == 0.1", "short > 32767",
      "short < -32768", "long > 1e19", "long BETWEEN {5, 4}", "long BETWEEN {2.2, 2.8}",
      "long < nil", "name BEGINSWITH ''", "name == 5", "company == 5", "SELF == nil", "SELF IN {}",
      "long IN {}", "long IN {'x', 0.5}", "key == 'x'",
    ] {
      #expect(try isNever(FetchPredicate(stringLiteral: text)), "\(text)")
    }
  }

  @Test("Bounds of ranges are tightened to the attribute's type")
  func boundsAreTightened() throws {
    func range(_ lower: PropertyValue, _ upper: PropertyValue?) -> IndexableTerm.Condition {
      .range(
        lower: lower, isLowerIncluded: !lower.isNull, upper: upper, isUpperIncluded: upper != nil)
    }
    let none: PropertyValue? = Optional.none
    let cases: [(String, IndexableTerm.Condition)] = [
      ("long < 2.5", range(.null, 2)), ("long <= 2", range(.null, 2)),
      ("long < 2", range(.null, 1)),
      ("long > 2.5", range(3, none)), ("long >= -2.5", range(-2, none)),
      ("2 < long", range(3, none)),
      ("long < 1e19", range(.null, none)), ("long != nil", range(.null, none)),
      ("short > -32769", range(.null, none)),
      (
        "short >= 32767",
        .range(
          lower: 32767, isLowerIncluded: true, upper: 32767, isUpperIncluded: true)
      ),
      ("long BETWEEN {0.5, 3.5}", range(1, 3)), ("flag > FALSE", range(true, true)),
      ("flag <= 5", range(false, true)), ("ratio < 0.5", range(.null, .double(0.5.nextDown))),
      ("single < 0.1", range(.null, .double(Double(Float(0.1).nextDown)))),
      ("ratio > 9007199254740993", range(.double(9_007_199_254_740_994), none)),
    ]
    for (text, condition) in cases {
      let found = try term(FetchPredicate(stringLiteral: text))
      #expect(found?.condition == condition, "\(text)")
      #expect(found?.isExact == true)
    }
    let date = Date(timeIntervalSinceReferenceDate: 10)
    #expect(
      try term("born >= \(date)")?.condition == range(.date(date), none))
    #expect(
      try term("name > 'x'")?.condition
        == .range(lower: "x", isLowerIncluded: false, upper: none, isUpperIncluded: false))
    #expect(
      try term("price < 1e300")?.condition
        == range(.null, .decimal(.greatestFiniteMagnitude)))
  }

  @Test("Lists are sorted and have no duplicates")
  func listsAreSortedAndUnique() throws {
    #expect(
      try term("long IN {3, nil, 1, 3.0, 'x', 2.5}")?.condition == .anyOf([.null, 1, 3]))
    #expect(try term("name IN \(["b", "a"])")?.condition == .anyOf(["a", "b"]))
    #expect(try term("name IN[cd] {'b', 'Ä', 'B'}")?.condition == .anyOf(["a", "b"]))
  }

  @Test("`BEGINSWITH` and `LIKE` yield prefix terms")
  func prefixesComeFromTwoOperators() throws {
    #expect(try term("name BEGINSWITH 'ab'")?.condition == .prefix("ab"))
    #expect(try term("name BEGINSWITH[c] 'AB'")?.condition == .prefix("ab"))
    let star = try term("name LIKE 'ab*'")
    #expect(star?.condition == .prefix("ab") && star?.isExact == true)
    let mark = try term("name LIKE 'ab?*'")
    #expect(mark?.condition == .prefix("ab") && mark?.isExact == false)
    #expect(try term("name LIKE 'ab'")?.condition == .equals("ab"))
    #expect(try term("name LIKE '*ab'") == nil)
    #expect(try term(#"name LIKE 'ab\\*'"#)?.condition == .prefix("ab"))
    #expect(try term("name CONTAINS 'ab'") == nil)
  }

  @Test("Objects are compared by number")
  func objectsAreNumbers() throws {
    let boss = world.insert(world.worker, [:])
    let number = PropertyValue.integer(Int64(bitPattern: boss.number.rawValue))
    let slot = try #require(world.person.relationships.first { $0.name == "boss" }?.slot)
    #expect(try term("boss == \(boss.id)")?.subject == .toOne(slot: slot))
    #expect(try term("boss == \(boss.id)")?.condition == .equals(number))
    #expect(try term("boss.objectID IN \([boss.id])")?.condition == .equals(number))
    #expect(try term("SELF IN \([boss.id])")?.subject == .object)
    #expect(try term("objectID == \(boss.id)")?.condition == .equals(number))
    #expect(try term("boss == nil")?.condition == .equals(.null))
    let foreign = ObjectID(storeID: UUID(), entityName: "Person", number: 1)
    #expect(try isNever("boss == \(foreign)"))
    #expect(try term("boss IN \([foreign, boss.id])")?.condition == .equals(number))
  }

  @Test("Alternatives on one property are a single term")
  func disjunctionsOfOnePropertyAreOneTerm() throws {
    for text in [
      "long == 1 OR long == 3 OR long == nil", "long IN {3, nil} OR (long == 1 OR long == 3)",
      "NOT (long != 1 AND long != 3 AND long != nil)",
      "long == 1 OR long == 2.5 OR long IN {nil, 3}",
    ] {
      let found = try term(FetchPredicate(stringLiteral: text))
      #expect(found?.condition == .anyOf([.null, 1, 3]), "\(text)")
    }
    #expect(try term("long == 1 OR long == 2.5")?.condition == .equals(1))
    #expect(try isNever("long == 0.5 OR short == 40000"))
  }

  @Test("Alternatives are kept if each of them has an index term")
  func disjunctionsKeepAlternativesThatMayNarrow() throws {
    let found = try conjuncts(
      "long == 1 OR short > 2 OR long == 3 OR (flag == TRUE AND name != 'x')")
    #expect(found.count == 1 && found[0].term == nil)
    let alternatives = found[0].alternatives
    #expect(alternatives.map(\.conjuncts.count) == [1, 1, 2])
    #expect(alternatives[0].conjuncts[0].term?.condition == .anyOf([1, 3]))
    #expect(alternatives[2].conjuncts.map { $0.term != nil } == [true, false])
    #expect(try conjuncts("long == 1 OR name != 'x'")[0].alternatives.isEmpty)
    // An alternative that cannot match neither adds an access path nor prevents one.
    #expect(try conjuncts("long == 0.5 OR long > 3 OR short == 1")[0].alternatives.count == 2)
  }

  @Test("Arguments are type-checked even if the predicate is always true")
  func argumentsAreCheckedBesideWhatIsAlwaysTrue() throws {
    let error = #expect(throws: ArborError.self) {
      try conjuncts(FetchPredicate(format: "TRUEPREDICATE OR name BEGINSWITH %@", arguments: [3]))
    }
    #expect(error?.message.contains("a number") == true, "\(error?.message ?? "")")
  }
}
