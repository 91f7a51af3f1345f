import ArborModel
import ArborStore
import LMDB
import TestSupport
import Testing

@Suite struct StoreDatabasesTests {
  @Test func namesSayWhatTheyHold() throws {
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

  @Test func findsEverythingByName() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let databases = store.file.databases
      for entity in store.file.schema.entities {
        if !entity.isAbstract {
          #expect(databases.records(entity.index).name == "e/\(entity.name)")
        }
        let places = databases.indexPlaces(of: entity.index)
        for (index, place) in zip(entity.indexes, places) {
          let found = databases.index(index.declaringEntity, index.name)
          #expect(found == databases.indexes[place].database)
        }
        for relationship in entity.relationships {
          let place = databases.relationshipPlace(entity: entity.index, slot: relationship.slot)
          #expect((place == nil) == !relationship.isToMany)
          guard let place else { continue }
          let found = databases.relationship(
            relationship.declaringEntity, relationship.name)
          #expect(found == databases.relationships[place].members)
          #expect((databases.relationships[place].order != nil) == relationship.isOrdered)
        }
      }
      #expect(databases.index(0, "nothing") == nil)
      #expect(databases.relationship(0, "nothing") == nil)
    }
  }
}
