import ArborModel
import ArborObjects
import Testing

@Suite struct ManagedObjectRelationshipsTests {
  @Test("Both sides of a relationship change at once")
  func bothSidesFollowAtOnce() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let (one, other) = (context.insert(Company.self), context.insert(Company.self))
      (one.name, other.name) = ("one", "other")
      let (ada, bob) = (context.insert(Employee.self), context.insert(Employee.self))
      ada.company = one
      #expect(one.employees == [ada])
      other.employees = [ada, bob]
      #expect(one.employees == [] && ada.company === other && bob.company === other)
      try context.commit()
      #expect(other.employees == [ada, bob])
      other.employees.remove(ada)
      #expect(ada.company == nil && other.employees == [bob])
      try context.commit()
      #expect(try context.count("Employee", matching: "company == \(other)") == 1)
    }
  }

  @Test("The ID of a related object is read without loading the object")
  func targetsAreNamedWithoutBeingMade() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let (company, ada) = (context.insert(Company.self), context.insert(Employee.self))
      company.name = "one"
      #expect(ada.companyID == nil)
      ada.company = company
      #expect(ada.companyID == company.objectID)
      try context.commit()
      let other = store.makeContext()
      let same = try #require(try other.fetchOne(Employee.self))
      #expect(same.companyID == company.objectID)
      #expect(other.registeredObject(for: company.objectID) == nil)
      same.company = nil
      #expect(same.companyID == nil)
    }
  }

  @Test("Changing a one-to-one relationship updates both sides and the former partners")
  func oneToOneMovesBothEnds() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let (ada, bob) = (context.insert(Employee.self), context.insert(Employee.self))
      let (red, blue) = (context.insert(Badge.self), context.insert(Badge.self))
      ada.badge = red
      blue.employee = bob
      try context.commit()
      ada.badge = blue
      #expect(blue.employee === ada && red.employee == nil && bob.badge == nil)
      red.employee = ada
      #expect(ada.badge === red && blue.employee == nil)
      try context.commit()
    }
  }

  @Test("Many-to-many relationships work, including one that is its own inverse")
  func manyToManyAndItsOwnInverse() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let (ada, bob) = (context.insert(Employee.self), context.insert(Manager.self))
      let (swift, lisp) = (context.insert(Skill.self), context.insert(Skill.self))
      ada.skills = [swift, lisp]
      lisp.holders.insert(bob)
      ada.friends = [bob, ada]
      #expect(bob.skills == [lisp] && bob.friends == [ada] && ada.friends == [ada, bob])
      try context.commit()
      let other = store.makeContext()
      let same = try #require(try other.object(with: ada.objectID) as? Employee)
      #expect(same.friends.map(\.objectID).contains(bob.objectID))
      same.friends = []
      #expect(try #require(other.object(with: bob.objectID) as? Employee).friends == [])
      try other.commit()
      #expect(try context.count("Employee") == 2)
      #expect(bob.friends == [] && ada.friends == [])
    }
  }

  @Test("Ordered members keep their order")
  func orderIsKept() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let ada = context.insert(Employee.self)
      let tasks = (0..<20).map { index in
        let task = context.insert(Task.self)
        task.title = "\(index)"
        return task
      }
      ada.tasks = tasks.reversed()
      try context.commit()
      ada.tasks.swapAt(0, 19)
      ada.tasks.remove(at: 5)
      tasks[3].assignee = nil
      let expected = ada.tasks.map(\.title)
      #expect(expected.count == 18 && expected.first == "0" && expected.last == "19")
      #expect(ada.isUpdated)
      try context.commit()
      let other = store.makeContext()
      let same = try #require(try other.existingObject(with: ada.objectID) as? Employee)
      #expect(same.tasks.map(\.title) == expected)
      same.taskView.insert(other.insert(Task.self))
      #expect(same.taskView.count == 19)
      try other.commit()
    }
  }

  @Test("Counting and testing members doesn't load them")
  func countsAndMembershipNeedNoMembers() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let company = context.insert(Company.self)
      let employees = (0..<300).map { _ in context.insert(Employee.self) }
      for employee in employees { employee.company = company }
      #expect(company.staff.count == 300)
      try context.commit()
      let other = store.makeContext()
      let same = try #require(try other.object(with: company.objectID) as? Company)
      #expect(same.staff.count == 300)
      let eighth = try #require(try other.object(with: employees[7].objectID) as? Employee)
      #expect(same.staff.contains(eighth))
      same.staff.remove(eighth)
      same.staff.insert(other.insert(Employee.self))
      #expect(!same.staff.contains(eighth))
      #expect(same.staff.count == 300)
      #expect(other.registeredObjects.count == 3)
      try other.commit()
    }
  }

  @Test("Deleting an object removes references to it that have no inverse")
  func relationshipsWithoutInverseAreForgottenWithTheirTarget() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let (ada, bob) = (context.insert(Employee.self), context.insert(Manager.self))
      let task = context.insert(Task.self)
      bob.mentor = ada
      task.watchers = [ada, bob]
      try context.commit()
      context.delete(ada)
      #expect(bob.mentor == nil && task.watchers == [bob])
      try context.commit()
    }
  }

  @Test("Linking objects of different contexts stops the process")
  func foreignTargetsStopWithASentence() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let store = try PersistentStore(for: Office.classes, at: .inMemory)
      let (here, there) = (store.makeContext(), store.makeContext())
      here.insert(Employee.self).company = there.insert(Company.self)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("Employee.company cannot refer to an object of another context."))
  }
}

extension Company {
  fileprivate var staff: ToMany<Employee> { _toManyView(0) }
}

extension Employee {
  fileprivate var taskView: ToMany<Task> { _toManyView(4) }
}
