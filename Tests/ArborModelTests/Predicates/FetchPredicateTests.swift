import ArborModel
import Foundation
import Testing

@Suite struct FetchPredicateTests {
  enum Level: Int, PredicateArgument {
    case low = 1
    case high = 2
  }

  @Test("Interpolated values become constants")
  func interpolatedValuesAreConstants() throws {
    let hostile = "' OR TRUEPREDICATE OR name == '"
    let predicate: FetchPredicate = "name == \(hostile) AND age < \(40)"
    #expect(predicate.arguments == [.string(hostile), .integer(40)])
    #expect(predicate.description == #"name == "' OR TRUEPREDICATE OR name == '" AND age < 40"#)
  }

  @Test("Every type of argument becomes a constant")
  func everyArgumentHasItsConstant() throws {
    let missing: Int? = nil
    let id = ObjectID(storeID: PredicateWorld.storeID, entityName: "Person", number: 7)
    let date = Date(timeIntervalSinceReferenceDate: 5)
    let url = try #require(URL(string: "https://example.org"))
    let predicate: FetchPredicate = """
      a == \(nil) OR a == \(missing) OR a == \(Int16(-3)) OR a == \(UInt64.max) OR a == \(1.5)
      OR a == \(Float(0.5)) OR a == \(Decimal(2)) OR a == \(true) OR a == \(date)
      OR a == \(Data([1])) OR a == \(PredicateWorld.storeID) OR a == \(url) OR a == \(id)
      OR a IN \([1, 2]) OR a IN \(Set(["b", "a"])) OR a == \(Level.high) OR a BETWEEN \(1...5)
      OR a == \(PropertyValue.list([.null])) OR a == \("x".prefix(1)) OR a == \(Character("c"))
      """
    let expected: [PropertyValue] = [
      .null, .null, .integer(-3), .decimal(Decimal(UInt64.max)), .double(1.5), .double(0.5),
      .decimal(2), .boolean(true), .date(date), .binary(Data([1])), .uuid(PredicateWorld.storeID),
      .uri(url), .objectID(id), [1, 2], ["a", "b"], 2, [1, 5], .list([.null]), "x", "c",
    ]
    #expect(predicate.arguments == expected)
    _ = try predicate.parsed
  }

  @Test("Predicates with the same text share one shape")
  func oneTextIsParsedOnce() {
    func make(_ number: Int) -> FetchPredicate { "age == \(number) AND name == \("x")" }
    #expect(make(1).shape === make(2).shape)
    let other: FetchPredicate = "age == \(1) AND name == 'x'"
    #expect(make(1).shape !== other.shape)
    #expect(make(1) == other)
    #expect(make(1).hashValue == other.hashValue)
    #expect(make(1) != make(2))
  }

  @Test("A malformed literal throws when it is used")
  func malformedLiteralsThrowFromTheirUse() throws {
    let predicate: FetchPredicate = "age = = \(3)"
    let world = try PredicateWorld()
    let error = #expect(throws: ArborError.self) { try world.matches(predicate) }
    #expect(error?.code == .invalidPredicate)
    #expect(error?.location == .init(line: 1, column: 7))
    #expect(predicate.description == "age = = 3")
  }

  @Test("Formats accept values and key paths")
  func formatsTakeValuesAndKeyPaths() throws {
    let predicate = try FetchPredicate(
      format: "%K.title == %@ AND %K > %d AND name != %s AND ratio < %5f".replacing("5", with: ""),
      "company", "Foo Inc.", "SELF.age", 40, "%@", 2.5)
    #expect(
      predicate.description
        == #"company.title == "Foo Inc." AND age > 40 AND name != "%@" AND ratio < 2.5"#)
    #expect(
      predicate == #"company.title == "Foo Inc." AND age > 40 AND name != "%@" AND ratio < 2.5"#)
    let list = try FetchPredicate(format: "age IN %@ OR name == %@", arguments: [[1, 2], nil])
    #expect(list.description == "age IN {1, 2} OR name == NIL")
    #expect(try FetchPredicate(format: "name == '%@ %K $X'").description == #"name == "%@ %K $X""#)
  }

