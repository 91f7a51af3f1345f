import ArborData
import Foundation
import TestLength
import TestSupport
import Testing

/// Migrations that change the parts of composite types, compared with a plain conversion of
/// dictionaries.
@Suite("Migrations between versions of composite types") struct CompositeMigrationTests {
  // MARK: Examples

  private static func model(
    _ version: String, _ parts: [AttributeDescription], spot: [AttributeDescription] = []
  ) -> ManagedObjectModel {
    let attributes = [
      AttributeDescription(name: "id", type: .integer64),
      AttributeDescription(name: "home", type: .composite("Address"), isOptional: true),
    ]
    return ManagedObjectModel(
      entities: [EntityDescription(name: "Person", attributes: attributes)],
      composites: [
        CompositeDescription(name: "Address", attributes: parts),
        CompositeDescription(name: "Spot", attributes: spot),
      ], versionIdentifier: version)
  }

  private static func text(_ name: String, isOptional: Bool = true) -> AttributeDescription {
    AttributeDescription(name: name, type: .string, isOptional: isOptional)
  }

  private static let riga = [
    Int64(1): ["id": PropertyValue.integer(1), "home": .composite(["city": "Riga"])],
    2: ["id": .integer(2), "home": .null],
  ]

  private static func store(_ model: ManagedObjectModel) throws -> EvolvingStore {
    try EvolvingStore(model, PlainObjects(values: ["Person": riga]))
  }

  @Test("Parts are added with their defaults, and renamed, without code")
  func partsAreAddedAndRenamed() throws {
    let store = try Self.store(Self.model("1", [Self.text("city")]))
    var town = Self.text("town")
    town.renamingIdentifier = "city"
    var country = Self.text("country", isOptional: false)
    country.defaultValue = "LV"
    let newer = Self.model("2", [town, country, Self.text("street")])
    let plan = try PersistentStore.migrationPlan(for: store.url, to: newer)
    #expect(plan.obstacles.isEmpty && plan.losses.isEmpty && !plan.isInPlace)
    try store.evolve(to: newer) {
      $0.values["Person"]?[1]?["home"] = .composite(["town": "Riga", "country": "LV"])
    }
  }

