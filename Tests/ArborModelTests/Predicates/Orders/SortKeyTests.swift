import ArborModel
import Foundation
import Testing

@Suite struct SortKeyTests {
  @Test("A literal contains the key path and direction")
  func literalsNamePathAndDirection() {
    #expect(("name" as SortKey) == .ascending("name"))
    #expect(("-age" as SortKey) == .descending("age"))
    #expect(("+company.name" as SortKey) == .ascending("company.name"))
    #expect(("-age" as SortKey).reversed == "age")
    let options: SortKey.Options = [.caseInsensitive, .numeric]
    let key = SortKey.descending("name", options: options)
    #expect(key.options == options && !key.isAscending)
    #expect(key != .descending("name"))
  }

  @Test(
    "A sort key is described by its path, direction and options",
    arguments: [
      ("name", "name"), ("-company.name", "company.name descending"),
      (.descending(expression: "price * 2"), "price * 2 descending"),
      (.ascending("name", options: .caseInsensitive), "name, ignoring case"),
      (
        .descending("name", options: [.caseInsensitive, .diacriticInsensitive, .numeric]),
        "name descending, ignoring case, ignoring diacritics, numeric"
      ),
      (.ascending("name", options: .localized), "name, localized"),
      (SortKey("name").localized(Locale(identifier: "sv")), "name, localized for sv"),
    ] as [(SortKey, String)])
  func describesItself(_ key: SortKey, _ text: String) {
    #expect("\(key)" == text)
  }

  @Test("Sort keys are bound through relationships")
  func bindsPathsThroughRelationships() throws {
    let world = try PredicateWorld()
    let key = try SortKey.descending("boss.company.title", options: .localized)
      .bind(to: world.person, in: world.schema)
    #expect(key.path?.hops.map(\.name) == ["boss", "company"])
    #expect(!key.isAscending && key.options == .localized)
    guard case .attribute(let attribute)? = key.path?.leaf else {
      Issue.record("no attribute")
      return
    }
    #expect(attribute.name == "title")
  }

  @Test(
    "Unknown and to-many sort keys are rejected",
    arguments: [
      ("nam", ArborError.Code.unknownName, "\"name\""), ("", .unknownName, "no property"),
      ("company.staff", .invalidArgument, "to-many"), ("name.x", .invalidArgument, "attribute"),
      ("company..title", .unknownName, "no property"),
    ])
  func refusesOthers(_ keyPath: String, _ code: ArborError.Code, _ words: String) throws {
    let world = try PredicateWorld()
    let error = #expect(throws: ArborError.self) {
      try SortKey(keyPath).bind(to: world.person, in: world.schema)
    }
    #expect(error?.code == code)
    #expect(error?.keyPath == keyPath)
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }
}
