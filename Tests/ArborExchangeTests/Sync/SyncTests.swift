import ArborJSON
import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import Testing

/// A configurable serializer of employees with their departments and friends.
struct EmployeeSerializer: SyncSerializer {
  typealias Object = ManagedObject
  let entityName: String? = "Employee"
  var identifiers = ["employeeID"]
  var forceInsert = false
  var insertMissing = true
  var updateExisting = true
  var deleteMissing = false
  var validators: [@Sendable (JSONValue) -> JSONValue?] = []
  var groupers: [FetchPredicate] = []
  var absentKeys = SyncAbsentKeys.clear
  var strictTypes = false
  var mapping: SyncMapping = [
    "employeeID": .int("id"), "name": .string(["user", "name"]), "hired": .isoDate("hired"),
  ]
}

struct DepartmentSerializer: SyncSerializer, Hashable {
  typealias Object = ManagedObject
  var entityName: String? { "Department" }
  var identifiers = ["departmentID"]
  var updateExisting = true
  var deleteMissing = false
  var deletesEmployees = false
  var mapping: SyncMapping {
    [
      "departmentID": .string("id"), "title": .string("title"),
      "employees": .toMany("employees") { [deletesEmployees] _, _ in
        EmployeeSerializer(
          deleteMissing: deletesEmployees, mapping: ["employeeID": .int("id")])
      },
    ]
  }
}

@Suite struct SyncTests {
  private func sync(
    _ workshop: ImportWorkshop, _ text: String, _ serializer: some SyncSerializer
  ) throws -> SyncReport {
    try workshop.context.sync(from: .value(JSONValue.parse(text)), using: serializer)
  }

  private func report(
    inserted: Int = 0, updated: Int = 0, unchanged: Int = 0, deleted: Int = 0, dropped: Int = 0
  ) -> SyncReport {
    var report = SyncReport()
    report.inserted = inserted
    report.updated = updated
    report.unchanged = unchanged
    report.deleted = deleted
    report.dropped = dropped
    return report
  }

  private struct Nested: SyncSerializer {
    typealias Object = ManagedObject
    var entityName: String?
    var properties: [String: SyncSource]
    var identifiers: [String] = []
    var strictTypes = false
    let deleteMissing = false
    var mapping: SyncMapping { SyncMapping(properties) }
  }

  @Test("An identifier of another JSON type is named instead of called missing")
  func identifiersOfAnotherType() throws {
    let workshop = try ImportWorkshop()
    let error = try workshop.failure {
      _ = try sync(workshop, #"[{"id": "7"}]"#, EmployeeSerializer())
    }
    #expect(error.code == .missingIdentity && error.location?.path == "$[0].id")
    #expect(
      error.message == """
        Expected a number for Employee.employeeID, but found a string. The value identifies the \
        item. Correct it.
        """)
    let several = try workshop.failure {
      _ = try sync(workshop, #"[{"id": "7"}, {"id": 1}, {}]"#, EmployeeSerializer())
    }
    #expect(several.violations.map { $0.location?.path } == ["$[0].id", "$[2]"])
    #expect(several.violations.last?.message == "The item has no employeeID. Add employeeID.")
  }

  @Test("Errors of nested serializers have a location, and strict types reach nested items")
  func nestedSerializers() throws {
    let workshop = try ImportWorkshop()
    func serializer(_ title: String, isStrict: Bool) -> Nested {
      let department = Nested(
        entityName: "Department", properties: [title: .string("title")])
      return Nested(
        entityName: "Employee",
        properties: [
          "employeeID": .int("id"), "department": .toOne("department") { _, _ in department },
        ], identifiers: ["employeeID"], strictTypes: isStrict)
    }
    let text = #"[{"id": 1, "department": {"title": 5}}]"#
    let unknown = try workshop.failure {
      _ = try sync(workshop, text, serializer("titel", isStrict: false))
    }
    #expect(unknown.code == .unknownName && unknown.entity == "Department")
    #expect(unknown.location?.path == "$[0].department" && unknown.location?.column == 23)
    let strict = try workshop.failure {
      _ = try sync(workshop, text, serializer("title", isStrict: true))
    }
    #expect(strict.location?.path == "$[0].department.title")
    #expect(strict.message == "Expected a string for Department.title, but found a number.")
    #expect(
      try sync(workshop, text, serializer("title", isStrict: false)) == report(inserted: 2))
    try workshop.finish()
  }

