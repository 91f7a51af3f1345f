import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

/// Insertions whose unique values already exist.
@Suite struct UniqueMergerTests {
  private static let model = Result {
    try ManagedObjectModel {
      EntityDescription("Country") {
        AttributeDescription("code", .string, .optional, .unique)
        AttributeDescription("name", .string, .default(""))
        AttributeDescription("population", .integer64, .default(0))
        AttributeDescription("flag", .binary, .optional, .externalStorage)
        RelationshipDescription("capital", to: "City", inverse: "capitalOf")
        RelationshipDescription("continent", to: "Continent", inverse: "countries")
        RelationshipDescription("cities", to: "City", inverse: "country", .toMany)
        RelationshipDescription("languages", to: "Language", inverse: "countries", .toMany)
        RelationshipDescription("neighbours", to: "Country", inverse: "neighbours", .toMany)
      }
      EntityDescription("City") {
        AttributeDescription("name", .string, .default(""))
        RelationshipDescription("country", to: "Country", inverse: "cities")
        RelationshipDescription("capitalOf", to: "Country", inverse: "capital")
      }
      EntityDescription("Continent") {
        AttributeDescription("name", .string, .default(""))
        RelationshipDescription("countries", to: "Country", inverse: "continent", .toMany, .ordered)
      }
      EntityDescription("Language") {
        RelationshipDescription("countries", to: "Country", inverse: "languages", .toMany)
      }
      EntityDescription("Person") {
        RelationshipDescription("birthplace", to: "Country")
        RelationshipDescription("visited", to: "Country", .toMany, .ordered)
      }
    }
  }

  private func use(_ body: (PersistentStore) throws -> Void) throws {
    try ObjectStore.use(Self.model.get(), inMemory: true, body)
  }

  private static let policies: [(name: String, policy: MergePolicy)] = [
    ("object", .mergeByPropertyObjectWins), ("store", .mergeByPropertyStoreWins),
    ("overwrite", .overwrite), ("rollback", .rollback),
    ("custom", .custom { $0.committedValues.isEmpty ? .objectWins : .rollback }),
  ]

  /// A graph with a stored country and an inserted twin with the same unique value.
  private struct World {
    let context: ManagedObjectContext
    let stored: ManagedObject
    private(set) var twin: ManagedObject
    var objects: [String: ManagedObject] = [:]

    init(_ store: PersistentStore, _ policy: MergePolicy, code: String = "FR") throws {
      context = store.makeContext()
      context.mergePolicy = policy
      stored = try context.insert("Country")
      twin = stored
      stored["code"] = .string(code)
      stored["name"] = "Gaul"
      stored["population"] = 7
      for (name, entity) in [
        ("Paris", "City"), ("Lyon", "City"), ("Europe", "Continent"), ("Asia", "Continent"),
        ("French", "Language"), ("Breton", "Language"), ("Ada", "Person"), ("Spain", "Country"),
      ] {
        objects[name] = try context.insert(entity)
      }
      try object("Paris").setObject(stored, forKey: "country")
      try stored.setObject(object("Asia"), forKey: "continent")
      try stored.objects(forKey: "languages").replaceAll(with: [object("French")])
      try object("Ada").objects(forKey: "visited").replaceAll(with: [object("Spain"), stored])
      try context.commit()
      twin = try context.insert("Country")
      twin["code"] = .string(code)
      twin["name"] = "France"
      twin["flag"] = Data(repeating: 1, count: 100_000)
      try twin.setObject(object("Europe"), forKey: "continent")
      try twin.objects(forKey: "languages").replaceAll(with: [object("Breton")])
      try twin.objects(forKey: "neighbours").replaceAll(with: [object("Spain"), twin])
      try object("Lyon").setObject(twin, forKey: "country")
      try twin.setObject(object("Lyon"), forKey: "capital")
      try object("Ada").setObject(twin, forKey: "birthplace")
    }

    func object(_ name: String) throws -> ManagedObject { try #require(objects[name]) }
  }

