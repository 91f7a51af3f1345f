import ArborModel
import ArborStore
import LMDB
import TestSupport
import Testing

@Suite struct StoreDatabasesTests {
  @Test("Every part of the model has a database of its own, named after it")
  func namesSayWhatTheyHold() throws {
    let model = try OfficeModel.make()
    let schema = try ModelSchema(model, catalog: SchemaCatalog(numbering: model))
    let list = StoreDatabases.list(schema)
    let names = list.map(\.name)
    #expect(Set(names).count == names.count)
    #expect(
      Set(names) == [
        "arbor", "history", "e/Employee", "e/Manager", "e/Company", "e/Tag", "e/Badge",
        "e/Project", "e/Task", "i/Person/name", "i/Person/email", "i/Employee/employeeID",
        "i/Employee/age", "i/Employee/hiredAt", "i/Employee/byCompanyAndAge", "i/Company/name",
        "i/Tag/name", "r/Employee/tags", "r/Employee/favourites", "o/Employee/favourites",
        "r/Manager/reports", "r/Company/employees", "r/Tag/employees", "r/Project/tasks",
        "o/Project/tasks", "r/Project/fans", "r/Task/watchers", "r/Person/~Task.watchers",
      ])
  }

  @Test("Databases of entities, indexes and relationships are found by name")
  func findsEverythingByName() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let databases = store.file.databases
      for entity in store.file.schema.entities {
        if !entity.isAbstract {
          #expect(databases.records(entity.index).name == "e/\(entity.name)")
        }
        let numbers = databases.indexNumbers(of: entity.index)
        for (index, databaseIndex) in zip(entity.indexes, numbers) {
          let found = databases.index(index.declaringEntity, index.name)
          #expect(found == databases.indexes[databaseIndex].database)
        }
        for relationship in entity.relationships {
          let databaseIndex = databases.relationshipIndex(
            entity: entity.index, slot: relationship.slot)
          #expect((databaseIndex == nil) == !relationship.isToMany)
          guard let databaseIndex else { continue }
          let found = databases.relationship(
            relationship.declaringEntity, relationship.name)
          #expect(found == databases.relationships[databaseIndex].members)
          #expect((databases.relationships[databaseIndex].order != nil) == relationship.isOrdered)
        }
      }
      #expect(databases.index(0, "nothing") == nil)
      #expect(databases.relationship(0, "nothing") == nil)
    }
  }
}
