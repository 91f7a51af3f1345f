import ArborData
import Foundation
import TestSupport
import Testing

/// Unique values that a pass or custom code reassigns. Temporary duplicates are allowed, final
/// duplicates are refused.
@Suite struct UniquenessMigrationTests {
  private static let count: Int64 = 5

  private func model(
    _ code: AttributeDescription, _ change: (inout EntityDescription) -> Void = { _ in }
  ) -> ManagedObjectModel {
    var note = EntityDescription(
      name: "Note",
      attributes: [
        AttributeDescription(name: "id", type: .integer64), code,
        AttributeDescription(name: "shelf", type: .string),
      ])
    change(&note)
    return ManagedObjectModel(entities: [note])
  }

  private func code(
    _ type: AttributeType, _ defaultValue: PropertyValue = 0, isOptional: Bool = false
  ) -> AttributeDescription {
    AttributeDescription(
      name: "code", type: type, isOptional: isOptional, defaultValue: defaultValue)
  }

  private func unique(_ note: inout EntityDescription) { note.uniquenessConstraints = [["code"]] }

  private func objects(_ code: (Int64) -> PropertyValue = { .integer(100 + $0) }) -> PlainObjects {
    var plain = PlainObjects()
    for id in 1...Self.count {
      plain.values["Note", default: [:]][id] = [
        "id": .integer(id), "code": code(id), "shelf": "one",
      ]
    }
    return plain
  }

