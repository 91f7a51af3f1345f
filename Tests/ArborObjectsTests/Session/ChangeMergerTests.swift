import ArborModel
import ArborObjects
import Testing

@Suite struct ChangeMergerTests {
  /// Calls `body` with an employee in two contexts.
  private func use(
    _ policy: MergePolicy,
    _ body: (ManagedObjectContext, Employee, ManagedObjectContext, Employee) throws -> Void
  ) throws {
    try ObjectStore.useOffice { store in
      let (here, there) = (store.makeContext(), store.makeContext())
      here.mergePolicy = policy
      let mine = here.insert(Employee.self)
      (mine.name, mine.age) = ("Ada", 20)
      try here.commit()
      let theirs = try #require(try there.existingObject(with: mine.objectID) as? Employee)
      try body(here, mine, there, theirs)
    }
  }

  @Test("Commits of another context are merged by the next operation")
  func commitsOfOthersAreTakenIn() throws {
    try use(.error) { (here, mine, there, theirs) throws in
      theirs.name = "Eve"
      let company = there.insert(Company.self)
      theirs.company = company
      try there.commit()
      #expect(mine.name == "Ada")
      #expect(try here.count("Company") == 1)
      #expect(mine.name == "Eve" && mine.company?.objectID == company.objectID)
      #expect(mine.company?.employees == [mine])
      there.delete(theirs)
      try there.commit()
      _ = try here.count("Company")
      #expect(mine.isDeleted && mine.context == nil && mine.name == "Eve")
    }
  }

  @Test("A rollback reverts to the values that another context has committed")
  func whatIsRolledBackIsWhatOthersMadeOfIt() throws {
    try use(.error) { (here, mine, there, theirs) throws in
      mine.age = 30
      theirs.name = "Eve"
      try there.commit()
      #expect(try here.count("Company") == 0)
      #expect(mine.name == "Eve" && mine.age == 30)
      here.rollback()
      #expect(mine.name == "Eve" && mine.age == 20)

      mine.age = 40
      theirs.name = "Eva"
      try there.commit()
      #expect(try here.count("Company") == 0)
      mine.age = 20
      try here.commit()
      #expect(mine.name == "Eva" && !mine.hasChanges)

      mine.age = 50
      there.delete(theirs)
      try there.commit()
      #expect(try here.count("Company") == 0)
      #expect(mine.context === here)
      here.rollback()
      #expect(mine.isDeleted && mine.context == nil)
    }
  }

  @Test("The error policy throws for a conflict and keeps the changes")
  func theErrorPolicyRefusesAndLosesNothing() throws {
    try use(.error) { (here, mine, there, theirs) throws in
      theirs.age = 30
      try there.commit()
      mine.name = "Eve"
      let error = try failure { try here.commit() }
      #expect(error.code == .conflict && error.objectID == mine.objectID)
      #expect(mine.name == "Eve" && mine.isUpdated)
      here.refresh(mine)
      #expect(mine.name == "Eve" && mine.age == 30)
      try here.commit()
      _ = try there.count("Employee")
      #expect(theirs.name == "Eve" && theirs.age == 30)
    }
  }

  @Test(
    "Concurrent updates are merged according to the policy",
    arguments: [
      ("objectWins", "mine", 30, "M"), ("storeWins", "theirs", 30, "M"),
      ("overwrite", "mine", 20, "M"),
      ("rollback", "theirs", 30, nil), ("custom", "theirs", 30, "M"),
    ] as [(String, String, Int, String?)])
  func updatesMeetUpdates(policy: String, name: String, age: Int, nick: String?) throws {
    try use(Self.policy(policy)) { (here, mine, there, theirs) throws in
      (mine.name, mine.nick) = ("mine", "M")
      (theirs.name, theirs.age) = ("theirs", 30)
      try there.commit()
      try here.commit()
      #expect(mine.name == name && mine.age == age && mine.nick == nick, "\(policy)")
      _ = try there.count("Employee")
      #expect(theirs.name == name && theirs.age == age && theirs.nick == nick, "\(policy)")
      #expect(!here.hasChanges)
    }
  }

  private static func policy(_ name: String) -> MergePolicy {
    switch name {
    case "objectWins": .mergeByPropertyObjectWins
    case "storeWins": .mergeByPropertyStoreWins
    case "overwrite": .overwrite
    case "rollback": .rollback
    default:
      .custom { conflict in
        conflict.contextValues?["name"] == "mine" && conflict.storeValues?["name"] == "theirs"
          && conflict.committedValues["name"] == "Ada" ? .storeWins : .rollback
      }
    }
  }

