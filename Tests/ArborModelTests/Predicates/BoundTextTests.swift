import ArborModel
import Testing

@Suite struct BoundTextTests {
  @Test(
    "A bound predicate is described in a text similar to the predicate language",
    arguments: [
      ("ANY staff.name == 'x'", "ANY staff (name == \"x\")"),
      (
        "title == 'x' AND (#size > 3 OR NOT head == nil)",
        "title == \"x\" AND (size > 3 OR NOT head == NIL)"
      ),
      ("staff.@count * 2 > #size", "(staff.@count * 2) > size"),
      (
        "SUBQUERY(staff, $p, $p.long > #size).@count == 1",
        "SUBQUERY(staff, long > ^size).@count == 1"
      ),
      ("ranking[0].name IN {'a', title}", "ranking[0].name IN {\"a\", title}"),
      ("staff.@max.long > 3", "max(staff.long) > 3"),
    ])
  func readsNearlyLikeTheLanguage(_ text: String, _ expected: String) throws {
    let world = try PredicateWorld()
    let bound = try PredicateBinder.bind(
      FetchPredicate(stringLiteral: text), to: world.company, in: world.schema)
    #expect(BoundText(arguments: []).text(bound.root) == expected)
  }

  @Test("The text of a bound predicate can show or hide arguments")
  func showsArguments() throws {
    let world = try PredicateWorld()
    let predicate: FetchPredicate = "title == \("x")"
    let bound = try PredicateBinder.bind(predicate, to: world.company, in: world.schema)
    let text = BoundText(arguments: predicate.arguments) { _ in "…" }
    #expect(text.text(bound.root) == "title == …")
    #expect(BoundText(arguments: []).text(bound.root) == "title == $0")
  }
}
