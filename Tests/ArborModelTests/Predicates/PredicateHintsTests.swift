import ArborModel
import Testing

/// Spellings of other query languages: the error says how to write them here.
@Suite("Hints for the spellings of other languages") struct PredicateHintsTests {
  static let hints: [(text: String, message: String)] = [
    (
      "born > '2024-01-01'",
      "> cannot compare a date with a string. Write date(\"2024-01-31\"), or pass the date as an "
        + "argument."
    ),
    (
      "'2024-01-01' <= born",
      "<= cannot compare a date with a string. Write date(\"2024-01-31\"), or pass the date as an "
        + "argument."
    ),
    (
      "lower(name) == 'x'",
      "There is no function \"lower\". Call a registered function with FUNCTION(target, \"lower\", "
        + "…). Did you mean lowercase?"
    ),
    (
      "UPPER(name) == 'X'",
      "There is no function \"UPPER\". Call a registered function with FUNCTION(target, \"UPPER\", "
        + "…). Did you mean uppercase?"
    ),
    (
      "avg({1, 2}) == 1.5",
      "There is no function \"avg\". Call a registered function with FUNCTION(target, \"avg\", …). "
        + "Did you mean average?"
    ),
    (
      "len(name) > 3",
      "There is no function \"len\". Call a registered function with FUNCTION(target, \"len\", …). "
        + "Did you mean length?"
    ),
    (
      "name MATCH 'x'",
      "Expected an operator such as == or CONTAINS after \"name\", but found \"MATCH\". Did you "
        + "mean MATCHES?"
    ),
    (
      "name REGEXP 'x'",
      "Expected an operator such as == or CONTAINS after \"name\", but found \"REGEXP\". Did you "
        + "mean MATCHES?"
    ),
    (
      "long BETWEEN 1 AND 5",
      "BETWEEN takes a list of two bounds. Write BETWEEN {minimum, maximum} instead of BETWEEN "
        + "minimum AND maximum."
    ),
    (
      "flag == YES AND (long BETWEEN 1 && 5)",
      "BETWEEN takes a list of two bounds. Write BETWEEN {minimum, maximum} instead of BETWEEN "
        + "minimum AND maximum."
    ),
    (
      "company.staff.count > 3",
      "Person has no property \"count\". Write @count to aggregate the members of a to-many "
        + "relationship."
    ),
    (
      "company.staff.avg > 3",
      "Person has no property \"avg\". Write @avg to aggregate the members of a to-many "
        + "relationship."
    ),
  ]

  @Test("The error for a spelling of another language names the right one", arguments: hints)
  func namesTheRightSpelling(_ text: String, _ message: String) throws {
    let world = try PredicateWorld()
    let error = #expect(throws: ArborError.self) {
      try world.matches(FetchPredicate(stringLiteral: text))
    }
    #expect(error?.code == .invalidPredicate && error?.message == message)
  }

  @Test(
    "Conditions that look similar are valid",
    arguments: [
      "long BETWEEN {1, 5} AND flag", "long BETWEEN {1, 5} AND long == 3",
      "born > date(\"2024-01-01\")", "company.staff.@count > 3", "lowercase(name) == 'x'",
    ])
  func acceptsTheRightSpelling(_ text: String) throws {
    _ = try PredicateWorld().matches(FetchPredicate(stringLiteral: text))
  }
}
