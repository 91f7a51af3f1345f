import ArborModel
import Testing

@Suite struct SortKeyExpressionTests {
  private func bind(_ key: SortKey) throws -> BoundSortKey {
    let world = try PredicateWorld()
    return try key.bind(to: world.person, in: world.schema)
  }

  @Test("A sort key that isn't a key path is an expression")
  func aTextThatIsNoPathIsComputed() throws {
    for text in ["long * 2", "reports.@count", "length(name)", "SELF.name", "company.title + '!'"] {
      let key = try bind(.descending(expression: text))
      #expect(key.path == nil && key.expression != nil && key.column == nil, "\(text)")
      #expect(key.text == text && !key.isAscending)
    }
    let path = try bind(.ascending(expression: "company.title"))
    #expect(path.expression == nil && path.path?.hops.map(\.name) == ["company"])
    #expect(try bind("-reports.@count").expression != nil)
  }

  @Test("Arguments of a sort expression become constants")
  func argumentsBecomeConstants() throws {
    let key = try SortKey.descending(
      expression: "%K + %@ * long + %d", arguments: ["company.head.long", 1.5, -2])
    #expect(key == SortKey("company.head.long + 1.5 * long + -2", isAscending: false))
    let text = try SortKey.ascending(
      expression: "concat(name, %@)", arguments: ["\" + name + \""], options: .caseInsensitive)
    #expect(text.keyPath == #"concat(name, "\" + name + \"")"#)
    #expect(text.options == .caseInsensitive && text.isAscending)
    #expect(try bind(text).expression != nil)
    #expect(
      try SortKey.ascending(expression: "long + %@", arguments: [nil]).keyPath == "long + NIL")
  }

  @Test(
    "Invalid sort formats are rejected with the reason",
    arguments: [
      ("long + %@", [] as [Int], "The format has 1 placeholder but 0 arguments."),
      ("long + %K", [1], "The argument for %K is not a string."),
      ("long +", [], "a value or a key path"), ("long == 1", [], "an operator or the end"),
    ])
  func saysWhatIsWrongWithAFormat(_ format: String, _ arguments: [Int], _ words: String) {
    let error = #expect(throws: ArborError.self) {
      _ = try SortKey.ascending(expression: format, arguments: arguments)
    }
    #expect(error?.code == .invalidPredicate)
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }

  @Test(
    "Expressions without an order are rejected",
    arguments: [
      (
        "{1, 2}", ArborError.Code.invalidArgument,
        "Objects cannot be sorted by {1, 2}, which is a list. Sort by a single value, such as an "
          + "attribute, a part or @count."
      ),
      ("(reports.name)", .invalidArgument, "which is a collection"),
      ("(company)", .invalidArgument, "which is an object"),
      ("long + 1 AS x", .invalidArgument, "A sort key cannot have a name."),
      ("lng * 2", .invalidPredicate, "Did you mean \"long\"?"),
      ("long *", .invalidPredicate, "a value or a key path"),
      // A plain path is validated as a path.
      ("reports.name", .invalidArgument, "to-many"), ("lng", .unknownName, "Did you mean"),
    ])
  func refusesWhatHasNoOrder(_ text: String, _ code: ArborError.Code, _ words: String) {
    let error = #expect(throws: ArborError.self) { try bind(SortKey(text)) }
    #expect(error?.code == code)
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    #expect(error?.keyPath == text)
  }

  @Test("Keys that depend on the time or on random numbers are recognized")
  func knowsWhatDoesNotLast() throws {
    #expect(try bind("now() - born").isFleeting && bind("random()").isFleeting)
    #expect(try !bind("long * 2").isFleeting && !bind("long").isFleeting)
  }
}
