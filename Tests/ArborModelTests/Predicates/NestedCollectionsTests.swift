import ArborModel
import TestLength
import Testing

/// Random collections of objects: elements, branches, unions and subqueries of each other.
@Suite struct NestedCollectionsTests {
  /// A generator of expressions on a company, in predicate syntax.
  private struct Generator {
    private var random: SplitMix
    /// The variables in scope, each of which is a person.
    private var variables: [String] = []
    private var lastVariable = 0

    init(seed: UInt64) { random = SplitMix(seed: seed) }

    private mutating func choose(_ forms: [(inout Generator, Int) -> String], _ depth: Int)
      -> String
    {
      forms[Int.random(in: forms.indices, using: &random)](&self, depth - 1)
    }

    /// Returns an expression of one person.
    mutating func person(_ depth: Int) -> String {
      if depth <= 0 { return variables.randomElement(using: &random) ?? "ranking[0]" }
      return choose(
        [
          { $0.person($1) + ".boss" }, { "\($0.people($1))[0]" }, { "\($0.people($1))[LAST]" },
          { "\($0.people($1))[#size / 10]" },
          { "TERNARY(\($0.condition($1)), \($0.person($1)), \($0.person($1)))" },
        ], depth)
    }

    /// Returns an expression of several people.
    mutating func people(_ depth: Int) -> String {
      if depth <= 0 { return Bool.random(using: &random) ? "staff" : "ranking" }
      return choose(
        [
          { $0.person($1) + ".reports" }, { $0.people($1) + ".reports" },
          { $0.person($1) + ".company.staff" }, { $0.person($1) + ".company.ranking" },
          { "(\($0.people($1)) UNION \($0.people($1)))" },
          { "(\($0.people($1)) MINUS \($0.people($1)))" },
          { "(\($0.people($1)) INTERSECT \($0.people($1)))" },
          { "TERNARY(\($0.condition($1)), \($0.people($1)), \($0.people($1)))" },
          { generator, depth in
            let people = generator.people(depth)
            return generator.filtering(people, depth)
          },
        ], depth)
    }

    mutating func condition(_ depth: Int) -> String {
      if depth <= 0 { return "#size > 15" }
      return choose(
        [
          { "\($0.people($1)).@count > 1" }, { "\($0.person($1)).name == 'Ada'" },
          { "\($0.person($1)) IN \($0.people($1))" }, { "ANY \($0.people($1)).long > 30" },
          { "NOT \($0.condition($1))" }, { "(\($0.condition($1)) OR \($0.condition($1)))" },
        ], depth)
    }

    /// Returns a subquery.
    private mutating func filtering(_ people: String, _ depth: Int) -> String {
      lastVariable += 1
      variables.append("$v\(lastVariable)")
      defer { variables.removeLast() }
      return "SUBQUERY(\(people), $v\(lastVariable), \(condition(depth)))"
    }
  }

  /// The same collection is counted in three ways, which are valid for the same collections.
  @Test("Collections in any nesting have the same number of objects in every form")
  func countsAgree() throws {
    let world = try PredicateWorld.office()
    let all = world.objects.values.filter { $0.number.entity == world.company.number }.count
    let seed = UInt64.random(in: 0...UInt64.max)
    var generator = Generator(seed: seed)
    var accepted = 0
    let rounds = TestLength.of(400, long: 40_000)
    func matches(_ text: String) throws -> Int? {
      do {
        return try world.matches(FetchPredicate(stringLiteral: text), in: world.company).count
      } catch let error as ArborError where error.code == .invalidPredicate { return nil }
    }
    for round in 0..<rounds {
      let people = generator.people(round % 5)
      let forms = [
        "\(people).@count", "SUBQUERY(\(people), $w, TRUEPREDICATE).@count",
        "\(people).name.@count",
      ]
      let place = Comment("seed \(seed), round \(round): \(people)")
      let valid = try forms.map { try matches("\($0) >= 0") }
      #expect(Set(valid).count == 1, place)
      guard valid[0] != nil else { continue }
      accepted += 1
      for form in forms.dropFirst() {
        #expect(try matches("\(forms[0]) == \(form)") == all, place)
      }
    }
    print("seed: \(seed), nested collections: \(accepted) of \(rounds)")
    #expect(accepted > rounds / 2)
  }
}
