import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

/// Two commits that each keep the model's rules, but not together.
@Suite("Rules of the model across commits") struct ConcurrentRulesTests {
  /// The outcome of a commit: `committed`, or the code, entity and property of its violations.
  private func outcome(_ context: ManagedObjectContext) throws -> String {
    do throws(ArborError) { try context.commit() } catch {
      #expect(context.hasChanges)
      return (["\(error.code)"] + error.violations.map(\.message)).joined(separator: " / ")
    }
    #expect(!context.hasChanges)
    return "committed"
  }

  private static let policies: [(String, MergePolicy)] = [
    ("objectWins", .mergeByPropertyObjectWins), ("storeWins", .mergeByPropertyStoreWins),
    ("overwrite", .overwrite), ("rollback", .rollback), ("error", .error),
  ]

  /// The expected outcome by list, for policies that keep the deletion.
  private static let outcomes = [
    "cards": "validation / Card.owner has no value. Set one, or make the property optional.",
    "pins": "validation / Box.pins still has members, which its delete rule forbids. Delete or "
      + "move the members first.",
    "tabs": "committed",
  ]

  @Test(
    "A deletion applies its rules to members that another commit has added",
    arguments: ["cards", "pins", "tabs"], [false, true])
  func membersOfDeletedOwners(list: String, isTouched: Bool) throws {
    for (name, policy) in Self.policies {
      try ObjectStore.use(RuledWorld.model()) { store in
        let (here, there) = (store.makeContext(), store.makeContext())
        here.mergePolicy = policy
        let (box, other) = (try box(here), try box(here))
        let member = try here.insert(
          try #require(
            RuledWorld.relationships(of: "Box").first { $0.name == list }?.destination))
        let inverse = list == "pins" ? "holder" : "owner"
        member[inverse] = other
        try here.commit()
        here.delete(box)
        if isTouched { member["n"] = 1 }
        let theirs = try there.existingObject(with: member.objectID)
        theirs[inverse] = try there.existingObject(with: box.objectID)
        try there.commit()
        let result = try outcome(here)
        let boxes = try store.makeContext().count("Box")
        var expected = Self.outcomes[list] ?? ""
        switch name {
        // The member moves back, because it was changed here.
        case "overwrite" where isTouched: expected = "committed"
        case "error" where isTouched || list != "pins": expected = "conflict"
        // The box isn't deleted, but its items are, and it requires at least one.
        case "storeWins" where list != "pins", "rollback" where list != "pins":
          expected =
            "validation / Box.items has no members. Add at least one, or make the relationship "
            + "optional."
        default: break
        }
        #expect(Self.isSame(result, expected), "\(name): \(result)")
        let isDeleted = result == "committed" && ["objectWins", "overwrite"].contains(name)
        #expect(boxes == (isDeleted ? 1 : 2), "\(name): \(result)")
        #expect(try RuledWorld.State(store.makeContext()).brokenRule() == nil)
      }
    }
  }

  /// Returns whether an outcome is as expected. The object that a conflict names depends on the
  /// policy.
  private static func isSame(_ result: String, _ expected: String) -> Bool {
    expected == "conflict" ? result.hasPrefix("conflict / ") : result == expected
  }

  private func box(_ context: ManagedObjectContext) throws -> ManagedObject {
    let box = try context.insert("Box")
    try box.objects(forKey: "items").insert(context.insert("Item"))
    return box
  }

  @Test("Two commits don't assign one partner to two objects that both require one")
  func partners() throws {
    for (name, policy) in Self.policies {
      try ObjectStore.use(RuledWorld.model()) { store in
        let (here, there) = (store.makeContext(), store.makeContext())
        here.mergePolicy = policy
        let desk = try here.insert("Desk")
        try here.commit()
        try here.insert("Person")["desk"] = desk
        try there.insert("Person")["desk"] = try there.existingObject(with: desk.objectID)
        try there.commit()
        let result = try outcome(here)
        // Both have changed the desk.
        let expected =
          name == "error"
          ? "conflict"
          : "validation / Person.desk has no value. Set one, or make the property optional."
        #expect(Self.isSame(result, expected), "\(name): \(result)")
        #expect(try store.makeContext().count("Person") == 1)
      }
    }
  }

  @Test("A custom policy decides before the rules are checked")
  func customPolicies() throws {
    try ObjectStore.use(RuledWorld.model()) { store in
      let (here, there) = (store.makeContext(), store.makeContext())
      let desks = try (0..<3).map { _ in try here.insert("Desk") }
      let people = try (0..<2).map { index in
        let person = try here.insert("Person")
        person["desk"] = desks[index]
        return person
      }
      try here.commit()
      here.mergePolicy = .custom { _ in .storeWins }
      people[0]["desk"] = desks[2]
      try there.existingObject(with: people[1].objectID)["desk"] =
        try there.existingObject(with: desks[2].objectID)
      try there.commit()
      // Until the policy has decided, the other person has no desk.
      _ = try here.count("Desk")
      #expect(try people[1].object(forKey: "desk") == nil)
      #expect(
        try outcome(here)
          == "validation / Person.desk has no value. Set one, or make the property optional.")
      here.rollback()
      #expect(try people.map { try $0.object(forKey: "desk") } == [desks[0], desks[2]])
    }
  }

  @Test("A box that another context has deleted needs no members")
  func membersOfLostOwners() throws {
    for (name, policy) in Self.policies {
      try ObjectStore.use(RuledWorld.model()) { store in
        let (here, there) = (store.makeContext(), store.makeContext())
        here.mergePolicy = policy
        let (box, other) = (try box(here), try box(here))
        let item = try #require(try box.objects(forKey: "items").fetch().first)
        try here.commit()
        item["box"] = other
        there.delete(try there.existingObject(with: box.objectID))
        try there.commit()
        let result = try outcome(here)
        let expected = name == "error" ? "conflict" : "committed"
        #expect(Self.isSame(result, expected), "\(name): \(result)")
        let isRestored = ["objectWins", "overwrite"].contains(name)
        #expect(try store.makeContext().count("Item") == (isRestored ? 2 : 1), "\(name)")
        #expect(try RuledWorld.State(store.makeContext()).brokenRule() == nil)
      }
    }
  }

  @Test("Two commits together don't exceed or fall below the number of members")
  func counts() throws {
    for (name, policy) in Self.policies {
      try ObjectStore.use(RuledWorld.model()) { store in
        let (here, there) = (store.makeContext(), store.makeContext())
        here.mergePolicy = policy
        func person(_ context: ManagedObjectContext) throws -> ManagedObject {
          let person = try context.insert("Person")
          person["desk"] = try context.insert("Desk")
          return person
        }
        let team = try here.insert("Team")
        try team.objects(forKey: "players").insert(person(here))
        try here.commit()
        let theirs = try there.existingObject(with: team.objectID)
        _ = try theirs.objects(forKey: "players").fetch()

        try team.objects(forKey: "players").insert(person(here))
        try theirs.objects(forKey: "players").insert(person(there))
        // The context doesn't see the other commit before it writes.
        let tooMany = try here.withSnapshot {
          try there.commit()
          return try outcome(here)
        }
        #expect(
          tooMany
            == (name == "error"
              ? "conflict / Team 1.players has 3 members, which exceeds the maximum of 2, together "
                + "with the changes of another commit. Correct the members and try again."
              : "validation / Team.players has 3 members, which exceeds the maximum of 2."))
        here.rollback()

        let players = try team.objects(forKey: "players").fetch()
        here.delete(players[0])
        there.delete(try there.existingObject(with: players[1].objectID))
        let tooFew = try here.withSnapshot {
          try there.commit()
          return try outcome(here)
        }
        #expect(
          tooFew
            == (name == "error"
              ? "conflict / Team 1.players has no members, which is below the minimum of 1, together "
                + "with the changes of another commit. Correct the members and try again."
              : "validation / Team.players has no members. Add at least one, or make the "
                + "relationship optional."))
      }
    }
  }

  @Test("The rule noAction leaves no mandatory relationship without a target")
  func noAction() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Box") {
        RelationshipDescription(
          "cards", to: "Card", inverse: "owner", .toMany, deleteRule: .noAction)
      }
      EntityDescription("Card") {
        RelationshipDescription("owner", to: "Box", inverse: "cards", .mandatory)
      }
    }
    try ObjectStore.use(model) { store in
      let context = store.makeContext()
      let (box, card) = (try context.insert("Box"), try context.insert("Card"))
      card["owner"] = box
      try context.commit()
      context.delete(box)
      #expect(try outcome(context) == Self.outcomes["cards"])
    }
  }

  @Test("Deleting an object again applies its rules to members that another commit has added")
  func deletingAgain() throws {
    try ObjectStore.use(RuledWorld.model()) { store in
      let (here, there) = (store.makeContext(), store.makeContext())
      let box = try box(here)
      try here.commit()
      here.delete(box)
      try there.insert("Tab")["owner"] = try there.existingObject(with: box.objectID)
      try there.commit()
      #expect(try outcome(here).hasPrefix("conflict"))
      here.delete(box)
      #expect(try outcome(here) == "committed")
      #expect(try there.count("Tab") == 0)
    }
  }

  @Test("The check reports mandatory relationships without a target and wrong numbers of members")
  func check() throws {
    // A model that becomes stricter doesn't change what the store contains.
    let lax = RuledWorld.model(isLax: true)
    let folder = try TemporaryFolder()
    let location = StoreLocation.file(folder.url.appending(path: "objects.arbor"))
    let first = try PersistentStore(model: lax, at: location)
    let context = first.makeContext()
    _ = try context.insert("Card")
    _ = try context.insert("Box")
    try context.commit()
    try first.check()
    first.close()
    let strict = try PersistentStore(model: RuledWorld.model(), at: location)
    defer { strict.close() }
    let error = try failure { try strict.check() }
    #expect(error.code == .validation)
    #expect(
      error.message
        == "The store has 2 problems: objects violate the model's rules. Correct the objects and "
        + "commit them.")
    #expect(
      error.violations.map(\.message) == [
        "Box/1.items has no members, which is below the minimum of 1.",
        "Card/1.owner is nil but must have a value.",
      ])
    #expect(error.violations.allSatisfy { $0.code == .validation })
  }
}
