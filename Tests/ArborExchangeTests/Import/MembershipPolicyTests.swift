import ArborExchange
import ArborJSON
import ArborModel
import ArborObjects
import Testing

/// The effects of imports on relationships, by merge policy.
@Suite struct MembershipPolicyTests {
  /// Creates a department with employees 1 and 2 and rooms 3, 1 and 2, and one employee without a
  /// department.
  private func workshop(_ policy: String?) throws -> ImportWorkshop {
    let workshop = try ImportWorkshop(ImportWorkshop.company(policy: policy))
    try workshop.one(
      #"""
      {"departmentID": "a", "employees": [{"employeeID": 1, "name": "A"}, {"employeeID": 2}],
       "rooms": [{"roomID": 3}, {"roomID": 1}, {"roomID": 2}]}
      """#, as: "Department")
    try workshop.one(#"{"employeeID": 9, "name": "I"}"#)
    try workshop.context.commit()
    return workshop
  }

  private func department(_ workshop: ImportWorkshop) throws -> ManagedObject {
    try #require(workshop.all("Department").first)
  }

  private func members(_ workshop: ImportWorkshop) throws -> [PropertyValue] {
    try department(workshop).objects(forKey: "employees").fetch()
      .map { try $0.value(forKey: "employeeID") }
      .sorted { PropertyValue.compare($0, $1) == .less }
  }

  private func rooms(_ workshop: ImportWorkshop) throws -> [PropertyValue] {
    try department(workshop).objects(forKey: "rooms").fetch().map { try $0.value(forKey: "roomID") }
  }

  @Test(
    "Replace deletes the members, and an item with the same key inserts a new object",
    arguments: [nil, "Replace", "Overwrite"])
  func replaceDeletesThePresentMembersAndAnEqualKeyMakesANewObject(policy: String?) throws {
    let workshop = try workshop(policy)
    let former = try workshop.all("Employee").map(\.objectID)
    try workshop.one(
      #"{"departmentID": "a", "employees": [{"employeeID": 1}, {"employeeID": 5}]}"#,
      as: "Department")
    #expect(try members(workshop) == [1, 5])
    // Employee 1 was replaced by a new object without the former name.
    #expect(try workshop.values("Employee", "employeeID") == [9, 1, 5])
    #expect(try workshop.values("Employee", "name") == ["I", nil, nil])
    #expect(try !former.prefix(2).contains(workshop.all("Employee")[1].objectID))
    try workshop.finish()
  }

  @Test("`Replace` adopts an existing object with the same key that is not a member")
  func replaceTakesAnObjectFromElsewhereByItsKey() throws {
    let workshop = try workshop("Replace")
    let ninth = try #require(workshop.all("Employee").last)
    try workshop.one(
      #"{"departmentID": "a", "employees": [{"employeeID": 9}]}"#, as: "Department")
    #expect(try department(workshop).objects(forKey: "employees").fetch() == [ninth])
    #expect(try workshop.values("Employee", "name") == ["I"])
    try workshop.finish()
  }

  @Test("With Replace, null deletes the members")
  func underReplaceNullDeletesTheMembers() throws {
    let workshop = try workshop("Replace")
    try workshop.one(#"{"departmentID": "a", "employees": null, "rooms": []}"#, as: "Department")
    #expect(try members(workshop).isEmpty)
    #expect(try workshop.values("Employee", "employeeID") == [9])
    #expect(try workshop.all("Room").isEmpty)
    try workshop.finish()
  }

  @Test("With Replace, an empty list leaves an object without members unchanged")
  func anEmptyListReplacesNothing() async throws {
    let workshop = try ImportWorkshop(ImportWorkshop.company(policy: "Replace"))
    let json: JSONSource = [["departmentID": "a", "employees": [], "rooms": []]]
    let first = try await workshop.store.importObjects(from: json, as: "Department").finish()
    #expect(first.inserted == 1)
    let again = try await workshop.store.importObjects(from: json, as: "Department").finish()
    #expect(again.unchanged == 1 && again.updated == 0)
    try workshop.finish()
  }

  @Test("`Merge` updates objects with the same key and adds members, but removes none")
  func mergeUpdatesByKeyAnywhereAndAddsAndRemovesNothing() throws {
    let workshop = try workshop("Merge")
    try workshop.one(
      #"""
      {"departmentID": "a", "employees": [{"employeeID": 2, "name": "B"}, {"employeeID": 4},
                                          {"employeeID": 9, "age": 7}]}
      """#, as: "Department")
    #expect(try members(workshop) == [1, 2, 4, 9])
    #expect(try workshop.values("Employee", "name") == ["A", "B", "I", nil])
    try workshop.finish()
  }

  @Test("With Merge, null leaves the members unchanged")
  func underMergeNullLeavesTheMembersAlone() throws {
    let workshop = try workshop("Merge")
    try workshop.one(#"{"departmentID": "a", "employees": null, "rooms": []}"#, as: "Department")
    #expect(try members(workshop) == [1, 2])
    #expect(try rooms(workshop) == [3, 1, 2])
    #expect(!workshop.context.hasChanges)
  }

  @Test("`Merge` keeps the positions of existing members and appends new ones")
  func mergedMembersOfAnOrderKeepTheirPositionsAndNewOnesFollow() throws {
    let workshop = try workshop("Merge")
    try workshop.one(
      #"""
      {"departmentID": "a", "rooms": [{"roomID": 8}, {"roomID": 2}, {"roomID": 3}, {"roomID": 7}]}
      """#, as: "Department")
    #expect(try rooms(workshop) == [3, 1, 2, 8, 7])
    try workshop.finish()
  }

  @Test("`MergeAndPrune` unlinks members that the list lacks but deletes none")
  func mergeAndPruneUnlinksWhatTheListLacksAndDeletesNothing() throws {
    let workshop = try workshop("MergeAndPrune")
    try workshop.one(
      #"""
      {"departmentID": "a", "employees": [{"employeeID": 2}, {"employeeID": 9}],
       "rooms": [{"roomID": 2}, {"roomID": 8}, {"roomID": 3}]}
      """#, as: "Department")
    #expect(try members(workshop) == [2, 9])
    #expect(try rooms(workshop) == [3, 2, 8])
    #expect(try workshop.values("Employee", "employeeID") == [1, 2, 9])
    #expect(try workshop.all("Room").count == 4)
    try workshop.one(#"{"departmentID": "a", "employees": null}"#, as: "Department")
    #expect(try members(workshop).isEmpty)
    #expect(try workshop.all("Employee").count == 3)
    try workshop.finish()
  }

  @Test(
    "An item of a to-one relationship replaces or updates the object by its key",
    arguments: [("Replace", false), ("Merge", true), ("MergeAndPrune", true)])
  func toOneReplacesOrUpdatesByKey(policy: String, keeps: Bool) throws {
    let workshop = try workshop(policy)
    // A department with two employees would be shared.
    try workshop.context.delete(workshop.all("Employee")[1])
    let former = try department(workshop).objectID
    try workshop.one(#"{"employeeID": 1, "department": {"departmentID": "a", "title": "T"}}"#)
    let present = try department(workshop)
    #expect((present.objectID == former) == keeps)
    #expect(try present.value(forKey: "title") == "T")
    #expect(try workshop.all("Employee")[0].object(forKey: "department") == present)
    try workshop.finish()
  }

  @Test("Null clears a to-one relationship", arguments: ["Replace", "Merge", "MergeAndPrune"])
  func nullClearsAToOne(policy: String) throws {
    let workshop = try workshop(policy)
    try workshop.one(#"{"employeeID": 1, "department": null}"#)
    #expect(try workshop.all("Employee")[0].object(forKey: "department") == nil)
    #expect(try workshop.all("Department").count == 1)
    try workshop.finish()
  }

  @Test(
    "A list sets the order of an ordered relationship",
    arguments: ["Replace", "Merge", "MergeAndPrune"])
  func listsFillAnOrderInTheirOrder(policy: String) throws {
    let workshop = try ImportWorkshop(ImportWorkshop.company(policy: policy))
    try workshop.one(
      #"{"departmentID": "a", "rooms": [{"roomID": 3}, {"roomID": 1}, {"roomID": 2}]}"#,
      as: "Department")
    #expect(try rooms(workshop) == [3, 1, 2])
    try workshop.finish()
  }

  @Test("Later items satisfy references of earlier ones")
  func laterItemsSatisfyEarlierReferences() throws {
    let workshop = try ImportWorkshop(ImportWorkshop.company(policy: "Merge"))
    let people = try workshop.list(
      #"""
      [{"employeeID": 1, "friends": [{"employeeID": 3}]}, {"employeeID": 2},
       {"employeeID": 3, "name": "C", "friends": [{"employeeID": 2}]}]
      """#)
    #expect(people.count == 3)
    #expect(try workshop.all("Employee").count == 3)
    #expect(try Set(people[2].objects(forKey: "friends").fetch()) == Set([people[0], people[1]]))
    #expect(try people[2].value(forKey: "name") == "C")
    try workshop.finish()
  }
}
