import ArborData
import Foundation
import Synchronization
import TestSupport
import Testing

/// Migrations over several versions, and steps that don't form a chain.
@Suite("Migrations over several versions") struct MigrationVersionsTests {
  /// Returns versions of a model of notes: one attribute is renamed, then counted with code, then
  /// the entity is renamed, then rated with code.
  private func versions() throws -> [ManagedObjectModel] {
    func model(
      _ version: String, _ entity: String, from former: String? = nil,
      _ attributes: [AttributeDescription]
    ) -> ManagedObjectModel {
      let id = AttributeDescription(name: "id", type: .integer64)
      var model = ManagedObjectModel(entities: [
        EntityDescription(
          name: entity, attributes: [id] + attributes, renamingIdentifier: former)
      ])
      model.versionIdentifier = version
      return model
    }
    func text(_ name: String, from former: String? = nil) -> AttributeDescription {
      AttributeDescription(name: name, type: .string, renamingIdentifier: former)
    }
    let words = AttributeDescription(name: "words", type: .integer32)
    let rating = AttributeDescription(name: "rating", type: .string)
    return [
      model("1", "Note", [text("text")]),
      model("2", "Note", [text("body", from: "text")]),
      model("3", "Note", [text("body"), words]),
      model("4", "Entry", from: "Note", [text("content", from: "body"), words]),
      model("5", "Entry", [text("content"), words, rating]),
    ]
  }

  private func objects() -> PlainObjects {
    var plain = PlainObjects()
    for id in Int64(1)...150 {
      let text = Array(repeating: "word", count: Int(id % 5) + 1).joined(separator: " ")
      plain.values["Note", default: [:]][id] = ["id": .integer(id), "text": .string(text)]
    }
    return plain
  }

  private func change(_ plain: inout PlainObjects) {
    plain.rename("Note", to: "Entry")
    plain.change("Entry") { values in
      guard case .string(let text)? = values.removeValue(forKey: "text") else { return }
      let words = text.split(separator: " ").count
      values["content"] = .string(text)
      values["words"] = .integer(Int64(words))
      values["rating"] = .string(String(repeating: "*", count: words))
    }
  }

  private func count(
    _ calls: Calls = Calls(), stoppingAt limit: Int = .max
  ) -> MigrationStep {
    MigrationStep(from: "2", to: "3", batches: .of(40)) { migration in
      try migration.migrate("Note") { old, new in
        if calls.next() > limit { throw CancellationError() }
        new["words"] = (old["body"] as String).split(separator: " ").count
      }
    }
  }

  private func rate() throws -> MigrationStep {
    let versions = try versions()
    return MigrationStep(from: versions[3].fingerprint, to: versions[4]) { migration in
      try migration.migrate("Entry") { old, new in
        new["rating"] = String(repeating: "*", count: old["words"] as Int)
      }
    }
  }

  final class Calls: Sendable {
    private let count = Atomic(0)
    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
    var made: Int { count.load(ordering: .relaxed) }
  }

  private func options() throws -> StoreOptions {
    var options = StoreOptions()
    options.modelVersions = try versions()
    options.migrationSteps = [try rate(), count()]
    return options
  }

