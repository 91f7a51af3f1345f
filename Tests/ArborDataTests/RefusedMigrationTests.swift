import ArborData
import Foundation
import TestSupport
import Testing

@Suite("Refused migrations and the remedies that they suggest") struct RefusedMigrationTests {
  typealias Fill = LossyChange.Fill

  private static func dropping(_ names: Set<String>) -> StoreOptions {
    StoreOptions(migration: .automatic(dropping: .init(Array(names))))
  }

  // MARK: Losses

  @Test("Listing what a refusal suggests is enough", arguments: LossyChange.all)
  func aNamedLossIsAccepted(loss: LossyChange) throws {
    let archive = try Archive(loss.former(), loss.fill)
    let newer = try loss.newer()
    let refusal = try archive.refusal(newer)
    #expect(refusal.code == .modelMismatch)
    let offered = refusal.violations.flatMap {
      $0.message.matches(of: /list "([^"]+)" in options/).map { String($0.output.1) }
    }
    #expect(Set(offered) == loss.names, "\(refusal)")
    let plan = try PersistentStore.migrationPlan(for: archive.url, to: newer)
    #expect(plan.obstacles.map(\.message) == refusal.violations.map(\.message))
    let options = Self.dropping(loss.names)
    #expect(
      try PersistentStore.migrationPlan(for: archive.url, to: newer, options: options).obstacles
        .isEmpty)
    try archive.open(newer, options)
  }

  @Test("Empty entities never prevent a migration", arguments: LossyChange.all)
  func anEmptyEntityIsNoObstacle(loss: LossyChange) throws {
    let archive = try Archive(loss.former())
    let newer = try loss.newer()
    #expect(try PersistentStore.migrationPlan(for: archive.url, to: newer).obstacles.isEmpty)
    try archive.open(newer)
    // The reverse migration loses nothing either.
    try archive.open(loss.former())
  }

  @Test(
    "Relationships without links never prevent a migration",
    arguments: LossyChange.all.filter { $0.unlinked != nil })
  func aRelationshipWithoutLinksIsNoObstacle(loss: LossyChange) throws {
    let archive = try Archive(loss.former(), try #require(loss.unlinked))
    let newer = try loss.newer()
    #expect(try PersistentStore.migrationPlan(for: archive.url, to: newer).obstacles.isEmpty)
    #expect(try archive.open(newer) { try $0.count("Album") } == 1)
  }

  @Test("An open store cannot be migrated, even if only an empty entity is removed")
  func aStoreThatIsOpenIsInUseWhateverIsEmpty() throws {
    func model(_ isNewer: Bool) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        EntityDescription("House") {}
        if !isNewer { EntityDescription("Street") {} }
      }
    }
    let archive = try Archive(model(false)) { _ = try $0.insert("House") }
    let open = try PersistentStore(model: model(false), at: .file(archive.url))
    #expect(try archive.refusal(model(true)).code == .inUse)
    open.close()
    try archive.open(model(true))
  }

  @Test("A composite type may change if only empty entities use it")
  func compositesOfEmptyEntitiesAreNoObstacle() throws {
    func model(_ type: AttributeType) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        CompositeDescription("Place") { AttributeDescription("code", type, .optional) }
        EntityDescription("House") { AttributeDescription("place", .composite("Place"), .optional) }
        EntityDescription("Street") { AttributeDescription("name", .string, .optional) }
      }
    }
    let archive = try Archive(model(.string)) { try $0.insert("Street")["name"] = "High Street" }
    #expect(try PersistentStore.migrationPlan(for: archive.url, to: model(.date)).obstacles.isEmpty)
    try archive.open(model(.date)) {
      #expect(try $0.count("Street") == 1)
      try $0.insert("House")["place"] = PropertyValue.composite(["code": .date(Date())])
      try $0.commit()
    }
  }

  @Test("An empty entity is no obstacle to a migration without a pass", arguments: LossyChange.all)
  func anEmptyEntityTakesNoPass(loss: LossyChange) throws {
    let (former, newer) = (try loss.former(), try loss.newer())
    let other = ["Picture", "Song"].first { former.entity(named: $0) != nil }
    let archive = try Archive(former) { context in
      if let other { _ = try context.insert(other) }
    }
    let options = StoreOptions(migration: .lightweightOnly)
    let plan = try PersistentStore.migrationPlan(for: archive.url, to: newer, options: options)
    #expect(plan.obstacles.isEmpty, "\(plan)")
    try archive.open(newer, options) { context throws in
      if let other { #expect(try context.count(other) == 1) }
    }
  }

  @Test("A narrower type for an empty entity requires no pass")
  func narrowingOfAnEmptyEntity() throws {
    func model(_ type: AttributeType) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        EntityDescription("House") { AttributeDescription("number", type, .optional) }
        EntityDescription("Street") { AttributeDescription("name", .string, .optional) }
      }
    }
    let options = StoreOptions(migration: .lightweightOnly)
    let archive = try Archive(model(.integer64)) { try $0.insert("Street")["name"] = "High Street" }
    try archive.open(model(.integer16), options) {
      #expect(try $0.count("Street") == 1)
      try $0.insert("House")["number"] = 7
      try $0.commit()
    }
    let other = try Archive(model(.integer64)) { try $0.insert("House")["number"] = 7 }
    let refusal = try other.refusal(model(.integer16), options)
    #expect(refusal.violations.map(\.keyPath) == ["number"])
  }

  // MARK: Suggested remedies

  /// Returns options with a step that visits every object.
  private static func visiting(
    _ former: ManagedObjectModel, _ newer: ManagedObjectModel,
    _ fill: @escaping @Sendable (_ old: ManagedObject, _ new: ManagedObject) throws -> Void = {
      _, _ in
    }
  ) -> StoreOptions {
    var options = StoreOptions()
    options.migrationSteps = [
      MigrationStep(from: former, to: newer) { migration in
        for entity in former.entities where !entity.isAbstract {
          if newer.entity(named: entity.name)?.isAbstract == false {
            try migration.migrate(entity.name) { old, new in
              if old.entity.name == entity.name { try fill(old, new) }
            }
          } else {
            try migration.forEach(entity.name) { _ in }
          }
        }
      }
    ]
    return options
  }

  @Test("A step resolves the refusal that suggests it", arguments: LossyChange.all)
  func aStepAcceptsALoss(loss: LossyChange) throws {
    let (former, newer) = (try loss.former(), try loss.newer())
    let archive = try Archive(former, loss.fill)
    let refusal = try archive.refusal(newer)
    #expect(
      refusal.violations.allSatisfy { $0.message.contains("use a MigrationStep to convert it.") })
    try archive.open(newer, Self.visiting(former, newer))
  }

  @Test(
    "Deleting objects or links with the former model resolves the refusal that suggests it",
    arguments: LossyChange.all.filter(\.suggestsDeleting))
  func theFormerModelRemovesALoss(loss: LossyChange) throws {
    let (former, newer) = (try loss.former(), try loss.newer())
    let archive = try Archive(former, loss.fill)
    let offers = try archive.refusal(newer).violations.filter {
      $0.message.contains("with the former model")
    }
    try #require(!offers.isEmpty)
    try archive.write(former) { context in
      for offer in offers {
        let objects = try context.fetch(
          FetchRequest<ManagedObject>(entity: try #require(offer.entity)))
        for object in objects {
          if offer.message.contains("delete its objects") {
            context.delete(object)
          } else {
            let name = try #require(offer.keyPath)
            let relationship = try #require(
              former.entities.lazy.flatMap(\.relationships).first { $0.name == name })
            if relationship.isToMany {
              object[name] = [ManagedObject]()
            } else {
              object[name] = nil as ManagedObject?
            }
          }
        }
      }
    }
    try archive.open(newer)
  }

  @Test("Every suggestion of a refusal resolves it", arguments: Obstructed.all)
  func waysForObjects(obstructed: Obstructed) throws {
    let (former, newer) = (try obstructed.former(), try obstructed.newer())
    let archive = try Archive(former, obstructed.fill)
    let refusal = try #require(throws: ArborError.self) { try archive.open(newer) }
    #expect(refusal.code == .modelMismatch)
    #expect(refusal.violations.map(\.keyPath) == [obstructed.property], "\(refusal)")
    for violation in refusal.violations {
      #expect(violation.message.contains("MigrationStep"), "\(violation.message)")
      #expect(
        violation.message.contains("with the former model") == (obstructed.fix != nil),
        "\(violation.message)")
    }
    try archive.open(newer, Self.visiting(former, newer, obstructed.step))
    guard let fix = obstructed.fix else { return }
    let fixed = try Archive(former, obstructed.fill)
    try fixed.write(former, StoreOptions(), fix)
    try fixed.open(newer)
  }

  // MARK: Steps

  private static func tasks(_ parent: String? = nil, isNew: Bool = true) throws
    -> ManagedObjectModel
  {
    try ManagedObjectModel {
      if parent != nil || !isNew {
        EntityDescription("Base", isAbstract: true) {
          if parent != nil { AttributeDescription("uuid", .string) }
        }
      }
      EntityDescription("Task", parent: parent) {
        AttributeDescription("title", .string, .optional)
      }
      EntityDescription("Job", parent: "Task") {}
    }
  }

  @Test(
    "A step sets the attributes that an entity inherits through a new parent",
    arguments: ["Task", "Base"], [true, false])
  func aStepFillsWhatANewParentHas(name: String, isNew: Bool) throws {
    let (former, newer) = (try Self.tasks(isNew: isNew), try Self.tasks("Base"))
    let archive = try Archive(former) {
      try $0.insert("Task")["title"] = "a"
      try $0.insert("Job")["title"] = "b"
    }
    let refusal = try archive.refusal(newer)
    #expect(refusal.violations.map(\.entity) == ["Task", "Job"])
    #expect(
      refusal.violations.allSatisfy { $0.message.contains("or use a MigrationStep to fill it") })
    var options = StoreOptions()
    options.migrationSteps = [
      MigrationStep(from: former, to: newer) { migration in
        try migration.migrate(name) { old, new in
          new["uuid"] = "\(old["title"] as String)!"
        }
      }
    ]
    try archive.open(newer, options) { context in
      let found = try context.fetch(
        FetchRequest<ManagedObject>(entity: "Task", sortKeys: ["title"]))
      #expect(found.map { $0["uuid"] as String } == ["a!", "b!"])
    }
  }

  @Test("The error names the mandatory attribute that a step left without a value")
  func aStepThatFillsNothingIsToldWhatIsMissing() throws {
    let (former, newer) = (try Self.tasks(), try Self.tasks("Base"))
    let archive = try Archive(former) { try $0.insert("Task")["title"] = "a" }
    var options = StoreOptions()
    options.migrationSteps = [MigrationStep(from: former, to: newer) { _ in }]
    let error = try #require(
      throws: ArborError.self,
      performing: {
        try PersistentStore(model: newer, at: .file(archive.url), options: options).close()
      })
    #expect(error.violations.map(\.keyPath) == ["uuid"])
    try archive.open(former)
  }

  @Test("A plan with a step that converts an attribute doesn't list it as lost")
  func aConvertedAttributeIsNotLost() throws {
    func model(_ type: AttributeType) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        EntityDescription("Reading") {
          AttributeDescription("value", type, .optional)
          if type == .string { AttributeDescription("unit", .string, .optional) }
        }
      }
    }
    let (former, newer) = (try model(.string), try model(.date))
    let archive = try Archive(former) { try $0.insert("Reading")["value"] = "12" }
    #expect(
      try PersistentStore.migrationPlan(for: archive.url, to: newer).losses.map(\.name)
        == ["Reading.value", "Reading.unit"])
    var options = StoreOptions()
    options.migrationSteps = [
      MigrationStep(from: former, to: newer) { migration in
        try migration.migrate("Reading") { old, new in
          new["value"] = Double(old["value"] as String).map {
            Date(timeIntervalSinceReferenceDate: $0)
          }
        }
      }
    ]
    let plan = try PersistentStore.migrationPlan(for: archive.url, to: newer, options: options)
    #expect(plan.losses.map(\.name) == ["Reading.unit"] && plan.obstacles.isEmpty)
    try archive.open(newer, options) { context in
      let value: Date? = try context.fetch("Reading")[0]["value"]
      #expect(value == Date(timeIntervalSinceReferenceDate: 12))
    }
  }

  @Test("A step need not process empty entities")
  func aStepNeedNotVisitEmptyEntities() throws {
    func model(_ isNewer: Bool) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        EntityDescription("Note") {
          AttributeDescription("text", .string, .optional)
          if !isNewer { AttributeDescription("words", .integer32, .optional) }
        }
        EntityDescription("List") {
          if !isNewer {
            AttributeDescription("title", .string, .optional)
            RelationshipDescription("notes", to: "Note", .toMany)
          }
        }
      }
    }
    let (former, newer) = (try model(false), try model(true))
    let archive = try Archive(former) { try $0.insert("Note")["text"] = "a" }
    var options = StoreOptions()
    options.migrationSteps = [
      MigrationStep(from: former, to: newer) { try $0.migrate("Note") { _, _ in } }
    ]
    try archive.open(newer, options)
  }

  // MARK: Combined obstacles

  @Test("Obstacles in the model and in objects are reported together")
  func allObstaclesComeAtOnce() throws {
    let former = try ManagedObjectModel {
      EntityDescription("Author") {
        AttributeDescription("name", .string, .optional)
        AttributeDescription("age", .integer64, .optional)
        RelationshipDescription("books", to: "Book", .toMany)
      }
      EntityDescription("Book") {
        AttributeDescription("title", .string, .optional)
        AttributeDescription("note", .string, .optional)
      }
    }
    let newer = try ManagedObjectModel {
      EntityDescription("Author") {
        AttributeDescription("name", .string, .optional, .unique)
        AttributeDescription("age", .integer16, .optional)
        RelationshipDescription("books", to: "Book")
      }
      EntityDescription("Book") {
        AttributeDescription("title", .string)
        AttributeDescription("code", .string)
      }
    }
    let archive = try Archive(former) { context in
      for _ in 0..<2 {
        let author = try context.insert("Author")
        author["name"] = "Ann"
        author["age"] = 100_000
        author["books"] = [try context.insert("Book"), try context.insert("Book")]
      }
    }
    let refusal = try archive.refusal(newer)
    let found = refusal.violations.map { "\($0.entity ?? "").\($0.keyPath ?? "")" }
    #expect(
      Set(found) == [
        "Book.note", "Book.title", "Book.code", "Author.age", "Author.books", "Author.name",
      ], "\(refusal)")
    #expect(found.count == 6)
    let plan = try PersistentStore.migrationPlan(for: archive.url, to: newer)
    #expect(plan.obstacles.map(\.message) == refusal.violations.map(\.message))
  }

  // MARK: Stores of other programs

  @Test("Permission to drop everything does not replace another program's store")
  func anotherProgramsStoreIsNotReplaced() throws {
    let mail = try ManagedObjectModel {
      EntityDescription("Message") { AttributeDescription("text", .string, .optional) }
      EntityDescription("Folder") { AttributeDescription("name", .string, .optional) }
    }
    let photos = try ManagedObjectModel {
      EntityDescription("Photo") { AttributeDescription("name", .string, .optional) }
    }
    let everything = StoreOptions(migration: .automatic(dropping: .everythingRemoved))
    let archive = try Archive(mail) { try $0.insert("Message")["text"] = "a" }
    let allOptions = [
      everything, StoreOptions(),
      StoreOptions(migration: .lightweightOnly(dropping: .everythingRemoved)),
      Self.dropping(["Message"]),
    ]
    for options in allOptions {
      let refusal = try archive.refusal(photos, options)
      #expect(refusal.code == .modelMismatch)
      #expect(
        refusal.violations.first?.message == """
          The store has no entity in common with the model, so it probably belongs to another \
          program: its entities are Message, Folder. Choose another file, or list all entities \
          of the store in options.migration = .automatic(dropping:).
          """)
      let plan = try PersistentStore.migrationPlan(
        for: archive.url, to: photos, options: options)
      #expect(plan.obstacles.first?.message == refusal.violations.first?.message)
    }
    try archive.open(photos, Self.dropping(["Message", "Folder"]))
    try PersistentStore.revertMigration(archive.url)
    try archive.open(mail)
    try archive.open(photos, StoreOptions(migration: .refuse, onMismatch: .eraseAndRecreate))
    // A store without objects has nothing to lose.
    for options in allOptions {
      let empty = try Archive(mail) { _ in }
      let plan = try PersistentStore.migrationPlan(for: empty.url, to: photos, options: options)
      #expect(plan.obstacles.isEmpty)
      try empty.open(photos, options)
    }
  }

  @Test("A step or a renaming is enough to relate two models")
  func aStepOrARenameIsEnoughInCommon() throws {
    func model(_ name: String, from former: String? = nil) -> ManagedObjectModel {
      ManagedObjectModel(entities: [
        EntityDescription(
          name: name, attributes: [.init(name: "text", type: .string, isOptional: true)],
          renamingIdentifier: former)
      ])
    }
    let fill: Fill = { try $0.insert("Note")["text"] = "a" }
    let renamed = model("Entry", from: "Note")
    #expect(try Archive(model("Note"), fill).open(renamed) { try $0.count("Entry") } == 1)
    var options = StoreOptions(migration: .automatic(dropping: .everythingRemoved))
    options.migrationSteps = [
      MigrationStep(from: model("Note"), to: model("Entry")) { migration in
        try migration.forEach("Note") { old in
          try migration.insert("Entry")["text"] = old["text"] as String
        }
      }
    ]
    let archive = try Archive(model("Note"), fill)
    #expect(try archive.open(model("Entry"), options) { try $0.count("Entry") } == 1)
  }

  // MARK: Reverts

  @Test("A refused revert suggests what can be done with the newer model")
  func theWayBackHasItsOwnAdvice() throws {
    func model(_ isNewer: Bool) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        EntityDescription("Item", isAbstract: true) {
          RelationshipDescription("box", to: "Box", inverse: "items")
        }
        EntityDescription("Letter", parent: "Item") {}
        if isNewer { EntityDescription("Paper", parent: "Item") {} }
        EntityDescription("Box", isAbstract: false) {
          RelationshipDescription("items", to: "Item", inverse: "box", .toMany)
          if isNewer {
            AttributeDescription("label", .string, .optional)
          } else {
            AttributeDescription("place", .string)
          }
        }
        EntityDescription("Crate", isAbstract: !isNewer) {}
        EntityDescription("Barrel", parent: "Crate") {}
      }
    }
    let archive = try Archive(model(false)) {
      try $0.insert("Box")["place"] = "attic"
    }
    var options = StoreOptions(migration: .lightweightOnly(dropping: ["Box.place"]))
    try archive.write(model(true), options) {
      try $0.insert("Paper")["box"] = try $0.fetch("Box")[0]
      try $0.insert("Box")["label"] = "new"
      _ = try $0.insert("Crate")
    }
    let before = try Data(contentsOf: archive.url)
    for dropping in [.everythingRemoved, []] as [StoreOptions.Migration.Dropping] {
      let refusal = try #require(
        throws: ArborError.self,
        performing: { try PersistentStore.revertMigration(archive.url, dropping: dropping) })
      #expect(refusal.code == .notAllowed)
      #expect(
        Set(refusal.violations.map { $0.entity ?? "" }).isSuperset(of: ["Paper", "Box", "Crate"]),
        "\(refusal)")
      for violation in refusal.violations {
        for wrong in ["former model.", "with the former model", "MigrationStep", "options."] {
          #expect(!violation.message.contains(wrong), "\(violation.message)")
        }
      }
      #expect(try Data(contentsOf: archive.url) == before)
    }
    // The remedies that the messages suggest.
    options.migration = .automatic
    try archive.write(model(true), options) { context in
      for name in ["Paper", "Crate"] { context.delete(try context.fetch(name)[0]) }
      for box in try context.fetch("Box") where box["label"] as String? != nil {
        context.delete(box)
      }
    }
    try PersistentStore.revertMigration(archive.url, dropping: ["Box.label"])
    let places = try archive.open(model(false)) {
      try $0.fetch("Box").map { $0["place"] as String }
    }
    #expect(places == ["attic"])
  }
}