  /// Expects that the store rejects a second object with the values of the first.
  private func expectUniqueness(
    _ store: EvolvingStore, _ names: String, _ location: SourceLocation = #_sourceLocation
  ) throws {
    let opened = try PersistentStore(at: .file(store.url))
    defer { opened.close() }
    let context = opened.makeContext()
    let request = FetchRequest<ManagedObject>(entity: "Note", sortKeys: ["id"])
    let first = try #require(try context.fetch(request).first)
    let other = try context.insert("Note")
    other["id"] = 99
    for name in ["code", "shelf"] { other[name] = first[name] as PropertyValue }
    let error = #expect(throws: ArborError.self, sourceLocation: location) {
      try context.commit()
    }
    #expect(
      error?.message == """
        Note \(other.objectID.number) and Note 1 have the same \(names), which must be unique in \
        Note. Change one of the objects.
        """, sourceLocation: location)
  }

  @Test("Values whose type changes stay unique", arguments: [PropertyValue.integer(0), .null])
  func valuesOfAnotherTypeStayUnique(_ defaultValue: PropertyValue) throws {
    let store = try EvolvingStore(
      model(code(.integer64, defaultValue), unique), objects())
    let plan = try PersistentStore.migrationPlan(
      for: store.url, to: model(code(.integer16, defaultValue), unique))
    #expect(plan.obstacles.isEmpty && !plan.isInPlace)
    try store.evolve(to: model(code(.integer16, defaultValue), unique))
    try expectUniqueness(store, "code")
    try store.evolve(to: model(code(.integer64, defaultValue), unique))
    try expectUniqueness(store, "code")
  }

  @Test("Combinations of values stay unique")
  func valuesStayUniqueTogether() throws {
    let both = { (note: inout EntityDescription) in
      note.uniquenessConstraints = [["shelf", "code"]]
    }
    let store = try EvolvingStore(model(code(.integer64), both), objects())
    try store.evolve(to: model(code(.integer16), both))
    try expectUniqueness(store, "shelf, code")
  }

  /// During the pass all objects meet the condition, but only one does so in the end.
  @Test("Conditional uniqueness is checked after the pass")
  func uniquenessUnderAConditionWaitsForWhatThatIsMadeOf() throws {
    let conditional = { (note: inout EntityDescription) in
      note.fetchIndexes = [
        FetchIndexDescription(
          name: "first", elements: [.init("shelf")], partialIndexPredicate: "code < 102",
          isUnique: true)
      ]
    }
    let store = try EvolvingStore(model(code(.integer64), conditional), objects())
    try store.evolve(to: model(code(.integer16), conditional))
    try expectUniqueness(store, "shelf")
  }

  @Test("A constraint on an inherited attribute is checked after the pass")
  func uniquenessOfASubentityWaitsForWhatItInherits() throws {
    func model(_ type: AttributeType) -> ManagedObjectModel {
      ManagedObjectModel(entities: [
        EntityDescription(
          name: "Paper", isAbstract: true,
          attributes: [AttributeDescription(name: "id", type: .integer64), code(type)]),
        EntityDescription(
          name: "Note", parent: "Paper",
          attributes: [AttributeDescription(name: "shelf", type: .string)],
          uniquenessConstraints: [["code"]]),
      ])
    }
    let store = try EvolvingStore(model(.integer64), objects())
    try store.evolve(to: model(.integer16))
    try expectUniqueness(store, "code")
  }

  @Test("Duplicate values are listed and refused")
  func valuesThatAreSharedAreListedAndRefused() throws {
    let store = try EvolvingStore(
      model(code(.integer64)), objects { .integer($0 == 4 ? 102 : 100 + $0) })
    let newer = model(code(.integer16), unique)
    let plan = try PersistentStore.migrationPlan(for: store.url, to: newer)
    #expect(
      plan.obstacles.map(\.message) == [
        """
        Note.code becomes unique, but there are 2 objects (Note 2, Note 4) with equal values. \
        Change the values with the former model, or use a MigrationStep to change them.
        """
      ])
    let refusal = try store.refusal(of: newer, begins: true)
    #expect(refusal.code == .modelMismatch)
    #expect(refusal.violations.map(\.message) == plan.obstacles.map(\.message))
  }

  @Test(
    "Any type of values that become unique can be searched for duplicates",
    arguments: [AttributeType.binary, .string, .uuid, .date, .decimal, .boolean], [false, true])
  func valuesOfEveryType(type: AttributeType, isShared: Bool) throws {
    func value(_ number: Int64) -> PropertyValue {
      switch type {
      case .binary: .binary(Data([UInt8(number)]))
      case .string: .string("\(number)")
      case .uuid: .uuid(UUID(uuidString: "00000000-0000-0000-0000-00000000000\(number)") ?? UUID())
      case .date: .date(Date(timeIntervalSinceReferenceDate: Double(number)))
      case .decimal: .decimal(Decimal(number) / 10)
      default: number > 2 ? .null : .boolean(number == 1)
      }
    }
    let former = model(code(type, .null, isOptional: true))
    let store = try EvolvingStore(former, objects { value(isShared && $0 == 2 ? 1 : $0) })
    let newer = model(code(type, .null, isOptional: true), unique)
    let plan = try PersistentStore.migrationPlan(for: store.url, to: newer)
    guard isShared else {
      #expect(plan.isInPlace && plan.obstacles.isEmpty)
      try store.evolve(to: newer)
      return try expectUniqueness(store, "code")
    }
    #expect(
      plan.obstacles.map(\.message) == [
        """
        Note.code becomes unique, but there are 2 objects (Note 1, Note 2) with equal values. \
        Change the values with the former model, or use a MigrationStep to change them.
        """
      ])
    #expect(
      try store.refusal(of: newer).violations.map(\.message) == plan.obstacles.map(\.message))
  }

  /// Objects without a value get the default, which is shared if there are several.
  @Test("Duplicates that result from a default are refused")
  func defaultsThatAreSharedAreRefused() throws {
    let store = try EvolvingStore(
      model(code(.integer64, .null, isOptional: true), unique),
      objects { $0 < 3 ? .null : .integer($0) })
    let plan = try PersistentStore.migrationPlan(
      for: store.url, to: model(code(.integer16), unique))
    #expect(plan.obstacles.map(\.message) == [Self.sharedDefault("is")])
    #expect(plan.obstacles.first?.objectIDs.map(\.number) == [1, 2])
    let refusal = try store.refusal(of: model(code(.integer16), unique), begins: true)
    #expect(refusal.code == .modelMismatch)
    #expect(refusal.violations.map(\.message) == plan.obstacles.map(\.message))
  }

  private static func sharedDefault(_ verb: String, _ objects: String = "Note 1, Note 2") -> String
  {
    """
    Note.code \(verb) unique, but there are 2 objects (\(objects)) with equal values, because nil \
    becomes the default. Change the values with the former model, or use a MigrationStep to change \
    them.
    """
  }

  /// The same without a pass, and for an object without a value and another that already has the
  /// default.
  @Test("Duplicates that result from a default are listed")
  func defaultsThatAreSharedAreListed() throws {
    let former = model(code(.integer64, .null, isOptional: true), unique)
    let newer = model(code(.integer64, 4), unique)
    for codes: @Sendable (Int64) -> PropertyValue in [
      { $0 < 3 ? .null : .integer($0 + 100) }, { $0 == 1 ? .null : .integer($0 + 2) },
    ] {
      let store = try EvolvingStore(former, objects(codes))
      let plan = try PersistentStore.migrationPlan(for: store.url, to: newer)
      #expect(plan.isInPlace && plan.obstacles.map(\.message) == [Self.sharedDefault("is")])
      #expect(
        try store.refusal(of: newer).violations.map(\.message) == plan.obstacles.map(\.message))
    }
    // If only one object lacks a value, the default is not shared.
    let single = try EvolvingStore(former, objects { $0 == 1 ? .null : .integer($0 + 100) })
    #expect(try PersistentStore.migrationPlan(for: single.url, to: newer).obstacles.isEmpty)
    try single.evolve(to: newer) { $0.values["Note"]?[1]?["code"] = 4 }
    try expectUniqueness(single, "code")
  }

  @Test("Equal defaults of an added attribute prevent a uniqueness constraint")
  func anAddedDefaultIsShared() throws {
    let plain = ManagedObjectModel(entities: [
      EntityDescription(
        name: "Note",
        attributes: [
          AttributeDescription(name: "id", type: .integer64),
          AttributeDescription(name: "shelf", type: .string),
        ])
    ])
    var objects = objects()
    objects.change("Note") { values in
      values["code"] = nil
      if let id = values["id"], id == 2 || id == 4 { values["shelf"] = "two" }
      if let id = values["id"], id == 5 { values["shelf"] = "three" }
    }
    for id in [Int64(1), 3] { objects.values["Note"]?[id]?["shelf"] = .string("of \(id)") }
    let store = try EvolvingStore(plain, objects)
    let newer = model(code(.integer64)) { $0.uniquenessConstraints = [["shelf", "code"]] }
    let plan = try PersistentStore.migrationPlan(for: store.url, to: newer)
    #expect(
      plan.obstacles.map(\.message) == [
        """
        Note.shelf, code becomes unique, but there are 2 objects (Note 2, Note 4) with equal \
        values, because nil becomes the default. Change the values with the former model, or use a \
        MigrationStep to change them.
        """
      ])
    #expect(
      try store.refusal(of: newer).violations.map(\.message) == plan.obstacles.map(\.message))
  }

  /// Returns options with code that assigns values to the objects in batches of two.
  private func options(
    _ former: ManagedObjectModel, _ newer: ManagedObjectModel,
    _ code: @escaping @Sendable (_ old: ManagedObject) -> Int64
  ) -> StoreOptions {
    var options = StoreOptions()
    options.migrationSteps = [
      MigrationStep(from: former, to: newer, batches: .of(2)) { migration in
        try migration.migrate("Note") { old, new in new["code"] = code(old) }
      }
    ]
    return options
  }

  @Test("Code can make values unique")
  func codeMakesValuesUnique() throws {
    let (former, newer) = (model(code(.integer64), unique), model(code(.integer16), unique))
    let store = try EvolvingStore(former, objects { .integer(100_000 + $0) })
    let shared = options(former, newer) { 7 + ($0["id"] as Int64) / Self.count }
    let refusal = try store.refusal(of: newer, shared, begins: true)
    #expect(refusal.code == .modelMismatch)
    #expect(
      refusal.violations.map(\.message) == [
        """
        Note.code is unique, but there are 4 objects (Note 1, Note 2, Note 3 and more) with equal \
        values. Change the values with the former model, or use a MigrationStep to change them.
        """
      ])
    let own = options(former, newer) { ($0["code"] as Int64) - 100_000 }
    try store.evolve(to: newer, own) { plain in
      plain.change("Note") { $0["code"] = $0["id"] }
    }
    try expectUniqueness(store, "code")
  }

  @Test("Code can replace shared defaults by unique values")
  func codeReplacesDefaultsThatAreShared() throws {
    let former = model(code(.integer64, .null, isOptional: true), unique)
    let newer = model(code(.integer64), unique)
    let store = try EvolvingStore(former, objects { _ in .null })
    let options = options(former, newer) { $0["id"] }
    try store.evolve(to: newer, options) { plain in
      plain.change("Note") { $0["code"] = $0["id"] }
    }
    try expectUniqueness(store, "code")
  }
}