  @Test("A sync updates matching objects and inserts others")
  func matchesUpdatesAndInserts() throws {
    let workshop = try ImportWorkshop()
    let first = try sync(
      workshop, #"[{"id": 1, "user": {"name": "A"}}, {"id": 2}]"#, EmployeeSerializer())
    #expect(first == report(inserted: 2))
    try workshop.context.commit()
    let second = try sync(
      workshop, #"[{"id": 1, "user": {"name": "A"}}, {"id": 2, "user": {"name": "B"}}, {"id": 3}]"#,
      EmployeeSerializer())
    #expect(second == report(inserted: 1, updated: 1, unchanged: 1))
    #expect(try workshop.values("Employee", "name") == ["A", "B", nil])
    try workshop.finish()
  }

  @Test("Null is ignored, and an object is equivalent to a list with one item")
  func nullDoesNothingAndAnObjectIsAListOfOne() throws {
    let workshop = try ImportWorkshop()
    var serializer = EmployeeSerializer()
    serializer.deleteMissing = true
    #expect(try sync(workshop, #"{"id": 1}"#, serializer) == report(inserted: 1))
    #expect(try sync(workshop, "null", serializer) == report())
    #expect(try sync(workshop, #"{"id": 1}"#, serializer) == report(unchanged: 1))
    #expect(try sync(workshop, "[]", serializer) == report(deleted: 1))
    try workshop.finish()
  }

  @Test("A second sync of the same document changes nothing")
  func theSameSyncAgainChangesNothing() throws {
    let workshop = try ImportWorkshop()
    let text = #"""
      [{"id": "a", "title": "R", "employees": [{"id": 1}, {"id": 2}]}, {"id": "b", "title": null}]
      """#
    #expect(try sync(workshop, text, DepartmentSerializer()) == report(inserted: 4))
    try workshop.finish()
    #expect(try sync(workshop, text, DepartmentSerializer()) == report(unchanged: 4))
    #expect(!workshop.context.hasChanges)
  }

  @Test("With deleteMissing, only objects within the group are deleted")
  func deleteMissingDeletesWithinTheGroupOnly() throws {
    let workshop = try ImportWorkshop()
    _ = try sync(
      workshop,
      #"""
      [{"id": 1}, {"id": 2}, {"id": 3, "user": {"name": "X"}},
       {"id": 4, "user": {"name": "X"}}]
      """#,
      EmployeeSerializer())
    var serializer = EmployeeSerializer()
    serializer.deleteMissing = true
    serializer.groupers = ["name == \("X")"]
    // Employee 1 is not in the group, so the item inserts another object.
    let done = try sync(
      workshop, #"[{"id": 3, "user": {"name": "X"}}, {"id": 1, "user": {"name": "X"}}]"#,
      serializer)
    #expect(done == report(inserted: 1, unchanged: 1, deleted: 1))
    #expect(try workshop.values("Employee", "employeeID") == [1, 2, 3, 1])
    try workshop.finish()
  }

  @Test("With deleteMissing, an empty list deletes all objects in the group")
  func anEmptyListWithDeleteMissingDeletesAllInTheGroup() throws {
    let workshop = try ImportWorkshop()
    _ = try sync(
      workshop, #"[{"id": 1}, {"id": 2, "user": {"name": "X"}}]"#, EmployeeSerializer())
    var serializer = EmployeeSerializer()
    serializer.groupers = ["name == \("X")"]
    #expect(try sync(workshop, "[]", serializer) == report())
    serializer.deleteMissing = true
    #expect(try sync(workshop, "[]", serializer) == report(deleted: 1))
    #expect(try workshop.values("Employee", "employeeID") == [1])
    try workshop.finish()
  }

  @Test("A mapping that has a property twice is rejected")
  func eachPropertyIsMappedOnce() throws {
    let workshop = try ImportWorkshop()
    let serializer = EmployeeSerializer(
      mapping: ["employeeID": .int("id"), "name": .string("a"), "name": .string("b")])
    let error = #expect(throws: ArborError.self) { try sync(workshop, #"{"id": 1}"#, serializer) }
    #expect(error?.code == .invalidArgument && error?.keyPath == "name")
    #expect(
      error?.message == "The mapping of Employee lists name twice. Remove one of the entries.")
    try workshop.finish()
  }

  @Test("Several identifiers of any type identify an object together")
  func severalIdentifiersOfAnyTypeIdentifyTogether() throws {
    let workshop = try ImportWorkshop()
    var serializer = EmployeeSerializer()
    serializer.identifiers = ["employeeID", "name", "hired"]
    let text = #"[{"id": 1, "user": {"name": "A"}, "hired": "2020-01-01T00:00:00Z"}]"#
    #expect(try sync(workshop, text, serializer) == report(inserted: 1))
    #expect(try sync(workshop, text, serializer) == report(unchanged: 1))
    let others = #"""
      [{"id": 2, "user": {"name": "A"}, "hired": "2020-01-01T00:00:00Z"},
       {"id": 1, "user": {"name": "B"}, "hired": "2020-01-01T00:00:00Z"},
       {"id": 1, "user": {"name": "A"}, "hired": "2020-01-01T01:00:00.000+01:00"}]
      """#
    #expect(try sync(workshop, others, serializer) == report(inserted: 2, unchanged: 1))
    try workshop.finish()
  }

  @Test("An item without an identifier is rejected")
  func anItemWithoutAnIdentifierIsAnErrorAndNothingHasChanged() throws {
    let workshop = try ImportWorkshop()
    for text in [#"[{"id": 1}, {"user": {}}]"#, #"{"id": null}"#, #"[{"id": "1"}]"#] {
      let error = try workshop.failure { _ = try sync(workshop, text, EmployeeSerializer()) }
      #expect(error.code == .missingIdentity)
      #expect(error.keyPath == "employeeID")
    }
  }

  @Test("Without identifiers or with `forceInsert`, every item is inserted")
  func withoutIdentifiersOrByForceEverythingIsInserted() throws {
    let workshop = try ImportWorkshop()
    var serializer = EmployeeSerializer()
    serializer.forceInsert = true
    for _ in 0..<2 { #expect(try sync(workshop, #"{"id": 1}"#, serializer) == report(inserted: 1)) }
    serializer = EmployeeSerializer()
    serializer.identifiers = []
    #expect(try sync(workshop, #"{"id": 1}"#, serializer) == report(inserted: 1))
    serializer.deleteMissing = true
    #expect(try sync(workshop, #"{"id": 2}"#, serializer) == report(inserted: 1, deleted: 3))
    #expect(try workshop.values("Employee", "employeeID") == [2])
    try workshop.finish()
  }

  @Test("Inserting and updating can be disabled")
  func insertMissingAndUpdateExistingMayBeOff() throws {
    let workshop = try ImportWorkshop()
    _ = try sync(workshop, #"{"id": 1, "user": {"name": "A"}}"#, EmployeeSerializer())
    var serializer = EmployeeSerializer()
    serializer.insertMissing = false
    serializer.updateExisting = false
    let text = #"[{"id": 1, "user": {"name": "B"}}, {"id": 2}]"#
    #expect(try sync(workshop, text, serializer) == report(unchanged: 1))
    #expect(try workshop.values("Employee", "name") == ["A"])
    try workshop.finish()
  }

  @Test("Items that a validator drops count as missing from the payload")
  func validatorsComeFirstAndWhatTheyDropIsNotInThePayload() throws {
    let workshop = try ImportWorkshop()
    _ = try sync(workshop, #"[{"id": 1}, {"id": 2}]"#, EmployeeSerializer())
    var serializer = EmployeeSerializer()
    serializer.deleteMissing = true
    serializer.validators = [
      { $0["id"] == 2 ? nil : $0 },
      { item in
        var object = item.object ?? [:]
        object["user"] = ["name": "Valid"]
        return item["id"] == 3 ? .null : .object(object)
      },
    ]
    let done = try sync(
      workshop, #"[{"id": 1}, {"id": 2}, {"id": 3}, null, {"id": 4}]"#, serializer)
    #expect(done == report(inserted: 1, updated: 1, deleted: 1, dropped: 3))
    #expect(try workshop.values("Employee", "employeeID") == [1, 4])
    #expect(try workshop.values("Employee", "name") == ["Valid", "Valid"])
    try workshop.finish()
  }

  @Test("An error in an item changed by a validator has the location of the original")
  func anErrorInAnItemThatAValidatorMadePointsAtTheOriginal() throws {
    let workshop = try ImportWorkshop()
    var serializer = EmployeeSerializer()
    serializer.validators = [{ _ in ["id": "none"] }]
    let error = try workshop.failure { _ = try sync(workshop, #"[1, {"id": 5}]"#, serializer) }
    #expect(error.location?.path == "$[0]")
  }

  @Test("Absent keys clear properties or leave them unchanged")
  func absentKeysClearOrAreLeft() throws {
    let workshop = try ImportWorkshop()
    let full = #"{"id": 1, "user": {"name": "A"}, "hired": "2020-01-01T00:00:00Z"}"#
    _ = try sync(workshop, full, EmployeeSerializer())
    var serializer = EmployeeSerializer()
    serializer.absentKeys = .leave
    #expect(try sync(workshop, #"{"id": 1, "hired": null}"#, serializer) == report(updated: 1))
    #expect(try workshop.values("Employee", "name") == ["A"])
    #expect(try workshop.values("Employee", "hired") == [nil])
    #expect(try sync(workshop, #"{"id": 1}"#, EmployeeSerializer()) == report(updated: 1))
    #expect(try workshop.values("Employee", "name") == [nil])
    try workshop.finish()
  }

  @Test("A missing or null list unlinks the members but deletes none")
  func aMissingOrNullListUnlinksAndDeletesNothing() throws {
    for rest in ["", #", "employees": null"#] {
      let workshop = try ImportWorkshop()
      let serializer = DepartmentSerializer(deletesEmployees: true)
      _ = try sync(workshop, #"{"id": "a", "employees": [{"id": 1}, {"id": 2}]}"#, serializer)
      _ = try sync(workshop, "{\"id\": \"a\"\(rest)}", serializer)
      #expect(try workshop.all("Department")[0].objects(forKey: "employees").count() == 0)
      #expect(try workshop.all("Employee").count == 2)
      try workshop.finish()
    }
  }

  @Test("Nested deleteMissing deletes only members of the imported parents")
  func nestedDeleteMissingReachesThePresentParentsMembersOnly() throws {
    let workshop = try ImportWorkshop()
    let serializer = DepartmentSerializer(deletesEmployees: true)
    _ = try sync(
      workshop,
      #"""
      [{"id": "a", "employees": [{"id": 1}, {"id": 2}]}, {"id": "b", "employees": [{"id": 3}]}]
      """#, serializer)
    try workshop.one(#"{"employeeID": 9}"#)
    let done = try sync(workshop, #"{"id": "a", "employees": [{"id": 2}, {"id": 4}]}"#, serializer)
    #expect(done == report(inserted: 1, updated: 1, unchanged: 1, deleted: 1))
    #expect(try workshop.values("Employee", "employeeID") == [2, 3, 9, 4])
    // A member that moves to another parent in the payload is not missing.
    let moved = try sync(
      workshop,
      #"[{"id": "a", "employees": []}, {"id": "b", "employees": [{"id": 3}, {"id": 2}]}]"#,
      serializer)
    #expect(moved.deleted == 1)
    #expect(try workshop.values("Employee", "employeeID") == [2, 3, 9])
    try workshop.finish()
  }

  @Test("Without deleteMissing, members missing from the list are unlinked")
  func withoutDeleteMissingFormerMembersAreUnlinked() throws {
    let workshop = try ImportWorkshop()
    _ = try sync(
      workshop, #"{"id": "a", "employees": [{"id": 1}, {"id": 2}]}"#, DepartmentSerializer())
    _ = try sync(workshop, #"{"id": "a", "employees": [{"id": 2}]}"#, DepartmentSerializer())
    #expect(try workshop.all("Department")[0].objects(forKey: "employees").count() == 1)
    #expect(try workshop.all("Employee").count == 2)
    try workshop.finish()
  }

  @Test("The nested serializer can depend on the child and the parent")
  func theChildSerializerMayTakeTheChildAndTheParent() throws {
    let workshop = try ImportWorkshop()
    var serializer = EmployeeSerializer()
    serializer.mapping["department"] = .toOne("department") { child, parent in
      var department = DepartmentSerializer()
      department.updateExisting = parent["trusted"] == true && child["id"] != nil
      return department
    }
    _ = try sync(workshop, #"{"id": 1, "department": {"id": "a", "title": "T"}}"#, serializer)
    _ = try sync(workshop, #"{"id": 1, "department": {"id": "a", "title": "U"}}"#, serializer)
    #expect(try workshop.values("Department", "title") == ["T"])
    _ = try sync(
      workshop, #"{"id": 1, "trusted": true, "department": {"id": "a", "title": "U"}}"#, serializer)
    #expect(try workshop.values("Department", "title") == ["U"])
    _ = try sync(workshop, #"{"id": 1}"#, serializer)
    #expect(try workshop.all("Employee")[0].object(forKey: "department") == nil)
    try workshop.finish()
  }

  @Test("A serializer that doesn't match the model is rejected")
  func aSerializerThatDoesNotFitTheModelIsAnError() throws {
    let workshop = try ImportWorkshop()
    var serializer = EmployeeSerializer()
    serializer.mapping["nme"] = .string("x")
    var error = try workshop.failure { _ = try sync(workshop, "[]", serializer) }
    #expect(error.code == .unknownName && error.message.contains("Did you mean name?"))
    serializer = EmployeeSerializer()
    serializer.identifiers = ["salary"]
    error = try workshop.failure { _ = try sync(workshop, "[]", serializer) }
    #expect(error.code == .invalidArgument)
    serializer = EmployeeSerializer()
    serializer.mapping["department"] = .toMany("x") { _, _ in DepartmentSerializer() }
    error = try workshop.failure { _ = try sync(workshop, "[]", serializer) }
    #expect(error.code == .invalidArgument && error.keyPath == "department")
    serializer.mapping["department"] = .toOne("x") { _, _ in EmployeeSerializer() }
    error = try workshop.failure { _ = try sync(workshop, #"{"id": 1, "x": {}}"#, serializer) }
    #expect(error.code == .invalidArgument)
  }

  @Test("A sync of the store is committed, and visible to contexts")
  func theStoreCommitsAndContextsTakeItIn() async throws {
    let workshop = try ImportWorkshop()
    #expect(
      try await workshop.store.sync(from: ["id": 1], using: EmployeeSerializer())
        == report(inserted: 1))
    #expect(try workshop.values("Employee", "employeeID") == [1])
    #expect(!workshop.context.hasChanges)
    let before = try workshop.context.digest()
    await #expect(throws: ArborError.self) {
      try await workshop.store.sync(
        from: [["id": 1, "user": ["name": "x"]], [:]], using: EmployeeSerializer())
    }
    #expect(try workshop.context.digest() == before)
    try workshop.finish()
  }
}
