import ArborModel
@testable import ArborStore
import LMDB
import TestSupport
import Testing

@Suite struct WritePlanTests {
  private func plan(_ name: String, _ body: (WritePlan, StoreEngine) throws -> Void) throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let entity = try Draft(store.file).entity(name)
      try body(#require(store.file.plans[entity.index]), store.file)
    }
  }

  @Test("Abstract entities have no write plan")
  func abstractEntitiesHaveNone() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let person = try Draft(store.file).entity("Person")
      #expect(store.file.plans[person.index] == nil)
      #expect(store.file.plans.count == store.file.schema.entities.count)
    }
  }

  @Test("A subentity shares the indexes of its ancestors")
  func heirsShareIndexes() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let draft = Draft(store.file)
      let employee = try #require(store.file.plans[try draft.entity("Employee").index])
      let manager = try #require(store.file.plans[try draft.entity("Manager").index])
      #expect(employee.indexes.map(\.number) == manager.indexes.map(\.number))
      let unique = employee.indexes.filter(\.isUnique).map {
        store.file.databases.indexes[$0.number].schema.name
      }
      #expect(unique == ["email", "employeeID"])
      #expect(employee.records != manager.records)
    }
  }

  @Test("Every to-one field is assigned the database that lists its owners")
  func everyFieldKnowsWhereItsOwnerIsListed() throws {
    try plan("Employee") { plan, file in
      let names = plan.references.map { reference in
        reference.derivedIndex.map { file.databases.relationships[$0].schema.name }
      }
      #expect(Set(names) == ["employees", "reports", nil])
    }
    try plan("Task") { plan, file in
      // The project lists its tasks by links, not by an index on their field.
      #expect(plan.references.map { $0.derivedIndex == nil } == [true])
      let relationshipIndex = try #require(plan.references.first?.listIndex)
      #expect(file.databases.relationships[relationshipIndex].schema.name == "tasks")
    }
  }

  @Test("The plan of an entity lists all relationships that may refer to its objects")
  func everyWayToHoldOnIsKnown() throws {
    func ways(_ name: String) throws -> Set<String> {
      var found = Set<String>()
      try plan(name) { plan, _ in
        for inbound in plan.inbound {
          switch inbound {
          case .derived(_, let inverse): found.insert("derived \(inverse.name)")
          case .links(_, let inverse, _): found.insert("links \(inverse.name)")
          case .field(_, let inverse, _): found.insert("field \(inverse.name)")
          }
        }
      }
      return found
    }
    #expect(try ways("Company") == ["derived company"])
    #expect(
      try ways("Employee") == ["links employees", "field employee", "links fans", "links watchers"])
    #expect(try ways("Task") == ["field tasks", "links ~Task.watchers"])
    #expect(try ways("Project") == ["links project", "links favourites"])
  }
}
