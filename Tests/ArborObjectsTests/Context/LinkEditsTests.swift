import ArborModel
import Testing

@testable import ArborObjects

@Suite struct LinkEditsTests {
  private struct Fixture {
    let context: ManagedObjectContext
    let employees: Relation
    let skills: Relation
    let owner = ObjectNumber(rawValue: 1)
    let member = ObjectNumber(rawValue: 2)
  }

  private func use(_ body: (Fixture) throws -> Void) throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      func relation(_ entity: String, _ name: String) throws -> Relation {
        let bindings = context.classes.bindings
        let binding = try #require(bindings.first { $0.entity.name == entity })
        return try #require(binding.relations.first { $0.name == name })
      }
      try body(
        Fixture(
          context: context, employees: relation("Company", "employees"),
          skills: relation("Employee", "skills")))
    }
  }

  @Test func comingAndGoingCancelOut() throws {
    try use { fixture in
      let links = fixture.context.links
      #expect(links.edit(fixture.owner, fixture.employees) == nil && !links.hasEdits)
      links.arrive(fixture.member, at: fixture.owner, fixture.employees)
      #expect(links.hasEdits)
      #expect(links.edit(fixture.owner, fixture.employees)?.added.numbers == [fixture.member])
      links.leave(fixture.member, at: fixture.owner, fixture.employees)
      #expect(!links.hasEdits)
      links.leave(fixture.member, at: fixture.owner, fixture.employees)
      #expect(links.edit(fixture.owner, fixture.employees)?.removed.numbers == [fixture.member])
      links.arrive(fixture.member, at: fixture.owner, fixture.employees)
      #expect(!links.hasEdits)
      #expect(links.edit(fixture.owner, fixture.skills) == nil)
    }
  }

  @Test func standingsReplaceOneAnother() throws {
    try use { fixture in
      let edit = fixture.context.links.makeEdit(fixture.owner, fixture.skills)
      #expect(edit[fixture.member] == .unmentioned && edit.isEmpty)
      for standing in [LinkEdit.Standing.added, .removed, .added, .unmentioned, .removed] {
        edit[fixture.member] = standing
        #expect(edit[fixture.member] == standing)
        #expect(edit.added.contains(fixture.member) == (standing == .added))
        #expect(edit.removed.contains(fixture.member) == (standing == .removed))
      }
    }
  }

  @Test func everyEditIsVisitedAndForgotten() throws {
    try use { fixture in
      let links = fixture.context.links
      links.arrive(fixture.member, at: fixture.owner, fixture.employees)
      links.makeEdit(fixture.owner, fixture.skills)[fixture.member] = .added
      _ = links.makeEdit(fixture.member, fixture.skills)
      var names: [String] = []
      links.forEach { names.append($0.relation.name) }
      #expect(names == ["employees", "skills"])
      var owners: [ObjectNumber] = []
      links.forEachOwner { owners.append($0) }
      #expect(owners == [fixture.owner, fixture.owner])
      links.removeAll()
      #expect(!links.hasEdits && links.edit(fixture.owner, fixture.employees) == nil)
    }
  }
}
