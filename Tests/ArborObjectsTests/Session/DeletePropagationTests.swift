import ArborModel
import ArborObjects
import Testing

@Suite struct DeletePropagationTests {
  @Test("A deletion cascades, nullifies links and leaves other objects alone")
  func cascadesNullifiesAndSparesTheRest() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let company = context.insert(Company.self)
      let (ada, bob) = (context.insert(Employee.self), context.insert(Manager.self))
      company.employees = [ada, bob]
      ada.manager = bob
      let badge = context.insert(Badge.self)
      ada.badge = badge
      let task = context.insert(Task.self)
      ada.tasks = [task]
      let swift = context.insert(Skill.self)
      ada.skills = [swift]
      let friend = context.insert(Employee.self)
      friend.friends = [ada, bob]
      try context.commit()
      context.delete(ada)
      #expect(context.deletedObjects == [ada, badge, task])
      #expect(company.employees == [bob] && bob.reports == [] && friend.friends == [bob])
      #expect(swift.holders == [])
      try context.commit()
      context.delete(company)
      #expect(context.deletedObjects == [company, bob])
      try context.commit()
      #expect(try context.fetch(Person.self) == [friend])
      #expect(friend.friends == [])
    }
  }

  @Test("A denied deletion is reported by the commit")
  func denialIsFoundAtTheCommit() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let (ada, swift) = (context.insert(Employee.self), context.insert(Skill.self))
      ada.skills = [swift]
      try context.commit()
      context.delete(swift)
      let error = try failure { try context.commit() }
      #expect(error.code == .validation && error.keyPath == "holders")
      #expect(swift.isDeleted && context.deletedObjects == [swift])
      context.delete(ada)
      try context.commit()
      #expect(try context.count("Skill") == 0)
    }
  }

  @Test("Deleting a long chain of objects doesn't overflow the stack")
  func longChainsNeedNoStack() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Link") {
        RelationshipDescription("next", to: "Link", inverse: "previous", deleteRule: .cascade)
        RelationshipDescription("previous", to: "Link", inverse: "next")
      }
    }
    try ObjectStore.use(model) { store in
      let context = store.makeContext()
      let links = try (0..<20_000).map { _ in try context.insert("Link") }
      for (index, link) in links.enumerated() {
        try link.setObject(links[(index + 1) % links.count], forKey: "next")
      }
      try context.commit()
      let other = store.makeContext()
      other.delete(try other.object(with: links[0].objectID))
      #expect(other.deletedObjects.count == links.count)
      try other.commit()
      #expect(try context.count("Link") == 0)
    }
  }

  @Test("The rule noAction removes links without marking objects as updated")
  func noActionDropsLinksQuietly() throws {
    try ObjectStore.use(OwnersModel.make(.noAction)) { store in
      let context = store.makeContext()
      let owner = try context.insert("Owner")
      let thing = try context.insert("Thing")
      thing["owner"] = owner
      try context.commit()
      context.delete(owner)
      #expect(context.updatedObjects == [])
      try context.commit()
      #expect(thing["owner"] == PropertyValue.null && thing.context === context)
    }
  }

  @Test("Deleting an object twice or deleting a new one is allowed")
  func deletingTwiceAndDeletingTheNewAreFine() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let ada = context.insert(Employee.self)
      ada.company = context.insert(Company.self)
      let company = try #require(ada.company)
      context.delete(ada)
      context.delete(ada)
      #expect(ada.isDeleted && ada.context == nil && company.employees == [])
      #expect(context.insertedObjects == [company])
      try context.commit()
      #expect(try context.count("Employee") == 0)
    }
  }
}