  @Test(
    "A deletion that meets an update is decided by the policy",
    arguments: ["objectWins", "storeWins", "overwrite", "rollback"])
  func deletionsMeetUpdates(policy: String) throws {
    try use(Self.policy(policy)) { (here, mine, there, theirs) throws in
      here.delete(mine)
      theirs.name = "theirs"
      try there.commit()
      try here.commit()
      let survives = policy == "storeWins" || policy == "rollback"
      #expect(try here.count("Employee") == (survives ? 1 : 0), "\(policy)")
      #expect(mine.isDeleted != survives && mine.name == "theirs")
    }
  }

  @Test(
    "An update that meets a deletion is decided by the policy",
    arguments: ["objectWins", "storeWins", "overwrite", "rollback"])
  func updatesMeetDeletions(policy: String) throws {
    try use(Self.policy(policy)) { (here, mine, there, theirs) throws in
      mine.name = "mine"
      there.delete(theirs)
      try there.commit()
      try here.commit()
      let survives = policy == "objectWins" || policy == "overwrite"
      #expect(try here.count("Employee") == (survives ? 1 : 0), "\(policy)")
      #expect(mine.isDeleted == !survives)
      if survives {
        #expect(try there.fetchOne(Employee.self)?.name == "mine")
      }
    }
  }

  @Test("A new link to an object deleted elsewhere is removed")
  func aNewLinkMeetsADeletion() throws {
    try use(.mergeByPropertyObjectWins) { (here, mine, there, theirs) throws in
      let company = here.insert(Company.self)
      let swift = here.insert(Skill.self)
      try here.commit()
      mine.company = company
      mine.skills = [swift]
      try there.delete(there.object(with: company.objectID))
      try there.delete(there.object(with: swift.objectID))
      try there.commit()
      try here.commit()
      #expect(mine.company == nil && mine.skills == [])
    }
  }

  @Test("A deletion removes a link that another context has added")
  func aDeletionMeetsANewLink() throws {
    try use(.mergeByPropertyObjectWins) { (here, mine, there, theirs) throws in
      let badge = here.insert(Badge.self)
      try here.commit()
      here.delete(badge)
      theirs.badge = try #require(try there.object(with: badge.objectID) as? Badge)
      try there.commit()
      try here.commit()
      #expect(mine.badge == nil)
      _ = try there.count("Employee")
      #expect(theirs.badge == nil)
    }
  }

  @Test("An object that was deleted and revived merges with other changes")
  func aSecondLifeIsNotTakenForTheFirst() throws {
    try use(.mergeByPropertyObjectWins) { (here, mine, there, theirs) throws in
      let third = here.store.makeContext()
      third.mergePolicy = .mergeByPropertyObjectWins
      let other = try #require(try third.existingObject(with: mine.objectID) as? Employee)
      other.nick = "third"
      mine.age = 40
      try here.commit()
      mine.name = "mine"
      _ = try there.count("Employee")
      there.delete(theirs)
      try there.commit()
      try third.commit()
      try here.commit()
      #expect(mine.name == "mine" && mine.nick == "third")
      _ = try third.count("Employee")
      #expect(other.name == "mine" && other.nick == "third")
    }
  }

  @Test("Refreshing an object deleted by another context keeps its changes or removes it")
  func refreshingWhatOthersDeleted() throws {
    try use(.mergeByPropertyObjectWins) { (here, mine, there, theirs) throws in
      mine.age = 30
      there.delete(theirs)
      try there.commit()
      here.refresh(mine)
      #expect(try here.fetch(Employee.self) == [mine] && mine.age == 30)
      here.refresh(mine, mergeChanges: false)
      #expect(try here.count("Employee") == 0 && !here.hasChanges)
      #expect(mine.isDeleted && mine.context == nil && mine.name == "Ada")
    }
  }

  @Test("Refreshing discards changes without recording an undo")
  func whatIsRefreshedIsNothingToUndo() throws {
    for isDeleted in [false, true] {
      try use(.mergeByPropertyObjectWins) { (here, mine, there, theirs) throws in
        let history = UndoHistory()
        here.undoHistory = history
        mine.age = 30
        here.refresh(mine, mergeChanges: false)
        if isDeleted { there.delete(theirs) } else { theirs.name = "Eve" }
        try there.commit()
        #expect(try here.count("Employee") == (isDeleted ? 0 : 1))
        here.undoHistory?.closeGroup()
        #expect(history.undoNames.isEmpty)
        here.undo()
        #expect(isDeleted || mine.name == "Eve")
        try here.commit()
      }
    }
  }