  @Test("A removed part is a named loss")
  func removedPartsAreNamed() throws {
    let store = try Self.store(Self.model("1", [Self.text("city"), Self.text("street")]))
    let newer = Self.model("2", [Self.text("street")])
    let refusal = try store.refusal(of: newer)
    #expect(
      refusal.violations.map(\.message) == [
        """
        the part Address.city is removed, its values are dropped; list "Address.city" in \
        options.migration = .automatic(dropping:) to drop it, or use a MigrationStep to \
        convert it.
        """
      ])
    try store.evolve(to: newer, dropping: ["Address.city"]) {
      $0.values["Person"]?[1]?["home"] = .composite([:])
    }
  }

  @Test("Objects without a mandatory part, or with one that doesn't fit, are counted")
  func missingPartsAreCounted() throws {
    let part = AttributeDescription(name: "zip", type: .integer64, isOptional: true)
    let store = try Self.store(Self.model("1", [Self.text("city"), part]))
    try store.change { context, plain in
      let person = try context.insert("Person")
      let home = PropertyValue.composite(["city": "Bonn", "zip": .integer(100_000)])
      (person["id"], person["home"]) = (PropertyValue.integer(3), home)
      plain.values["Person"]?[3] = ["id": .integer(3), "home": home]
    }
    let zip = AttributeDescription(name: "zip", type: .integer16)
    let newer = Self.model("2", [Self.text("city", isOptional: false), zip])
    let plan = try PersistentStore.migrationPlan(for: store.url, to: newer)
    #expect(
      plan.obstacles.map(\.message) == [
        """
        Person.home: there is 1 object with no value of home.zip (Person 1). Change the objects \
        with the former model, or use a MigrationStep to migrate them.
        """,
        """
        Person.home: there is 1 object with a value of home.zip that integer16 cannot hold \
        (Person 65). Change the objects with the former model, or use a MigrationStep to migrate \
        them.
        """,
      ])
    let refusal = try store.refusal(of: newer, begins: true)
    #expect(refusal.violations.map(\.message) == plan.obstacles.map(\.message))
  }

  @Test("Without passes, a changed part is refused")
  func lightweightMigrationsDoNotConvertParts() throws {
    let store = try Self.store(Self.model("1", [Self.text("city")]))
    let newer = Self.model("2", [Self.text("city"), Self.text("street")])
    let refusal = try store.refusal(of: newer, StoreOptions(migration: .lightweightOnly))
    #expect(
      refusal.violations.map(\.message) == [
        """
        the part Address.street is added, existing objects have nil; it needs a pass over the objects, which \
        .lightweightOnly doesn't make. Set options.migration to .automatic.
        """
      ])
  }

  @Test("A renamed type whose nested type changes is a named loss")
  func renamedTypesDoNotLoseTheirValues() throws {
    func model(_ name: String, _ spot: [AttributeDescription]) -> ManagedObjectModel {
      ManagedObjectModel(
        entities: [
          EntityDescription(
            name: "Person",
            attributes: [
              AttributeDescription(name: "id", type: .integer64),
              AttributeDescription(name: "home", type: .composite(name), isOptional: true),
              AttributeDescription(name: "place", type: .composite("Spot"), isOptional: true),
            ])
        ],
        composites: [
          CompositeDescription(
            name: name,
            attributes: [
              AttributeDescription(name: "spot", type: .composite("Spot"), isOptional: true)
            ]),
          CompositeDescription(name: "Spot", attributes: spot),
        ], versionIdentifier: name)
    }
    let home = PropertyValue.composite(["spot": .composite(["x": "1"])])
    let plain = PlainObjects(
      values: ["Person": [1: ["id": .integer(1), "home": home, "place": .null]]])
    let store = try EvolvingStore(model("Address", [Self.text("x")]), plain)
    let newer = model("PostalAddress", [Self.text("x"), Self.text("y")])
    let refusal = try store.refusal(of: newer)
    #expect(refusal.violations.map(\.keyPath) == ["home"])
    try store.evolve(to: newer, dropping: ["Person.home"]) {
      $0.values["Person"]?[1]?["home"] = .null
    }
  }

  @Test("A type whose only attribute is removed may change")
  func unusedTypesMayChange() throws {
    let store = try Self.store(Self.model("1", [Self.text("city"), Self.text("street")]))
    var newer = Self.model("2", [Self.text("city")])
    newer.entities[0].attributes.removeLast()
    try store.evolve(to: newer, dropping: ["Person.home"]) {
      for id in [Int64(1), 2] { $0.values["Person"]?[id]?["home"] = nil }
    }
  }

  // MARK: Random versions

  @Test(
    "Values follow random changes of their parts",
    arguments: 0..<TestLength.of(60, long: 2000))
  func valuesFollowTheirParts(round: Int) throws {
    let given = ProcessInfo.processInfo.environment["ARBOR_SEED"].flatMap { UInt64($0) }
    var random = given.map { SeededRandom(seed: $0) } ?? SeededRandom()
    let seed = random.seed
    do {
      var versions = PartVersions(&random)
      let values = (1...Int64.random(in: 1...6, using: &random)).map { id in
        (id, versions.value(&random))
      }
      let plain = Dictionary(
        uniqueKeysWithValues: values.map { ($0, ["id": .integer($0), "home": $1]) })
      let former = Self.model("1", versions.address.former, spot: versions.spot.former)
      let store = try EvolvingStore(former, PlainObjects(values: ["Person": plain]))
      versions.change(&random)
      let newer = Self.model("2", versions.address.newer, spot: versions.spot.newer)
      try Self.migrate(store, to: newer, versions)
    } catch {
      Issue.record("seed \(seed): \(error)")
    }
  }

  private static func migrate(
    _ store: EvolvingStore, to newer: ManagedObjectModel, _ versions: PartVersions
  ) throws {
    let losses = versions.losses
    let plan = try PersistentStore.migrationPlan(for: store.url, to: newer)
    #expect(Set(plan.losses.map(\.name)) == losses)
    var fits = true
    let converted = store.plain.values["Person"]?.mapValues { values in
      guard let home = values["home"] else { return values }
      guard let converted = versions.converted(home) else {
        fits = false
        return values
      }
      return ["id": values["id"] ?? .null, "home": converted]
    }
    #expect(plan.obstacles.isEmpty == (fits && losses.isEmpty), "\(plan)")
    let options = StoreOptions(migration: .automatic(dropping: .init(Array(losses))))
    let named = try PersistentStore.migrationPlan(for: store.url, to: newer, options: options)
    #expect(named.obstacles.isEmpty == fits, "\(named)")
    guard fits, let converted else {
      #expect(try store.refusal(of: newer, options, begins: true).code == .modelMismatch)
      return
    }
    try store.evolve(to: newer, options) { $0.values["Person"] = converted }
  }

  @Test("The comparison finds values that don't follow a renamed part")
  func findsValuesThatStay() throws {
    let store = try Self.store(Self.model("1", [Self.text("city")]))
    var town = Self.text("town")
    town.renamingIdentifier = "city"
    #expect(throws: EvolvingStore.Mismatch.self) {
      try store.evolve(to: Self.model("2", [town]))
    }
  }
}