  @Test("Formats and arguments must match")
  func formatsAndArgumentsMustAgree() {
    let tooFew = #expect(throws: ArborError.self) {
      try FetchPredicate(format: "age > %@ AND age < %@", 1)
    }
    #expect(tooFew?.message.contains("has 2 placeholders but 1 argument.") == true)
    #expect(throws: ArborError.self) { try FetchPredicate(format: "age > 1", 1) }
    let noPath = #expect(throws: ArborError.self) { try FetchPredicate(format: "%K > 1", 5) }
    #expect(noPath?.message.contains("%K") == true)
    let literal: FetchPredicate = "age > %@"
    #expect(throws: ArborError.self) { try literal.parsed }
  }

  @Test("Predicates can be composed and their variables substituted")
  func composesAndSubstitutes() throws {
    let left: FetchPredicate = "age > \(1) OR age < $LOW"
    let right: FetchPredicate = "name == $NAME AND flag == \(true)"
    let both = left && !right
    #expect(
      both.description
        == "(age > 1 OR age < $LOW) AND NOT (name == $NAME AND flag == TRUE)")
    #expect(both.variables == ["LOW", "NAME"])
    let partial = both.substituting(["NAME": "x", "OTHER": 3])
    #expect(partial.variables == ["LOW"])
    let whole = partial.substituting(["LOW": nil])
    #expect(
      whole.description
        == #"(age > 1 OR age < NIL) AND NOT (name == "x" AND flag == TRUE)"#)
    #expect((left || right).description.hasPrefix("age > 1 OR age < $LOW OR name"))
    #expect((!(!left)) == left)
    // Composing equal shapes in the same manner yields the same shape.
    #expect(both.shape === (left && !right).shape)
    #expect(both.substituting(["NAME": "y"]).shape === partial.shape)
  }

  @Test("Variables assigned in one predicate are not visible in another after joining them")
  func assignmentsDoNotReachIntoOtherPredicates() throws {
    let left: FetchPredicate = "($x := age) > 3"
    let right: FetchPredicate = "#size == $x"
    for joined in [left && right, left || right] {
      let error = #expect(throws: ArborError.self) { try joined.parsed }
      #expect(error?.message.contains("$x") == true)
    }
    #expect((left && right.substituting(["x": 1])).description == "$x := age > 3 AND #size == 1")
    #expect((right && left).variables == ["x"])
  }

  @Test("Constants inside of and outside of the tree are equivalent in every construct")
  func everyConstructIsAValue() throws {
    let seed: UInt64 = 8801
    var random = RandomTrees(seed: seed)
    for index in 0..<300 {
      let node = random.predicate(depth: 1 + index % 3)
      let inline = FetchPredicate(node: node)
      var arguments: [PropertyValue] = []
      let open = node.mapLeaves { leaf in
        guard case .constant(let value) = leaf else { return leaf }
        arguments.append(value)
        return .argument(arguments.count - 1)
      }
      let outside = FetchPredicate(node: open, arguments: arguments)
      #expect(outside == inline, "seed \(seed), tree \(index): \(inline)")
      #expect(outside.hashValue == inline.hashValue)
      #expect(outside.description == inline.description)
      let copy = try JSONDecoder().decode(
        FetchPredicate.self, from: JSONEncoder().encode(outside))
      #expect(copy == inline, "seed \(seed), tree \(index): \(inline)")
    }
  }

  @Test("A predicate that contains a malformed one throws its error")
  func malformedPartsSpoilTheWhole() throws {
    let bad: FetchPredicate = "age >"
    let good: FetchPredicate = "age > 1"
    for predicate in [bad && good, good || bad, !bad] {
      let error = #expect(throws: ArborError.self) { try predicate.parsed }
      #expect(error?.location?.column == 6)
      #expect(predicate.description.contains("Expected a value"))
    }
    #expect((bad && good) == (bad && good))
    #expect(bad != good)
  }

  @Test("Deep compositions are rejected, and long ones are accepted")
  func deepCompositionIsAnErrorAndLongOnesAreFine() throws {
    var deep: FetchPredicate = "age > 1"
    var long = deep
    for index in 0..<2000 {
      deep = index.isMultiple(of: 2) ? deep && "age > 2" : deep || "age > 3"
      long = long && "age != \(index)"
    }
    let error = #expect(throws: ArborError.self) { try deep.parsed }
    #expect(error?.code == .invalidPredicate)
    #expect(long.arguments.count == 2000)
    _ = try long.parsed
  }

  @Test("A predicate is encoded as text and constants")
  func codesAsTextAndConstants() throws {
    let id = ObjectID(storeID: PredicateWorld.storeID, entityName: "Person", number: 7)
    let predicate: FetchPredicate =
      "name == \("\"quoted\" %@\n") AND age > 3 AND boss == \(id) AND born < \(Date.distantFuture)"
    let data = try JSONEncoder().encode([predicate])
    #expect(try JSONDecoder().decode([FetchPredicate].self, from: data) == [predicate])
    let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(predicate))
    let fields = try #require(object as? [String: Any])
    #expect(
      fields["format"] as? String == "name == %@ AND age > 3 AND boss == %@ AND born < %@")
    #expect((fields["constants"] as? [String])?.first == #""\"quoted\" %@\n""#)
    let swapped = try FetchPredicate(format: "a == $X AND b == %@", 1).substituting(["X": 2])
    let copy = try JSONDecoder().decode(
      FetchPredicate.self, from: JSONEncoder().encode(swapped))
    #expect(copy == swapped)
    let plain = try JSONDecoder().decode(
      FetchPredicate.self, from: Data(#"{"format": "a == $X"}"#.utf8))
    #expect(plain == "a == $X")
  }

  @Test(
    "Invalid encodings are rejected",
    arguments: [
      #"{"format": "a =="}"#, #"{"format": "a == %@"}"#,
      #"{"format": "a == %@", "constants": ["b"]}"#,
      #"{"format": "a == %@", "constants": ["1 OR TRUEPREDICATE"]}"#, "{}",
    ])
  func refusesBadCodes(_ text: String) {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(FetchPredicate.self, from: Data(text.utf8))
    }
    let bad: FetchPredicate = "a =="
    #expect(throws: ArborError.self) { try JSONEncoder().encode(bad) }
  }

  @Test("Unbound variables are rejected")
  func unboundVariablesThrow() throws {
    let world = try PredicateWorld()
    let error = #expect(throws: ArborError.self) { try world.matches("long > 1 AND long < $X") }
    #expect(error?.message.contains("$X") == true)
    #expect(error?.location?.column == 21)
  }

  @Test("`.true` matches all objects, and `.false` none")
  func predicatesOfTheWholeAreConstants() throws {
    let world = try PredicateWorld()
    world.insert(world.person, ["name": "a"])
    #expect(try world.names(.true) == ["a"])
    #expect(try world.names(.false) == [])
  }
}
