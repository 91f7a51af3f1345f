import ArborModel
import Foundation
import Testing

@Suite struct ComparisonRulesTests {
  static let misfits: [(text: String, words: String)] = [
    ("long < 'x'", "a number with a string"), ("'x' < long", "a string with a number"),
    ("name > 5", "a string with a number"), ("born > 5", "a date with a number"),
    ("born < '2020-01-01'", "a date with a string"), ("company < boss", "an object"),
    ("SELF > 1", "an object"), ("long < {1}", "a list"), ("long BETWEEN 5", "two bounds"),
    ("long BETWEEN {1}", "has 1"), ("long BETWEEN {1, 2, 3}", "has 3"),
    ("long BETWEEN {1, 'x'}", "a number with a string"), ("long BEGINSWITH '1'", "a number"),
    ("name LIKE 5", "a number"), ("name CONTAINS 5", "a number"), ("long CONTAINS 5", "a number"),
    ("5 IN long", "a number"), ("name IN 5", "a number"), ("long IN 'abc'", "a number"),
    ("home BEGINSWITH 'https'", "a URI"), ("key < 'x'", "a UUID with a string"),
    ("photo MATCHES 'x'", "binary data"), ("entity.name > 5", "a string with a number"),
    ("company CONTAINS 1", "an object"),
  ]

  @Test("Comparisons of incompatible types are rejected", arguments: misfits)
  func refusesWhatCannotBe(_ text: String, _ words: String) throws {
    let world = try PredicateWorld()
    let error = #expect(throws: ArborError.self) {
      try world.matches(FetchPredicate(stringLiteral: text))
    }
    #expect(error?.code == .invalidPredicate)
    #expect((error?.location?.column ?? 0) > 1)
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }

  /// An argument of the wrong type is rejected like a constant once it is known, both in planning
  /// and in compiling.
  @Test(
    "An argument of the wrong type is rejected like a constant",
    arguments: misfits.filter { $0.text.contains("< 'x'") })
  func refusesArgumentsLikeConstants(_ text: String, _ words: String) throws {
    let world = try PredicateWorld()
    let predicate = try FetchPredicate(format: text.replacing("'x'", with: "%@"), "x")
    let bound = try PredicateBinder.bind(predicate, to: world.person, in: world.schema)
    for error in [
      #expect(throws: ArborError.self) {
        _ = try PredicateCompiler.compile(
          [bound.root], arguments: predicate.arguments, for: world.person,
          environment: world.environment)
      },
      #expect(throws: ArborError.self) {
        _ = try bound.conjunction(
          arguments: predicate.arguments, environment: world.environment)
      },
    ] {
      #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
      #expect(error?.location != nil)
    }
  }

  /// Nil is allowed everywhere, equality allows all types, and an untyped attribute may have any
  /// value.
  @Test(
    "Comparisons with nil, equality of any types and untyped attributes are accepted",
    arguments: [
      "long < nil", "nil BEGINSWITH nil", "name LIKE nil", "long BETWEEN nil",
      "long BETWEEN {1, nil}",
      "long == 'x'", "name != 5", "company == 'x'", "key == 'x'", "extra < 'x'",
      "extra BEGINSWITH 'x'",
      "5 IN extra", "extra CONTAINS 5", "name IN nil", "nil IN name", "long IN {'x', nil, 1.5}",
      "born BETWEEN {nil, nil}", "long == {1}", "SELF != 1",
    ])
  func acceptsTheRest(_ text: String) throws {
    let world = try PredicateWorld()
    world.insert(world.person, ["name": "a"])
    #expect(throws: Never.self) { try world.matches(FetchPredicate(stringLiteral: text)) }
  }
}
