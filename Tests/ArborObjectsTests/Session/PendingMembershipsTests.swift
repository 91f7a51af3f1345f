import ArborModel
import Testing

@testable import ArborObjects

@Suite struct PendingMembershipsTests {
  private struct Fixture {
    let context: ManagedObjectContext
    let employees: RelationshipSchema
    let skills: RelationshipSchema
    let owner = ObjectNumber(rawValue: 1)
    let member = ObjectNumber(rawValue: 2)
  }

  private func use(_ body: (Fixture) throws -> Void) throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      func relationship(_ entity: String, _ name: String) throws -> RelationshipSchema {
        let bindings = context.session.classes.originals
        let binding = try #require(bindings.first { $0.entity.name == entity })
        return try #require(binding.entity.relationships.first { $0.name == name })
      }
      try body(
        Fixture(
          context: context, employees: relationship("Company", "employees"),
          skills: relationship("Employee", "skills")))
    }
  }

  @Test("The recorded members of a derived relationship follow the changes of the members")
  func membersFollowTheirChanges() throws {
    try use { fixture in
      let (context, links) = (fixture.context, fixture.context.session.links)
      let (one, two) = (context.insert(Company.self), context.insert(Company.self))
      (one.name, two.name) = ("one", "two")
      let employee = context.insert(Employee.self)
      employee.company = one
      func memberships() -> [LinkMembership?] {
        [one, two].map { links.edit($0.number, fixture.employees)?[employee.number] }
      }
      #expect(memberships() == [.added, nil])
      try context.commit()
      #expect(memberships() == [nil, nil] && !links.hasEdits)
      employee.company = two
      #expect(memberships() == [.removed, .added])
      employee.company = nil
      #expect(memberships() == [.removed, .unmentioned])
      employee.company = one
      #expect(memberships() == [.unmentioned, .unmentioned] && !links.hasEdits)
      context.delete(employee)
      #expect(memberships() == [.removed, .unmentioned])
      context.rollback()
      #expect(memberships() == [nil, nil] && one.employees == [employee])
    }
  }

  @Test("All pairs with a removed object are forgotten on both sides")
  func pairsAreForgottenAtBothSides() throws {
    try use { fixture in
      let links = fixture.context.session.links
      let (gone, other) = (fixture.owner, fixture.member)
      let third = ObjectNumber(rawValue: 3)
      for (owner, member) in [(gone, other), (other, gone), (other, third), (third, other)] {
        links.makeEdit(owner, fixture.skills)[member] = owner < member ? .added : .removed
      }
      var told: [ObjectNumber] = []
      links.forget(where: { $0 == gone }, telling: { edit, _ in told.append(edit.owner) })
      #expect(told == [gone, other])
      #expect(links.edit(gone, fixture.skills)?.isEmpty == true)
      #expect(links.edit(other, fixture.skills)?[gone] == .unmentioned)
      #expect(links.edit(other, fixture.skills)?[third] == .added)
      #expect(links.edit(third, fixture.skills)?[other] == .removed)
    }
  }

  @Test("Memberships of a pair replace each other")
  func membershipsReplaceOneAnother() throws {
    try use { fixture in
      let edit = fixture.context.session.links.makeEdit(fixture.owner, fixture.skills)
      #expect(edit[fixture.member] == .unmentioned && edit.isEmpty)
      for membership in [LinkMembership.added, .removed, .added, .unmentioned, .removed] {
        edit[fixture.member] = membership
        #expect(edit[fixture.member] == membership)
        #expect(edit.added.contains(fixture.member) == (membership == .added))
        #expect(edit.removed.contains(fixture.member) == (membership == .removed))
      }
    }
  }

  @Test("All edits are enumerated and can be removed")
  func everyEditIsVisitedAndForgotten() throws {
    try use { fixture in
      let links = fixture.context.session.links
      links.makeEdit(fixture.owner, fixture.employees)[fixture.member] = .removed
      links.makeEdit(fixture.owner, fixture.skills)[fixture.member] = .added
      _ = links.makeEdit(fixture.member, fixture.skills)
      var names: [String] = []
      links.forEach { names.append($0.relationship.name) }
      #expect(names == ["employees", "skills"])
      var owners: [ObjectNumber] = []
      links.forEachOwner { owners.append($0) }
      #expect(owners == [fixture.owner, fixture.owner])
      links.removeAll()
      #expect(!links.hasEdits && links.edit(fixture.owner, fixture.employees) == nil)
    }
  }
}