  @Test("A store of the first version is migrated to the last")
  func aStoreOfTheFirstVersionMigratesToTheLast() throws {
    let versions = try versions()
    let store = try EvolvingStore(versions[0], objects())
    let options = try options()
    let plan = try PersistentStore.migrationPlan(for: store.url, to: versions[4], options: options)
    #expect(
      plan.parts.map { "\($0.from) \($0.to) \($0.runsCode)" } == [
        "1 2 false", "2 3 true", "3 4 false", "4 5 true",
      ])
    try store.evolve(to: versions[4], options, change)
  }

  @Test("Every version is migrated to the last")
  func anyVersionLeadsToTheLast() throws {
    let versions = try versions()
    for start in 1..<4 {
      let store = try EvolvingStore(versions[0], objects())
      var options = try options()
      let plain = store.plain
      var middle = options
      middle.migrationSteps = [count()]
      middle.modelVersions = Array(versions[...3])
      let between = try PersistentStore(
        model: versions[start], at: .file(store.url), options: middle)
      between.close()
      options.migration = .automatic
      try store.evolve(to: versions[4], options) {
        $0 = plain; change(&$0)
      }
    }
  }

  /// An interrupted migration over several versions continues in the step that was interrupted.
  @Test("An interrupted migration over several versions continues")
  func aChainGoesOnWhereItWasInterrupted() throws {
    let versions = try versions()
    let store = try EvolvingStore(versions[0], objects())
    let calls = Calls()
    var options = try options()
    options.migrationSteps = [try rate(), count(calls, stoppingAt: 100)]
    #expect(
      try store.refusal(of: versions[4], options, begins: true).code == .cancelled)
    options.migrationSteps = [try rate(), count(calls)]
    try store.evolve(to: versions[4], options, change)
    // Two batches of 40 were written before the interruption.
    #expect(calls.made == 101 + 150 - 80)
  }

  @Test("Renames are combined without code")
  func renamesComposeWithoutCode() throws {
    let versions = try versions()
    let store = try EvolvingStore(versions[0], objects())
    var last = versions[3]
    last.entities[0].attributes.removeLast()
    // The model alone doesn't say that `content` was once called `text`.
    #expect(try store.refusal(of: last).violations.map(\.keyPath) == ["text", "content"])
    var options = StoreOptions()
    options.modelVersions = [versions[0], versions[1], last]
    let plan = try PersistentStore.migrationPlan(for: store.url, to: last, options: options)
    #expect(plan.isInPlace && plan.losses.isEmpty)
    try store.evolve(to: last, options) { plain in
      plain.rename("Note", to: "Entry")
      plain.change("Entry") { $0["content"] = $0.removeValue(forKey: "text") }
    }
  }

  /// If a later version equals an earlier one, its position in the list of versions determines the
  /// renames in between.
  @Test("Renames are combined if a later version equals an earlier one")
  func renamesComposeByWayOfAVersionThatCameBack() throws {
    let versions = try versions()
    var (third, last) = (versions[0], versions[1])
    third.versionIdentifier = "3"
    third.entities[0].attributes[1].renamingIdentifier = "body"
    last.versionIdentifier = "4"
    last.entities[0].attributes[1].name = "content"
    #expect(third.fingerprint == versions[0].fingerprint)
    var options = StoreOptions()
    options.modelVersions = [versions[0], versions[1], third, last]
    for start in versions[0...1] {
      var plain = objects()
      let name = start.entities[0].attributes[1].name
      plain.change("Note") { $0[name] = $0.removeValue(forKey: "text") }
      let store = try EvolvingStore(start, plain)
      try store.evolve(to: last, options) { plain in
        plain.change("Note") { $0["content"] = $0.removeValue(forKey: name) }
      }
      // The same with custom code for the last part.
      let again = try EvolvingStore(start, plain)
      var coded = options
      coded.migrationSteps = [
        MigrationStep(from: "3", to: "4") { migration in
          try migration.migrate("Note") { old, new in
            new["content"] = (old["text"] as String).uppercased()
          }
        }
      ]
      try again.evolve(to: last, coded) { plain in
        plain.change("Note") { values in
          guard case .string(let text)? = values.removeValue(forKey: name) else { return }
          values["content"] = .string(text.uppercased())
        }
      }
    }
    // The newest version may equal an earlier one.
    var plain = objects()
    plain.change("Note") { $0["body"] = $0.removeValue(forKey: "text") }
    let store = try EvolvingStore(versions[1], plain)
    options.modelVersions.removeLast()
    try store.evolve(to: third, options) { plain in
      plain.change("Note") { $0["text"] = $0.removeValue(forKey: "body") }
    }
  }

  @Test("A property that is removed and added again between two versions is kept")
  func whatCameBackIsKept() throws {
    let versions = try versions()
    var between = versions[0]
    between.entities[0].attributes.removeLast()
    var last = versions[0]
    last.entities[0].attributes.append(
      AttributeDescription(name: "mood", type: .string, isOptional: true))
    var calm = last
    calm.entities[0].attributes[2].defaultValue = "calm"
    var options = StoreOptions()
    options.modelVersions = [versions[0], between, calm, last]
    let store = try EvolvingStore(versions[0], objects())
    let plan = try PersistentStore.migrationPlan(for: store.url, to: last, options: options)
    #expect(plan.losses.isEmpty && plan.isInPlace && plan.parts.count == 1)
    // Neither the values nor the default of an intermediate version matter.
    try store.evolve(to: last, options) { $0.change("Note") { $0["mood"] = .null } }
  }

  // MARK: Invalid steps

  @Test("Steps with unknown or contradictory versions are refused")
  func stepsThatContradictEachOtherAreRefused() throws {
    let versions = try versions()
    let store = try EvolvingStore(versions[0], objects())
    func refusal(_ change: (inout StoreOptions) throws -> Void) throws -> String {
      var options = try options()
      try change(&options)
      return try store.refusal(of: versions[4], options).message
    }
    #expect(
      try refusal { $0.migrationSteps.append(MigrationStep(from: "3", to: "9") { _ in }) } == """
        The migration step from version 3 to 9 refers to the unknown version 9. Add its model to \
        options.modelVersions, or pass the model to the step.
        """)
    #expect(
      try refusal { $0.migrationSteps.append(count()) }
        == "Two migration steps lead from version 2 to 3. Combine them.")
    #expect(
      try refusal { $0.migrationSteps.append(MigrationStep(from: "3", to: "2") { _ in }) } == """
        The migration step from version 3 to 2 leads backward. List options.modelVersions with the \
        oldest version first.
        """)
    #expect(
      try refusal { $0.migrationSteps.append(MigrationStep(from: "3", to: "3") { _ in }) } == """
        The migration step from version 3 to 3 would never run, because both versions describe the \
        same store. Give an entity of the newer version a different versionHashModifier.
        """)
    // A gap in the chain: no step leads on from the store's version.
    #expect(
      try refusal { $0.modelVersions.removeFirst() } == """
        The store has version 1, and no migration steps lead from there to version 5. Add the \
        store's model to options.modelVersions, oldest version first, or add a step that starts \
        from that version.
        """)
    #expect(
      try refusal { $0.migration = .lightweightOnly } == """
        The store has an older version of the model. Its migration runs code from version 2 to 3 \
        and from 4 to 5, which .lightweightOnly doesn't allow. Set options.migration to .automatic.
        """)
    let circle = [
      MigrationStep(from: versions[0], to: versions[1]) { _ in },
      MigrationStep(from: versions[1], to: versions[0]) { _ in },
    ]
    #expect(
      try refusal {
        $0.modelVersions = []
        $0.migrationSteps = circle
      } == """
        The migration steps form a cycle through version 1. Remove the step that leads backward.
        """)
  }

  @Test("Values that a step doesn't migrate must be listed to be dropped")
  func whatCodeDoesNotMigrateIsNotLostUnlessItIsNamed() throws {
    var versions = try versions()
    versions[2].entities[0].attributes[1] = AttributeDescription(
      name: "title", type: .string, isOptional: true)
    let store = try EvolvingStore(versions[0], objects())
    var options = StoreOptions()
    options.modelVersions = Array(versions[...2])
    options.migrationSteps = [MigrationStep(from: "2", to: "3") { _ in }]
    let refusal = try store.refusal(of: versions[2], options, begins: true)
    #expect(
      refusal.violations.map(\.message) == [
        """
        Note.body is removed, but the step from version 2 to 3 doesn't migrate it. Call migrate or \
        forEach for Note in that step, or list "Note.body" in options.migration = \
        .automatic(dropping:) to drop it.
        """
      ])
    // Code that leaves a mandatory attribute without a value is reported when the rules are
    // checked.
    options.migrationSteps = [
      MigrationStep(from: "2", to: "3") { try $0.migrate("Note") { _, _ in } }
    ]
    let unfilled = try store.refusal(of: versions[2], options, begins: true)
    #expect(unfilled.violations.map(\.keyPath) == ["words"])
    #expect(unfilled.violations.first?.message.contains("150 objects without a value") == true)
  }

  @Test("A step may rename an entity that has no renaming identifier")
  func codeMayRenameAnEntityThatNothingMarks() throws {
    var versions = try versions()
    versions[3].entities[0].renamingIdentifier = nil
    versions[3].entities[0].attributes[1].renamingIdentifier = nil
    versions[3].entities[0].attributes.removeLast()
    versions[3].entities[0].attributes[1].name = "body"
    let store = try EvolvingStore(versions[0], objects())
    let calls = Calls()
    var options = StoreOptions()
    options.modelVersions = versions[...1] + [versions[3]]
    options.migrationSteps = [
      MigrationStep(from: "2", to: "4") { migration in
        try migration.rename(entity: "Note", to: "Entry")
        try migration.migrate("Note") { old, new in
          _ = calls.next()
          #expect(old.objectID.number == new.objectID.number)
          let found = try migration.object(for: old)
          #expect(found === new)
          new["body"] = "\(old["body"] as String)!"
        }
      }
    ]
    try store.evolve(to: versions[3], options) { plain in
      plain.rename("Note", to: "Entry")
      plain.change("Entry") { values in
        if case .string(let text)? = values.removeValue(forKey: "text") {
          values["body"] = .string(text + "!")
        }
      }
    }
    #expect(calls.made == 150)
  }

  @Test("Code cannot rename an entity that still exists in the newer model")
  func renamesOfEntitiesThatStay() throws {
    let older = try ManagedObjectModel {
      EntityDescription("Note") { AttributeDescription("id", .integer64) }
    }
    let newer = try ManagedObjectModel {
      EntityDescription("Note") { AttributeDescription("id", .integer64) }
      EntityDescription("Entry") { AttributeDescription("id", .integer64) }
    }
    var plain = PlainObjects()
    plain.values["Note"] = [1: ["id": 1]]
    let store = try EvolvingStore(older, plain)
    var options = StoreOptions()
    options.migrationSteps = [
      MigrationStep(from: older, to: newer) { try $0.rename(entity: "Note", to: "Entry") }
    ]
    let refusal = try store.refusal(of: newer, options, begins: true)
    #expect(refusal.code == .invalidArgument)
    #expect(
      refusal.message == """
        The entity Note already maps to Note in the newer model and cannot also map to Entry. \
        Remove the call, or set renaming identifiers.
        """)
  }

  // MARK: In the background

  @Test("Progress is an asynchronous sequence")
  func progressIsASequence() async throws {
    let versions = try versions()
    let store = try EvolvingStore(versions[0], objects())
    var last: MigrationProgress?
    for try await progress in PersistentStore.migrate(store.url, to: versions[4], try options()) {
      #expect(progress.fraction >= 0 && progress.fraction <= 1 && progress.hopCount == 4)
      last = progress
    }
    #expect(last?.phase == .done && last?.description == "done")
    try store.evolve(to: versions[4], try options(), change)
    // No progress is reported if the store already has the model.
    for try await progress in PersistentStore.migrate(store.url, to: versions[4]) {
      Issue.record("\(progress)")
    }
    await #expect(throws: ArborError.self) {
      for try await _ in PersistentStore.migrate(store.url, to: versions[0]) {}
    }
  }
}