  @Test(
    "An inserted object merges into the stored one according to the policy",
    arguments: UniqueMergerTests.policies.map(\.name))
  func theInsertedObjectMergesIntoTheStoredOne(name: String) throws {
    try use { store throws in
      let policy = try #require(Self.policies.first { $0.name == name }).policy
      let world = try World(store, policy)
      let (context, stored, twin) = (world.context, world.stored, world.twin)
      try context.commit()
      let wins = ["object", "overwrite", "custom"].contains(name)
      #expect(stored["name"] == (wins ? "France" : "Gaul"))
      // A default value of the model wasn't set on purpose, so it is merged only when overwriting.
      #expect(stored["population"] == (name == "overwrite" ? 0 : 7))
      #expect((stored["flag"] as Data?)?.count == (wins ? 100_000 : nil))
      #expect(try stored.object(forKey: "continent") === world.object(wins ? "Europe" : "Asia"))
      #expect(try stored.object(forKey: "capital") === world.object("Lyon"))
      #expect(
        try Set(stored.objects(forKey: "cities").fetch()) == [
          world.object("Paris"), world.object("Lyon"),
        ])
      #expect(
        try Set(stored.objects(forKey: "languages").fetch())
          == [world.object("French"), world.object("Breton")])
      #expect(
        try Set(stored.objects(forKey: "neighbours").fetch()) == [world.object("Spain"), stored])
      #expect(try world.object("Ada").object(forKey: "birthplace") === stored)
      #expect(try world.object("Ada").objects(forKey: "visited").fetch().last === stored)
      // The inserted object is in the state of a deleted one.
      #expect(twin.context == nil && twin["name"] == "France" && !context.hasChanges)
      #expect(context.registeredObject(for: twin.objectID) == nil)
      #expect(
        try failure { _ = try context.existingObject(with: twin.objectID) }.code == .objectNotFound)
      #expect(try store.makeContext().count("Country") == 2)
    }
  }

  @Test("The error policy throws for a duplicate and changes nothing")
  func theErrorPolicyThrowsAndChangesNothing() throws {
    try use { store throws in
      let world = try World(store, .error)
      let error = try failure { try world.context.commit() }
      #expect(error.code == .notUnique && error.objectID == world.twin.objectID)
      #expect((error.underlying as? ArborError.OtherObject)?.objectID == world.stored.objectID)
      #expect(world.twin.isInserted && world.stored["name"] == "Gaul")
      #expect(try world.object("Lyon").object(forKey: "country") === world.twin)
      // Under another policy, the same changes are merged.
      world.context.mergePolicy = .mergeByPropertyObjectWins
      try world.context.commit()
      #expect(try world.object("Lyon").object(forKey: "country") === world.stored)
    }
  }

  @Test("The context lists merged objects in both directions")
  func theContextListsMergedObjects() throws {
    try use { store throws in
      let context = store.makeContext()
      context.mergePolicy = .mergeByPropertyObjectWins
      let twins = try (0..<3).map { _ in
        let country = try context.insert("Country")
        country["code"] = "FR"
        return country
      }
      try context.commit()
      let left = try #require(context.fetch(FetchRequest<ManagedObject>(entity: "Country")).first)
      let merged = Set(twins.map(\.objectID)).subtracting([left.objectID])
      #expect(merged.count == 2 && Set(context.mergedObjects.keys) == merged)
      #expect(Set(context.mergedObjects.values) == [left.objectID])
      #expect(context.objects(mergedInto: left.objectID) == merged)
      try context.commit()
      #expect(context.mergedObjects.isEmpty)
      // A view may still hold a merged object.
      let lost = try #require(twins.first { $0 !== left })
      #expect(lost.isDeleted)
      lost["name"] = "Gaul"
      let error = try failure { _ = try context.count("Country") }
      #expect(
        error.message
          == "\(lost.objectID) can no longer be changed or linked to: it was merged into another "
          + "object with the same unique value. Treat it as deleted.")
    }
  }

  @Test("An entity may have a policy of its own for insertions with a unique value")
  func entitiesHavePolicies() throws {
    try use { store throws in
      let world = try World(store, .mergeByPropertyObjectWins)
      world.context.uniquenessPolicies = ["Country": .error]
      #expect(try failure { try world.context.validate() }.code == .notUnique)
      #expect(try failure { try world.context.commit() }.code == .notUnique)
      world.context.uniquenessPolicies = ["Country": .mergeByPropertyStoreWins]
      try world.context.commit()
      #expect(world.stored["name"] == "Gaul")
      // The context's policy doesn't matter for entities that have their own.
      let other = try World(store, .error, code: "DE")
      other.context.uniquenessPolicies = ["Country": .mergeByPropertyObjectWins]
      try other.context.commit()
      #expect(other.stored["name"] == "France")
    }
  }

  @Test("If the commit fails for any reason, the merge is reverted")
  func aCommitThatFailsTakesTheMergeBack() throws {
    try use { store throws in
      let world = try World(store, .mergeByPropertyObjectWins)
      let other = store.makeContext()
      let germany = try other.insert("Country")
      germany["code"] = "DE"
      try other.commit()
      // An object that isn't new may not take the unique value of another one.
      try world.object("Spain")["code"] = "DE"
      let error = try failure { try world.context.commit() }
      #expect(error.code == .notUnique && error.violations.count == 2)
      #expect(world.twin.isInserted && world.twin["code"] == "FR" && world.stored["name"] == "Gaul")
      #expect(try world.object("Ada").object(forKey: "birthplace") === world.twin)
      try world.object("Spain")["code"] = "ES"
      try world.context.commit()
      #expect(try world.object("Ada").object(forKey: "birthplace") === world.stored)
    }
  }

  @Test("Inserted objects with the same unique value are merged into one")
  func insertedTwinsAreOne() throws {
    try use { store throws in
      let context = store.makeContext()
      context.mergePolicy = .mergeByPropertyObjectWins
      let twins = try ["Gaul", "Francia", "France"].map { name in
        let country = try context.insert("Country")
        country["code"] = "FR"
        country["name"] = .string(name) as PropertyValue
        return country
      }
      let ada = try context.insert("Person")
      try ada.setObject(twins[1], forKey: "birthplace")
      try context.commit()
      #expect(twins.map { $0.context != nil } == [true, false, false])
      #expect(twins[0]["name"] == "France")
      #expect(try ada.object(forKey: "birthplace") === twins[0])
      #expect(try context.count("Country") == 1)
    }
  }

  @Test("An insertion is merged into an object that another context inserted in the meantime")
  func aLostRaceIsMerged() throws {
    try use { store throws in
      let contexts = [store.makeContext(), store.makeContext()]
      for (number, context) in contexts.enumerated() {
        context.mergePolicy = .mergeByPropertyObjectWins
        let country = try context.insertOrFetch("Country", where: ["code": "FR"])
        country["population"] = .integer(Int64(number + 1)) as PropertyValue
        let city = try context.insert("City")
        try city.setObject(country, forKey: "country")
      }
      for context in contexts { try context.commit() }
      for context in contexts {
        try context.mergeExternalCommits()
        let country = try context.insertOrFetch("Country", where: ["code": "FR"])
        #expect(!country.isInserted && country["population"] == 2)
        #expect(try country.objects(forKey: "cities").count() == 2)
      }
    }
  }

  @Test("Undo and redo don't bring back a merged object")
  func undoingLeavesNoTraceOfTheMergedObject() throws {
    try use { store throws in
      let world = try World(store, .mergeByPropertyObjectWins)
      let context = world.context
      context.undoHistory = UndoHistory()
      let lyon = try world.object("Lyon")
      let second = try context.insert("Country")
      second["code"] = "FR"
      try lyon.setObject(second, forKey: "country")
      try context.commit()
      #expect(try lyon.object(forKey: "country") === world.stored)
      for _ in 0..<3 {
        context.undo()
        try context.commit()
        #expect(try lyon.object(forKey: "country") !== second)
        context.redo()
        try context.commit()
        #expect(try lyon.object(forKey: "country") !== second)
      }
      #expect(second.context == nil)
      #expect(try context.count("Country") == 2)
    }
  }

  @Test("Fetched results follow a merge of duplicates")
  func resultsAndObserversFollow() throws {
    try use { store throws in
      let world = try World(store, .mergeByPropertyObjectWins)
      let results = try world.context.fetchedResults(
        FetchRequest<ManagedObject>(entity: "Country", predicate: "code == 'FR'"))
      #expect(results.count == 2)
      try world.context.commit()
      #expect(Array(results.objects) == [world.stored])
    }
  }
}
