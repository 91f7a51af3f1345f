import ArborData
import Foundation
import TestLength
import TestSupport
import Testing

/// Migrations in which a relationship and its inverse change their form, are added, or are removed.
@Suite("Migrations that change a relationship and its inverse") struct InverseMigrationTests {
  /// The form of one side of the links between doors and keys.
  enum Form: String, CaseIterable, Sendable { case none, toOne, toMany, ordered }

  /// The naming of a side that both models have.
  enum Naming: CaseIterable { case kept, renamed, replaced }

  private typealias Link = ConceptObjects.Link

  private struct Sides {
    var forms: [Form]
    var names = ["keys", "doors"]
    var former: [String?] = [nil, nil]

    /// Returns a model of doors and keys, both inheriting from a thing.
    func model(isMandatory: Bool = false) -> ManagedObjectModel {
      let id = AttributeDescription(name: "id", type: .integer64)
      var model = ManagedObjectModel(entities: [
        EntityDescription(name: "Key", parent: "Thing"),
        EntityDescription(name: "Thing", isAbstract: true, attributes: [id]),
        EntityDescription(name: "Door", parent: "Thing"),
      ])
      for (end, entity) in [(0, 2), (1, 0)] where forms[end] != .none {
        let other = model.entities[2 - entity].name
        model.entities[entity].relationships = [
          RelationshipDescription(
            name: names[end], destination: other,
            inverse: forms[1 - end] == .none ? nil : names[1 - end],
            isToMany: forms[end] != .toOne, isOrdered: forms[end] == .ordered,
            minimumCount: isMandatory && end == 1 && forms[1] != .toOne ? 1 : 0,
            isOptional: !(isMandatory && end == 1), renamingIdentifier: former[end])
        ]
      }
      return model
    }

    func plain(_ links: [Link]) -> PlainObjects {
      var plain = PlainObjects()
      for (end, entity) in [(0, "Door"), (1, "Key")] {
        for number in Int64(1)...4 {
          let id = number + Int64(10 * end)
          plain.values[entity, default: [:]][id] = ["id": .integer(id)]
          guard forms[end] != .none else { continue }
          let members = links.filter { $0[end] == id }.map { $0[1 - end] }
          plain.links[entity, default: [:]][id] = [
            names[end]: forms[end] == .ordered ? members : members.sorted()
          ]
        }
      }
      return plain
    }
  }

  /// Returns links that relationships of the given forms can have.
  private static func links(_ forms: [[Form]]) -> [Link] {
    let all = [(2, 13), (1, 12), (1, 11), (3, 12), (2, 11), (3, 14), (4, 13)].map {
      Link(owner: $0.0, member: $0.1)
    }
    var fitting: [Link] = []
    for link in all {
      let fits = [0, 1].allSatisfy { end in
        !forms.contains { $0[end] == .toOne } || !fitting.contains { $0[end] == link[end] }
      }
      if fits { fitting.append(link) }
    }
    return fitting
  }

  private static let forms = Form.allCases.flatMap { one in
    Form.allCases.map { [one, $0] }
  }.filter { $0 != [.none, .none] }

  @Test(
    "Links survive every change of a relationship and its inverse if one side remains",
    arguments: forms)
  func everyPair(old: [Form]) throws {
    let namings: [[Naming]] = [
      [.kept, .kept], [.renamed, .renamed], [.kept, .replaced], [.replaced, .kept],
    ]
    var random = SeededRandom()
    for new in Self.forms {
      for naming in TestLength.of(namings.shuffled(using: &random).prefix(1), long: namings[...]) {
        let (before, links) = (Sides(forms: old), Self.links([old, new]))
        var after = Sides(forms: new)
        var isKept = false
        for end in [0, 1] where new[end] != .none {
          if naming[end] != .kept { after.names[end] += "2" }
          if naming[end] == .renamed { after.former[end] = before.names[end] }
          if naming[end] != .replaced, old[end] != .none { isKept = true }
        }
        var trial = try ModelTrial(
          from: before.model(), before.plain(links), to: after.model(),
          after.plain(isKept ? links : []))
        trial.returned = before.plain(isKept ? links : [])
        for end in [0, 1] {
          // The order of members is unspecified unless it was migrated.
          let stays = old[end] == .ordered && new[end] == .ordered && naming[end] != .replaced
          guard !stays else { continue }
          let entity = ["Door", "Key"][end]
          trial.freeOrders.formUnion([
            "\(entity).\(before.names[end])", "\(entity).\(after.names[end])",
          ])
        }
        let all: [ModelTrial.Ending] = [.revert, .back, .copy, .revertOverCommits]
        let endings = TestLength.of(all.shuffled(using: &random).prefix(1), long: all[...])
        for ending in endings {
          do { try trial.fresh().run(ending, &random) } catch {
            Issue.record("\(old) becomes \(new), \(naming), then \(ending): \(error)")
          }
        }
      }
    }
  }

