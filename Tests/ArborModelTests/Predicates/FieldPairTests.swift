import ArborModel
import Foundation
import Testing

/// Comparisons between properties, and between properties and computed values.
@Suite struct FieldPairTests {
  private func people(_ text: String) throws -> [String] {
    try PredicateWorld.office().names(FetchPredicate(stringLiteral: text))
  }

  @Test(
    "Comparisons between two properties select the right objects",
    arguments: [
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
      ("ANY company.staff.name != 'X'", ["Ada", "Bob", "Cy"]),
      ("SELF == company.ranking[0]", ["Cy"]),
      ("company.ranking[0].boss.name == 'Ada'", ["Ada", "Bob", "Cy"]),
      ("ANY company.staff.long > long", ["Bob"]), ("price + 1 == 11", ["Ada"]),
      ("uppercase(name) == 'ADA'", ["Ada"]), ("length(name) == 2", ["Cy"]),
      ("extra[1] == 'y'", ["Bob"]),
      ("extra.@count == 2", ["Bob"]), ("'x' IN extra", ["Bob"]), ("flag + 1 == 2", ["Ada"]),
      ("born == CAST(1000, 'NSDate')", ["Ada"]), ("CAST(born, 'NSNumber') == 1000", ["Ada"]),
      ("CAST(long, 'NSString') == '36'", ["Ada"]),
      ("ratio / 0 == nil", ["Ada", "Bob", "Cy", "Dan"]),
    ])
  func paths(_ text: String, _ expected: [String]) throws {
    #expect(try people(text) == expected, "\(text)")
  }
}