  @Test("A new link to an object that another context deletes becomes nil at once")
  func aLinkToWhatIsGoneLeadsNowhere() throws {
    try use(.mergeByPropertyObjectWins) { (here, mine, there, theirs) throws in
      let company = here.insert(Company.self)
      try here.commit()
      mine.company = company
      there.delete(try there.existingObject(with: company.objectID))
      try there.commit()
      #expect(try here.count("Company") == 0)
      #expect(mine.company == nil)
      try here.commit()
      #expect(try here.count("Employee", matching: "company == nil") == 1)
    }
  }

  @Test("If two contexts move a member, the merge policy decides on its owner")
  func movesOfOneMemberMeet() throws {
    try use(.mergeByPropertyObjectWins) { (here, mine, there, theirs) throws in
      let (one, two) = (here.insert(Company.self), here.insert(Company.self))
      (one.name, two.name) = ("one", "two")
      try here.commit()
      mine.company = one
      theirs.company = try #require(try there.object(with: two.objectID) as? Company)
      try there.commit()
      _ = try here.count("Employee")
      #expect(mine.company === one && one.employees == [mine] && two.employees == [])
      let counts = [one, two].map { ($0._toManyView(0) as ToMany<Employee>).count }
      #expect(counts == [1, 0])
      try here.commit()
      #expect(try here.count("Employee", matching: "company == \(one)") == 1)
    }
  }

  @Test("Without automatic merging, objects keep their values until they are refreshed")
  func withoutMergingValuesStay() throws {
    try use(.error) { (here, mine, there, theirs) throws in
      here.automaticallyMergesCommits = false
      theirs.name = "Eve"
      try there.commit()
      _ = try here.fetch(Employee.self)
      #expect(mine.name == "Ada")
      here.refresh(mine)
      #expect(mine.name == "Eve")
    }
  }

  @Test("Without automatic merging, both ends of a link still agree after a commit")
  func withoutMergingBothEndsAgree() throws {
    let histories = [
      ("CB", "AB"), ("AC", "AB"), ("CB AD", "AB"), ("DC", "AB"), ("BC", "AB"), ("CB", "AB A- C+"),
      ("CA", "AB A- C+"), ("EA", "E-"), ("EA", "EB"), ("EC", "EB"), ("CB", "B- C+"),
      ("EA", "AB EC BD"),
    ]
    for (letter, policy) in ConcurrentPair.policies {
      for (theirs, mine) in histories {
        try ObjectStore.use(PlainWorld.model()) { store in
          let (here, there) = (store.makeContext(), store.makeContext())
          here.mergePolicy = policy
          let people = try "ABCD".map { name throws in
            let person = try here.insert("Person")
            try person.setValue(String(name), forKey: "name")
            return person
          }
          try people[2].setObject(people[3], forKey: "spouse")
          try here.commit()
          here.automaticallyMergesCommits = false
          try there.insert("Person").setValue("E", forKey: "name")
          try Self.marry(theirs, in: there)
          try there.commit()
          try Self.marry(mine, in: here)
          do throws(ArborError) { try here.commit() } catch {
            #expect(error.code == .conflict && letter == "E")
          }
          let reader = store.makeContext()
          try withExtendedLifetime(reader) {
            for person in try reader.fetch("Person") {
              guard let spouse = try person.object(forKey: "spouse") else { continue }
              let back = try spouse.object(forKey: "spouse")
              #expect(back === person, "\(letter), \(theirs), \(mine)")
            }
          }
        }
      }
    }
  }

  /// Sets the spouse of the person named by the first letter to that of the second one. A minus
  /// means `nil`, and a plus changes another property instead.
  private static func marry(_ pairs: String, in context: ManagedObjectContext) throws {
    for pair in pairs.split(separator: " ").map({ $0.map(String.init) }) {
      let person = try #require(try context.fetchOne("Person", matching: "name == \(pair[0])"))
      if pair[1] == "+" {
        try person.setValue(.integer(1), forKey: "age")
      } else {
        let spouse = try context.fetchOne("Person", matching: "name == \(pair[1])")
        try person.setObject(spouse, forKey: "spouse")
      }
    }
  }

  @Test("Hundreds of commits of another context are merged in turn")
  func hundredsOfCommitsAreTakenIn() throws {
    try use(.error) { (here, mine, there, theirs) throws in
      for age in 0..<1200 {
        theirs.age = age % 100 + 100
        try there.commit()
      }
      _ = try here.count("Employee")
      #expect(mine.age == 199)
    }
  }
}