  @Test(
    "Owners that share a target prevent a to-one inverse",
    arguments: [Form.none, .toMany, .ordered])
  func sharedTargets(former: Form) throws {
    let before = Sides(forms: [.toOne, former])
    var after = Sides(forms: [.toOne, .toOne])
    after.names[1] = "door"
    let links = [(1, 11), (3, 11), (2, 12)].map { Link(owner: $0.0, member: $0.1) }
    let store = try EvolvingStore(before.model(), before.plain(links))
    let options = StoreOptions(migration: .automatic(dropping: .everythingRemoved))
    let refusal = try store.refusal(of: after.model(), options, begins: true)
    let expected = """
      Door.keys: there are 2 objects with a target that other objects link to as well, although \
      Key.door is to-one (Door 1, Door 3). Change the objects with the former model, or use a \
      MigrationStep to migrate them.
      """
    #expect(refusal.violations.map(\.message) == [expected])
    let plan = try PersistentStore.migrationPlan(
      for: store.url, to: after.model(), options: options)
    #expect(plan.obstacles.map(\.message) == [expected])
    #expect(plan.obstacles.first?.objectIDs.map(\.number) == [1, 3])
    try store.change { context, plain in
      let request = FetchRequest<ManagedObject>(entity: "Door", predicate: "id == 3")
      try #require(try context.fetch(request).first)["keys"] = ManagedObject?.none
      plain = before.plain([links[0], links[2]])
    }
    try store.evolve(to: after.model(), options) { $0 = after.plain([links[0], links[2]]) }
  }

  @Test("A step can decide which owner of a shared target keeps it")
  func aStepDecides() throws {
    let before = Sides(forms: [.toOne, .none])
    var after = Sides(forms: [.toOne, .toOne])
    after.names[1] = "door"
    let links = [(1, 11), (3, 11), (2, 12)].map { Link(owner: $0.0, member: $0.1) }
    let store = try EvolvingStore(before.model(), before.plain(links))
    var options = StoreOptions()
    options.migrationSteps = [
      MigrationStep(from: before.model(), to: after.model()) { migration in
        try migration.migrate("Door") { old, new in
          let key = try old.object(forKey: "keys").flatMap { try migration.object(for: $0) }
          if try key?.object(forKey: "door") == nil || new["id"] == Int64(3) { new["keys"] = key }
        }
      }
    ]
    try store.open(with: after.model(), options) { $0 = after.plain([links[1], links[2]]) }
  }

  @Test("A mandatory inverse is satisfied by existing links")
  func mandatoryInverses() throws {
    let all = (Int64(1)...4).map { Link(owner: $0, member: 15 - $0) }
    for form in [Form.toOne, .toMany, .ordered] {
      let before = Sides(forms: [.toOne, .none])
      let after = Sides(forms: [.toOne, form])
      let model = after.model(isMandatory: true)
      let store = try EvolvingStore(before.model(), before.plain(Array(all.dropFirst())))
      let refusal = try store.refusal(of: model)
      #expect(refusal.violations.map(\.keyPath) == ["doors"], "\(form): \(refusal)")
      #expect(refusal.violations.first?.message.contains("1 object") == true, "\(refusal)")
      let plan = try PersistentStore.migrationPlan(for: store.url, to: model)
      #expect(plan.obstacles.map(\.message) == refusal.violations.map(\.message))
      let full = try EvolvingStore(before.model(), before.plain(all))
      try full.evolve(to: model) { $0 = after.plain(all) }
    }
  }

  /// Two unrelated relationships become each other's inverse.
  @Test("Links that contradict each other prevent a migration")
  func contradictions() throws {
    func model(areInverse: Bool) -> ManagedObjectModel {
      var model = Sides(forms: [.toOne, .toOne]).model()
      guard !areInverse else { return model }
      for index in [0, 2] { model.entities[index].relationships[0].inverse = nil }
      return model
    }
    let sides = Sides(forms: [.toOne, .toOne])
    let links = [Link(owner: 1, member: 11), Link(owner: 2, member: 12)]
    let store = try EvolvingStore(model(areInverse: false), sides.plain(links))
    try store.evolve(to: model(areInverse: true))
    try store.evolve(to: model(areInverse: false))
    try store.change { context, plain in
      let request = FetchRequest<ManagedObject>(entity: "Key", predicate: "id == 12")
      try #require(try context.fetch(request).first)["doors"] = ManagedObject?.none
      plain.links["Key"]?[12]?["doors"] = []
    }
    let refusal = try store.refusal(of: model(areInverse: true), begins: true)
    let expected = """
      Door.keys: there is 1 object with links without a counterpart in the inverse of keys (Door \
      2). Change the objects with the former model, or use a MigrationStep to migrate them.
      """
    #expect(refusal.violations.map(\.message) == [expected])
    let plan = try PersistentStore.migrationPlan(for: store.url, to: model(areInverse: true))
    #expect(plan.obstacles.map(\.message) == [expected])
  }
}
