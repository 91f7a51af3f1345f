import ArborModel
@testable import ArborStore
import TestSupport
import Testing

/// The preconditions of a change set: what they reject, that a rejected set writes nothing, and
/// what they accept.
@Suite struct CommitPreparationTests {
  private func use(_ body: (StoreEngine, Draft) throws -> Void) throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      try body(store.file, Draft(store.file))
    }
  }

  /// Commits a draft that must be rejected and returns the error. The sequence must not change.
  private func refusal(_ draft: Draft) throws -> StoreError {
    let sequence = draft.file.lastSequence
    do {
      try draft.commit()
    } catch let error as StoreError {
      #expect(draft.file.lastSequence == sequence)
      return error
    }
    throw DraftError("The commit passed.")
  }

  private func employee(
    _ draft: Draft, _ id: Int64, _ values: [String: PropertyValue] = [:],
    to targets: [String: ObjectNumber] = [:]
  ) throws -> ObjectNumber {
    let all = values.merging(["employeeID": .integer(id)]) { own, _ in own }
    return try draft.insert("Employee", all, to: targets)
  }

  // MARK: Versions

  @Test("A change that is based on an earlier version is a conflict")
  func comparesVersions() throws {
    try use { file, draft in
      let tag = try draft.insert("Tag", ["name": "a"])
      try draft.commit()
      try draft.update(tag, ["name": "b"])
      try draft.commit()
      try draft.update(tag, ["name": "c"], from: 1)
      guard case .conflict(let conflicts) = try refusal(draft) else { throw DraftError("kind") }
      #expect(conflicts.map(\.number) == [tag] && conflicts[0].baseVersion == 1)
      let entity = try draft.entity("Tag")
      let name = try conflicts[0].currentRecord?.withUnsafeBytes { bytes in
        let base = try #require(bytes.baseAddress)
        return RecordView(base: base, count: bytes.count).value(try draft.field("name", entity))
      }
      #expect(name == "b")
      #expect(try draft.value(tag, "name") == "b")
    }
  }

  @Test("Every conflicting object is reported")
  func reportsEveryConflict() throws {
    try use { file, draft in
      let gone = try draft.insert("Tag", ["name": "gone"])
      let stale = try draft.insert("Tag", ["name": "stale"])
      let taken = try draft.insert("Tag", ["name": "taken"])
      try draft.commit()
      try draft.update(gone, ["name": "x"])
      let pending = draft.changes.records
      draft.changes = ChangeSet()
      try draft.delete(gone)
      try draft.commit()
      draft.changes.records = pending
      try draft.delete(stale, from: 7)
      try draft.insert("Tag", ["name": "again"], number: taken)
      guard case .conflict(let conflicts) = try refusal(draft) else { throw DraftError("kind") }
      #expect(conflicts.map(\.number) == [gone, stale, taken])
      #expect(conflicts.map { $0.currentRecord == nil } == [true, false, false])
    }
  }

  @Test("Each commit increments the version of a changed object")
  func countsVersions() throws {
    try use { file, draft in
      let tag = try draft.insert("Tag", ["name": "a"])
      try draft.commit()
      for round in 1...3 {
        try draft.update(tag, ["name": .string("\(round)")], from: UInt32(round))
        try draft.commit()
      }
      try draft.delete(tag, from: 4)
      try draft.commit()
      #expect(try draft.value(tag, "name") == nil)
    }
  }

  // MARK: Targets

  @Test("The target of a to-one relationship must exist", arguments: ["company", "badge"])
  func toOneTargetsExist(relationship: String) throws {
    try use { file, draft in
      let entity = try draft.entity(relationship == "company" ? "Company" : "Badge")
      let nobody = ObjectNumber(entity: entity.number, sequence: 99)
      let ada = try employee(draft, 1, to: [relationship: nobody])
      guard case .missingTargets(let missing) = try refusal(draft) else {
        throw DraftError("kind")
      }
      #expect(
        missing == [MissingTarget(owner: ada, relationship: relationship, target: nobody)])
    }
  }

  @Test("The target of a link must exist", arguments: ["tags", "favourites"])
  func linkedObjectsExist(relationship: String) throws {
    try use { file, draft in
      let ada = try employee(draft, 1)
      let entity = try draft.entity(relationship == "tags" ? "Tag" : "Project")
      let nobody = ObjectNumber(entity: entity.number, sequence: 99)
      try draft.edit(ada, relationship, .add(nobody))
      guard case .missingTargets(let missing) = try refusal(draft) else {
        throw DraftError("kind")
      }
      #expect(missing.contains { $0.target == nobody && $0.relationship == relationship })
    }
  }

  @Test("A link may lead to an object inserted in the same change set")
  func aTargetMayComeInTheSameSet() throws {
    try use { file, draft in
      let ada = try employee(draft, 1)
      let company = try draft.insert("Company", ["name": "Foo"])
      let bob = try employee(draft, 2, to: ["company": company])
      let tag = try draft.insert("Tag", ["name": "new"])
      try draft.link(ada, "tags", tag)
      try draft.commit()
      #expect(try draft.members(company, "employees") == [bob])
      #expect(try draft.members(tag, "employees") == [ada])
    }
  }

  @Test("A link to an object deleted in the same change set is rejected")
  func aTargetMayNotGoInTheSameSet() throws {
    try use { file, draft in
      let company = try draft.insert("Company", ["name": "Foo"])
      try draft.commit()
      let ada = try employee(draft, 1, to: ["company": company])
      try draft.delete(company)
      guard case .missingTargets(let missing) = try refusal(draft) else {
        throw DraftError("kind")
      }
      #expect(missing.map(\.owner) == [ada])
    }
  }

  // MARK: Deletions

  @Test("Deleting objects that others still link to is rejected")
  func nobodyOutsideLinksToWhatGoes() throws {
    try use { file, draft in
      let company = try draft.insert("Company", ["name": "Foo"])
      let ada = try employee(draft, 1, to: ["company": company])
      let tag = try draft.insert("Tag", ["name": "new"])
      try draft.link(ada, "tags", tag)
      let project = try draft.insert("Project")
      try draft.edit(ada, "favourites", .reorder([project]))
      try draft.edit(project, "fans", .add(ada))
      let task = try draft.insert("Task", to: ["project": project])
      try draft.edit(project, "tasks", .add(task))
      let badge = try draft.insert("Badge", to: ["employee": ada])
      try draft.commit()
      try draft.update(ada, to: ["badge": badge])
      try draft.commit()
      let expected: [(ObjectNumber, ObjectNumber, String)] = [
        (company, ada, "company"), (tag, ada, "tags"), (badge, ada, "badge"),
        (task, project, "tasks"),
      ]
      for (deleted, owner, relationship) in expected {
        try draft.delete(deleted)
        guard case .stillLinked(let linked) = try refusal(draft) else { throw DraftError("kind") }
        #expect(
          linked == [StillLinked(deleted: deleted, owner: owner, relationship: relationship)])
      }
      try draft.delete(project)
      guard case .stillLinked(let linked) = try refusal(draft) else { throw DraftError("kind") }
      #expect(Set(linked.map(\.relationship)) == ["project", "favourites"])
      try draft.delete(ada)
      guard case .stillLinked(let others) = try refusal(draft) else { throw DraftError("kind") }
      #expect(Set(others.map(\.relationship)) == ["employees", "employee", "fans"])
      // Deleting all of them together is valid and leaves no links.
      for number in [company, ada, tag, badge, task, project] { try draft.delete(number) }
      try draft.commit()
      #expect(try file.check().linkCount == 0)
    }
  }

  @Test("An object that removes its links in the same set doesn't prevent a deletion")
  func whoLetsGoIsNotAsked() throws {
    try use { file, draft in
      let company = try draft.insert("Company", ["name": "Foo"])
      let ada = try employee(draft, 1, to: ["company": company])
      let tag = try draft.insert("Tag", ["name": "new"])
      try draft.link(ada, "tags", tag)
      try draft.commit()
      try draft.update(ada, to: ["company": nil])
      try draft.delete(company)
      try draft.edit(ada, "tags", .remove(tag))
      try draft.delete(tag)
      try draft.commit()
      #expect(try draft.members(ada, "tags") == [])
    }
  }

  // MARK: Uniqueness

  private func violations(_ draft: Draft) throws -> [UniquenessViolation] {
    guard case .notUnique(let found) = try refusal(draft) else { throw DraftError("kind") }
    return found
  }

  @Test("Unique values must be unique within a change set")
  func uniqueValuesAreUniqueInTheSet() throws {
    try use { file, draft in
      let ada = try employee(draft, 1)
      let bob = try employee(draft, 1)
      #expect(
        try violations(draft) == [
          UniquenessViolation(
            entity: "Employee", properties: ["employeeID"], existing: ada, offending: bob)
        ])
    }
  }

  @Test("Unique values must be unique within the store")
  func uniqueValuesAreUniqueInTheStore() throws {
    try use { file, draft in
      let ada = try employee(draft, 1)
      try draft.commit()
      // The constraint also applies to subentities and to updates.
      let bob = try draft.insert("Manager", ["employeeID": 1])
      let claims = try violations(draft)
      #expect(claims.map(\.existing) == [ada] && claims.map(\.offending) == [bob])
      let cleo = try employee(draft, 2)
      try draft.commit()
      try draft.update(cleo, ["employeeID": 1])
      #expect(try violations(draft).map(\.offending) == [cleo])
    }
  }

  @Test("A change set may swap unique values and reuse those of deleted objects")
  func valuesMayBeSwappedAndPassedOn() throws {
    try use { file, draft in
      let ada = try employee(draft, 1)
      let bob = try employee(draft, 2)
      try draft.commit()
      try draft.update(ada, ["employeeID": 2])
      try draft.update(bob, ["employeeID": 1])
      try draft.commit()
      #expect(try draft.value(ada, "employeeID") == 2)
      try draft.delete(ada)
      let cleo = try employee(draft, 2)
      try draft.commit()
      #expect(try draft.value(cleo, "employeeID") == 2)
    }
  }

  @Test("Several objects may have `nil` for a unique attribute")
  func nilIsNeverDouble() throws {
    try use { file, draft in
      _ = try employee(draft, 1, ["email": .null])
      _ = try employee(draft, 2, ["email": .null])
      try draft.commit()
      _ = try employee(draft, 3)
      try draft.commit()
    }
  }

  /// Keys are truncated at 480 bytes, but values that differ after that are different.
  @Test("Long unique values are compared completely, not only by their keys")
  func longValuesAreComparedWhole() throws {
    try use { file, draft in
      let long = String(repeating: "ab", count: 5000)
      let ada = try employee(draft, 1, ["email": .string(long + "1")])
      let bob = try employee(draft, 2, ["email": .string(long + "2")])
      try draft.commit()
      let cleo = try employee(draft, 3, ["email": .string(long + "1")])
      let claims = try violations(draft)
      #expect(claims.map(\.existing) == [ada] && claims.map(\.offending) == [cleo])
      // The key stays the same if only the end of the value changes.
      try draft.update(bob, ["email": .string(long + "1")])
      #expect(try violations(draft).map(\.offending) == [bob])
      try draft.update(ada, ["email": .string(long + "2")])
      try draft.update(bob, ["email": .string(long + "1")])
      try draft.commit()
      let dora = try employee(draft, 4, ["email": .string(long + "3")])
      let emil = try employee(draft, 5, ["email": .string(long + "3")])
      let pair = try violations(draft)
      #expect(pair.map(\.existing) == [dora] && pair.map(\.offending) == [emil])
    }
  }

  @Test("Long unique values are compared completely even if the set updates their holder")
  func longValuesOfChangedObjectsAreComparedWhole() throws {
    try use { file, draft in
      let long = String(repeating: "ab", count: 5000)
      let ada = try employee(draft, 1, ["email": .string(long + "1")])
      let bob = try employee(draft, 2, ["email": .string(long + "2")])
      try draft.commit()
      for (claimant, value, holder) in [(ada, "2", bob), (bob, "1", ada)] {
        try draft.update(claimant, ["email": .string(long + value)])
        try draft.update(holder, ["age": 50])
        let claims = try violations(draft)
        #expect(claims.map(\.existing) == [holder] && claims.map(\.offending) == [claimant])
      }
    }
  }

  // MARK: Contradictions

  @Test("Contradictory change sets are refused")
  func refusesSetsThatContradictThemselves() throws {
    try use { file, draft in
      let tag = try draft.insert("Tag", ["name": "a"])
      try draft.insert("Tag", ["name": "b"], number: tag)
      guard case .invalidChange(tag, _) = try refusal(draft) else { throw DraftError("kind") }
      draft.changes.records = [.delete(ObjectNumber(entity: 999, sequence: 1), from: 1)]
      guard case .invalidChange = try refusal(draft) else { throw DraftError("kind") }
      let company = try draft.insert("Company", ["name": "a"])
      try draft.edit(company, "employees", .add(tag))
      guard case .invalidChange = try refusal(draft) else { throw DraftError("kind") }
      let ada = try employee(draft, 1)
      try draft.edit(ada, "tags", .reorder([]))
      guard case .invalidChange = try refusal(draft) else { throw DraftError("kind") }
    }
  }
}
