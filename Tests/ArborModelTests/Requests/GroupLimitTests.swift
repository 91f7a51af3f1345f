import ArborModel
import Foundation
import Testing

@Suite struct GroupLimitTests {
  private static let storeID = UUID()

  @Test("A group limit is bound to an entity")
  func bindsToAnEntity() throws {
    let world = try PredicateWorld()
    let limit = try GroupLimit(2, per: "company", by: ["-long", "length(name)"])
      .bind(to: world.person, in: world.schema)
    #expect(
      limit.count == 2 && limit.resultOrder.map(\.text) == ["company", "long", "length(name)"])
    #expect(limit.resultOrder.map(\.isAscending) == [true, false, true])
  }

  @Test(
    "Invalid group limits are rejected",
    arguments: [
      (
        GroupLimit(0, per: "name"), ArborError.Code.invalidArgument,
        "The limit of 0 objects per name excludes all objects. Use at least 1, or remove the limit."
      ),
      (GroupLimit(1, per: "nme"), .unknownName, "Did you mean \"name\"?"),
      (GroupLimit(1, per: "reports"), .invalidArgument, "to-many"),
      (GroupLimit(1, per: "name", by: ["lng"]), .unknownName, "Did you mean \"long\"?"),
    ])
  func refusesOthers(_ limit: GroupLimit, _ code: ArborError.Code, _ words: String) throws {
    let world = try PredicateWorld()
    let error = #expect(throws: ArborError.self) {
      try limit.bind(to: world.person, in: world.schema)
    }
    #expect(
      error?.code == code && error?.message.contains(words) == true, "\(error?.message ?? "")")
  }

  @Test("The limit per group is part of the fingerprint for page tokens")
  func anotherLimitIsAnotherRequest() {
    var description = FetchDescription(entityName: "Person", sortKeys: ["name"])
    let none = description.fingerprint(storeID: Self.storeID)
    description.limitPerGroup = GroupLimit(2, per: "company", by: ["-long"])
    let two = description.fingerprint(storeID: Self.storeID)
    description.limitPerGroup = GroupLimit(2, per: "company", by: ["long"])
    let other = description.fingerprint(storeID: Self.storeID)
    #expect(Set([none, two, other]).count == 3)
    #expect(description.resultOrder == ["name"])
    description.sortKeys = []
    #expect(description.resultOrder == ["company", "long"])
  }
}
