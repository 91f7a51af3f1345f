import ArborModel
import Foundation
import Testing

@Suite struct PredicateBinderTests {
  let world: PredicateWorld

  init() throws { world = try PredicateWorld() }

  private func bind(_ predicate: FetchPredicate) throws -> BoundPredicate {
    try PredicateBinder.bind(predicate, to: world.person, in: world.schema)
  }

  @Test(
    "The error describes the unknown name and its position",
    arguments: [
      ("nam == 'x'", 1, "Did you mean \"name\"?"), ("long > 1 AND\n shrt < 2", 2, "\"short\""),
      ("company.titel == 'x'", 9, "\"title\""), ("zzzz == 1", 1, "It has short, medium"),
      ("name.first == 1", 1, "is an attribute"), ("company.staff.name == 'x'", 9, "to-many"),
      ("company.staff == nil", 9, "to-many"), ("entity == 'Person'", 1, "no property \"entity\""),
      ("wage == 1", 1, "no property \"wage\""),
    ])
  func saysWhichNameIsWrong(_ text: String, _ column: Int, _ words: String) {
    let error = #expect(throws: ArborError.self) { try bind(FetchPredicate(stringLiteral: text)) }
    #expect(error?.code == .invalidPredicate)
    #expect(error?.location?.column == column)
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    #expect(error?.entity != nil && error?.keyPath != nil)
  }

  @Test("The binding of a shape is cached for each schema")
  func keepsTheBindingOfAShape() throws {
    func predicate(_ number: Int) -> FetchPredicate { "long == \(number) AND name != nil" }
    #expect(try bind(predicate(1)) === bind(predicate(2)))
    let other = try PredicateWorld()
    let elsewhere = try PredicateBinder.bind(predicate(1), to: other.person, in: other.schema)
    #expect(elsewhere.entity === other.person)
    #expect(try bind(predicate(1)) !== elsewhere)
    // More entities than a shape caches affect only performance.
    for _ in 0..<20 {
      let fresh = try PredicateWorld()
      let bound = try PredicateBinder.bind(predicate(3), to: fresh.person, in: fresh.schema)
      #expect(bound.entity === fresh.person)
    }
  }

  @Test("Key paths are resolved to relationships and attributes")
  func resolvesPaths() throws {
    guard case .comparison(let comparison) = try bind("boss.company.objectID == nil").root,
      case .path(let path) = comparison.left
    else {
      Issue.record("no path")
      return
    }
    // The `objectID` at the end of a to-one relationship is the value of the relationship.
    #expect(path.hops.map(\.name) == ["boss"])
    guard case .toOne(let relationship) = path.leaf else {
      Issue.record("no relationship")
      return
    }
    #expect(relationship.name == "company")
  }

  @Test("Names of a parent entity are known, and those of a subentity aren't")
  func inheritedNamesAreKnown() throws {
    _ = try PredicateBinder.bind("wage > 1 AND name == 'x'", to: world.worker, in: world.schema)
    let error = #expect(throws: ArborError.self) {
      try PredicateBinder.bind("wage > 1", to: world.person, in: world.schema)
    }
    #expect(error?.code == .invalidPredicate && error?.location?.column == 1)
  }
}
