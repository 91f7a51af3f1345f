import ArborModel
import ArborObjects
import ArborStore
import LMDB
import TestSupport
import Testing

/// Object numbers of unknown or unexpected entities, as in a forged file. Each must be an error
/// that doesn't end the process.
@Suite("Object numbers of unexpected entities") struct SessionObjectsTests {
  /// Creates a store with one object of each entity in use, forges it, and then opens it.
  private func use(
    _ forge: (World, Vandal) throws -> Void,
    _ body: (World, ManagedObjectContext) throws -> Void
  ) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.arbor")
    let file = try StoreEngine.open(StoreOpening(.file(path), model: OfficeModel.make()))
    defer { file.close() }
    let world = try World(Draft(file))
    try forge(world, Vandal(file: file))
    file.close()
    var options = StoreOptions()
    options.verification = .quick
    let store = try PersistentStore(model: OfficeModel.make(), at: .path(path), options: options)
    defer { store.close() }
    try body(world, store.makeContext())
  }

  private struct World {
    let company: ObjectNumber
    let tag: ObjectNumber
    let ada: ObjectNumber
    let badge: ObjectNumber
    let project: ObjectNumber
    /// An object number of an unknown entity.
    let nothing = ObjectNumber(entity: 700, sequence: 1)

    init(_ draft: Draft) throws {
      company = try draft.insert("Company", ["name": "Arbor"])
      tag = try draft.insert("Tag", ["name": "new"])
      ada = try draft.insert(
        "Employee", ["name": "Ada", "email": "ada@arbor", "employeeID": 1],
        to: ["company": company])
      badge = try draft.insert("Badge", [:], to: ["employee": ada])
      project = try draft.insert("Project", ["title": "Big"])
      try draft.link(ada, "tags", tag)
      try draft.link(ada, "favourites", project)
      try draft.commit()
      try draft.update(ada, to: ["badge": badge])
      try draft.commit()
    }
  }

  private func failure(_ body: () throws -> Void) -> ArborError? {
    do { try body() } catch { return error as? ArborError }
    return nil
  }

  private func ada(_ context: ManagedObjectContext) throws -> ManagedObject {
    try #require(try context.fetchOne("Employee"))
  }

  // MARK: To-one relationships

  @Test("A to-one target of an unknown or unexpected entity is reported as damage")
  func aTargetOfNoEntityOrOfAnotherIsAnError() throws {
    for isNothing in [true, false] {
      try use { world, vandal in
        try vandal.point(world.ada, "badge", at: isNothing ? world.nothing : world.tag)
      } _: { world, context in
        let ada = try ada(context)
        let error = failure { _ = try ada.object(forKey: "badge") }
        #expect(try context.count("Employee") == 1)
        let target = isNothing ? world.nothing : world.tag
        #expect(error?.code == .corrupted)
        #expect(
          error?.message
            == "The store is damaged: the relationship badge refers to object number "
            + "\(target.rawValue), which belongs to an entity that the relationship doesn't accept. "
            + "Restore a backup, or recover "
            + "intact objects with PersistentStore.salvage(_:to:model:) or lmdb-inspect salvage "
            + "STORE TARGET; lmdb-inspect check lists the damage.")
      }
    }
  }

  @Test("Replacing a corrupt target throws, and deleting its owner doesn't crash")
  func deletingAndRelinkingGoOn() throws {
    for name in ["badge", "company", "manager"] {
      try use { world, vandal in
        try vandal.point(world.ada, name, at: world.tag)
      } _: { _, context in
        let ada = try ada(context)
        let error = failure { try ada.setObject(nil, forKey: name) }
        #expect(error?.code == .corrupted)
        context.delete(ada)
        if let error = failure({ try context.commit() }) {
          #expect(error.code == .corrupted, "\(name): \(error)")
        }
        context.rollback()
        #expect(!context.hasChanges)
      }
    }
  }

  @Test("Key paths through a target of the wrong entity yield nil")
  func pathsThatLeadToAnotherEntityEndThere() throws {
    try use { world, vandal in
      // A tag's record is shorter than that of a company.
      try vandal.point(world.ada, "company", at: world.tag)
    } _: { _, context in
      #expect(try context.count("Employee", matching: "company.founded != nil") == 0)
      #expect(try context.count("Employee", matching: "company.employees.@count > 0") == 0)
      let sorted = try context.fetch("Employee", sortedBy: ["company.founded"])
      #expect(sorted.count == 1)
    }
  }

  // MARK: Indexes

  @Test(
    "An index entry with the number of an abstract entity is reported as damage",
    arguments: [
      (
        "email == 'ada@arbor'",
        "an index refers to this object, but the object has no record. Check the store."
      ),
      (
        "email IN {'ada@arbor', 'bob@arbor'}",
        "an index or a relationship refers to object number 281474976710657, which belongs to "
          + "another entity."
      ),
    ])
  func anIndexEntryOfAnAbstractEntityIsAnError(predicate: String, damage: String) throws {
    try use { world, vandal in
      let person = ObjectNumber(
        entity: try Draft(vandal.file).entity("Person").number, sequence: 1)
      let index = try vandal.index("Person", "email")
      try vandal.write { transaction, _ in
        let cursor = try transaction.reader.cursor(index)
        while let entry = try cursor.next() {
          guard cursor.number(of: entry) == world.ada.rawValue else { continue }
          let key = Array(entry.key)
          try key.withUnsafeBytes {
            _ = try transaction.delete(index, key: $0)
            _ = try transaction.put(index, key: $0, number: person.rawValue, .overwrite)
          }
          break
        }
      }
    } _: { world, context in
      let matching = try FetchPredicate(format: predicate)
      let error = failure { _ = try context.fetch("Person", matching: matching) }
      #expect(error?.code == .corrupted)
      #expect(
        error?.message
          == "The store is damaged: \(damage) Restore a backup, or recover "
          + "intact objects with PersistentStore.salvage(_:to:model:) or lmdb-inspect salvage "
          + "STORE TARGET; lmdb-inspect check lists the damage.")
    }
  }

  // MARK: Versions

  @Test("An object with the greatest version number can still be changed")
  func theGreatestVersionIsFollowedByAnother() throws {
    try use { world, vandal in
      try vandal.setVersion(world.ada, to: .max)
    } _: { _, context in
      let ada = try ada(context)
      for name in ["Bea", "Cid"] {
        try ada.setValue(.string(name), forKey: "name")
        try context.commit()
      }
      #expect(try ada.value(forKey: "name") == .string("Cid"))
    }
  }

  // MARK: To-many relationships

  @Test("A member of an unknown or unexpected entity is reported as damage")
  func aMemberOfNoEntityOrOfAnotherIsAnError() throws {
    for (entity, name) in [
      ("Employee", "tags"), ("Employee", "favourites"), ("Company", "employees"),
    ] {
      for isNothing in [true, false] {
        try use { world, vandal in
          let database = try vandal.relationship(entity, name)
          let owner = entity == "Company" ? world.company : world.ada
          let member = isNothing ? world.nothing : world.badge
          try vandal.write { transaction, _ in
            guard let order = database.order else {
              _ = try transaction.put(
                database.members, key: owner.rawValue, number: member.rawValue, .overwrite)
              return
            }
            let words = [member.rawValue.bigEndian, 1]
            try withUnsafeBytes(of: owner.rawValue.littleEndian) { key in
              try words.withUnsafeBytes {
                _ = try transaction.put(database.members, key: key, value: $0)
              }
              try words.reversed().withUnsafeBytes {
                _ = try transaction.put(order, key: key, value: $0)
              }
            }
          }
        } _: { _, context in
          let owner = try #require(try context.fetchOne(entity))
          #expect(failure { _ = try owner.objects(forKey: name).fetch() }?.code == .corrupted)
          #expect((owner[name] as [ManagedObject]).isEmpty)
          #expect(failure { _ = try context.count("Tag") }?.code == .corrupted)
          var request = FetchRequest<ManagedObject>(entity: entity)
          request.relationshipKeyPathsForPrefetching = [PropertyPath(name)]
          #expect(failure { _ = try context.fetch(request) }?.code == .corrupted)
        }
      }
    }
  }

  // MARK: Rows

  @Test("A record of an unknown or unexpected entity is reported as damage")
  func aRowOfNoEntityOrOfAnotherIsAnError() throws {
    for isNothing in [true, false] {
      try use { world, vandal in
        try vandal.move(world.badge, to: isNothing ? world.nothing : world.tag)
      } _: { world, context in
        let error = failure { _ = try context.fetch("Badge") }
        let number = (isNothing ? world.nothing : world.tag).rawValue
        #expect(error?.code == .corrupted)
        #expect(
          error?.message
            == "The store is damaged: the object number \(number) is stored with the records of "
            + "another entity. Restore a backup, or recover intact objects with "
            + "PersistentStore.salvage(_:to:model:) or lmdb-inspect salvage STORE TARGET; "
            + "lmdb-inspect check lists the damage.")
        #expect(
          failure { _ = try context.fetchIDs(.init(entity: "Badge")) }?.code == .corrupted)
      }
    }
  }

  @Test("An index entry of an object that doesn't exist is reported as an error")
  func anIndexThatNamesNoObjectIsAnError() throws {
    try use { world, vandal in
      let index = try vandal.index("Tag", "name")
      try vandal.write { transaction, _ in
        let cursor = try transaction.reader.cursor(index)
        let key = Array(try #require(try cursor.first()).key)
        try key.withUnsafeBytes {
          _ = try transaction.put(index, key: $0, number: world.tag.rawValue + 9, .overwrite)
        }
      }
    } _: { _, context in
      #expect(failure { _ = try context.fetch("Tag", matching: "name == 'new'") } != nil)
    }
  }
}
