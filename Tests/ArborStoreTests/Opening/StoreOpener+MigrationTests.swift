import ArborModel
import ArborStore
import Foundation
import LMDB
import TestSupport
import Testing

/// Adding and dropping indexes when a store is opened, atomically.
@Suite struct StoreOpenerMigrationTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path("tasks.arbor") }

  init() throws { folder = try TemporaryFolder() }

  private func model(_ indexes: [FetchIndexDescription] = []) throws -> ManagedObjectModel {
    try UnfinishedTasks.model(indexes)
  }

  private func open(
    _ model: ManagedObjectModel?, _ adjust: (inout StoreOpening) -> Void = { _ in }
  ) throws -> StoreEngine {
    var opening = StoreOpening(.file(path), model: model)
    adjust(&opening)
    return try StoreEngine.open(opening)
  }

  private let byRank = FetchIndexDescription(name: "byRank", elements: [.init("rank")])
  private let once = FetchIndexDescription(
    name: "once", elements: [.init("name", kind: .folded)], isUnique: true)

  /// Creates and closes a store with some objects and no indexes.
  @discardableResult
  private func fill(_ names: [String?]) throws -> [ObjectNumber] {
    let file = try open(model())
    defer { file.close() }
    let draft = Draft(file)
    let numbers = try names.enumerated().map { position, name in
      try draft.insert(
        position.isMultiple(of: 2) ? "Task" : "Event",
        ["name": name.map(PropertyValue.string) ?? .null, "rank": .integer(Int64(position % 7))])
    }
    try draft.commit()
    return numbers
  }

  private func failure(_ body: () throws -> StoreEngine) -> StoreError? {
    do {
      try body().close()
      return nil
    } catch {
      return error as? StoreError
    }
  }

  private func bytes() throws -> Data { try Data(contentsOf: URL(filePath: path)) }

  @Test("An index is built when the store is opened with a model that declares it")
  func anIndexIsBuiltWithTheModelThatAsksForIt() throws {
    try fill((0..<100).map { "n\($0)" })
    let file = try open(model([byRank, once]))
    #expect(file.modelGeneration == 2)
    #expect(file.lastSequence == 2)
    #expect(try file.schema.model == model([byRank, once]))
    let counts = try indexDump(file).filter { $0.hasPrefix("i/") }
    #expect(counts == ["i/Item/byRank", "i/Item/once"])
    #expect(try indexDump(file).count == 202)
    file.close()
    // The file already has the model, so nothing is repeated.
    let again = try bytes()
    let second = try open(model([byRank, once]))
    #expect(second.modelGeneration == 2)
    second.close()
    #expect(try bytes() == again)
    let carried = try open(nil)
    #expect(carried.schema.model.fingerprint == carried.modelFingerprint)
    carried.close()
    try TemporaryStore.check(path: path)
  }

  @Test("An index is dropped when the model no longer declares it")
  func anIndexThatIsAskedForNoMoreIsDropped() throws {
    try fill(["a", "b", nil])
    try open(model([byRank, once])).close()
    let file = try open(model([once]))
    #expect(try file.environment.databaseNames().filter { $0.hasPrefix("i/") } == ["i/Item/once"])
    #expect(file.modelGeneration == 3)
    let draft = Draft(file)
    try draft.insert("Task", ["name": "c"])
    try draft.commit()
    file.close()
    try open(model()).close()
    try TemporaryStore.check(path: path)
  }

  @Test("An index whose definition changed is rebuilt")
  func anIndexOfTheSameNameIsMadeAnew() throws {
    try fill(["b", "a", "C"])
    var changed = byRank
    changed.elements = [.init("name", isAscending: false, kind: .folded)]
    changed.partialIndexPredicate = "rank > 0"
    try open(model([byRank])).close()
    let file = try open(model([changed]))
    #expect(try indexDump(file).count == 3)
    file.close()
    try TemporaryStore.check(path: path)
  }

  @Test("A model with more than changed indexes is rejected and the file is unchanged")
  func whatIsNotIndexesIsAnotherModel() throws {
    try fill(["a"])
    var other = try model([byRank])
    other.entities[1].attributes[0].type = .binary
    let before = try bytes()
    guard case .modelMismatch? = failure({ try open(other) }) else {
      Issue.record("opened")
      return
    }
    #expect(try bytes() == before)
  }

  @Test("Refused migrations and read-only openings leave the file unchanged")
  func optionsAndReadersKeepTheFileAsItIs() throws {
    try fill(["a"])
    let before = try bytes()
    for adjust in [{ $0.migration = .refuse }, { $0.isReadOnly = true }]
      as [(inout StoreOpening) -> Void]
    {
      guard case .modelMismatch(let refusal)? = failure({ try open(model([byRank]), adjust) })
      else {
        Issue.record("opened")
        continue
      }
      #expect(
        refusal.obstacles.map(\.message)
          == ["Item: the index byRank is added: (rank) (builds an index)"])
    }
    #expect(try bytes() == before)
    try TemporaryStore.check(path: path)
  }

  @Test("Changed version hash modifiers and transformer names are stored with the model")
  func whatNoRecordDependsOnIsTakenDown() throws {
    func model(_ modifier: String?, _ transformer: String) throws -> ManagedObjectModel {
      var model = try self.model()
      model.entities[0].attributes.append(
        AttributeDescription(
          name: "blob", type: .transformable(transformer), isOptional: true,
          versionHashModifier: modifier))
      model.entities[1].versionHashModifier = modifier
      return model
    }
    let (former, next) = try (model(nil, "Old"), model("2", "New"))
    let file = try open(former)
    let draft = Draft(file)
    let number = try draft.insert("Task", ["name": "a", "blob": .binary(Data([1, 2]))])
    try draft.commit()
    // The model can't change while the store is open elsewhere.
    guard case .inUse? = failure({ try open(next) }) else { throw DraftError("no refusal") }
    file.close()
    for adjust in [{ $0.migration = .refuse }, { $0.isReadOnly = true }]
      as [(inout StoreOpening) -> Void]
    {
      guard case .modelMismatch? = failure({ try open(next, adjust) }) else {
        throw DraftError("no refusal")
      }
    }
    let opened = try open(next)
    defer { opened.close() }
    #expect(opened.schema.model == next && opened.modelFingerprint == next.fingerprint)
    #expect(try Draft(opened).value(number, "blob") == .binary(Data([1, 2])))
    #expect(try opened.check().isSound)
  }

  @Test("A store that is open in this process isn't migrated")
  func aStoreThatIsOpenHereStaysAsItIs() throws {
    try fill(["a"])
    let file = try open(model())
    defer { file.close() }
    guard case .inUse? = failure({ try open(model([byRank])) }) else {
      Issue.record("opened")
      return
    }
    let draft = Draft(file)
    try draft.insert("Task", [:])
    try draft.commit()
    #expect(try file.check().isSound)
  }

  @Test(
    "Duplicates are reported when an index becomes unique, and the file is unchanged",
    arguments: ["x", String(repeating: "é", count: 600)])
  func sharedValuesAreNamedAndNothingChanges(text: String) throws {
    let numbers = try fill([nil, text, "other", text.uppercased(), nil])
    let before = try bytes()
    guard case .modelMismatch(let refusal)? = failure({ try open(model([byRank, once])) }) else {
      Issue.record("opened")
      return
    }
    let (one, other) = (numbers[1].sequence, numbers[3].sequence)
    #expect(
      refusal.obstacles.map(\.message) == [
        """
        Item.name becomes unique, but there are 2 objects (Event \(one), Event \(other)) with equal \
        values. Change the values with the former model, or use a MigrationStep to change them \
        with options.migration = .automatic.
        """
      ])
    #expect(refusal.obstacles.map(\.entity) == ["Item"])
    #expect(refusal.obstacles.map(\.property) == ["name"])
    #expect(refusal.obstacles.first?.objectIDs.map(\.number) == [one, other])
    #expect(try bytes() == before)
    let file = try open(model())
    #expect(file.modelGeneration == 1)
    file.close()
    try TemporaryStore.check(path: path)
  }

  @Test("Long texts that differ only at their ends are not duplicates")
  func longTextsThatDifferAreNoViolation() throws {
    let long = String(repeating: "é", count: 600)
    try fill([long + "1", long + "2", long + "3", nil, nil])
    try open(model([once])).close()
    try TemporaryStore.check(path: path)
  }

  @Test("A build that exceeds the map makes the transaction rerun in a larger map")
  func theMapGrowsMeanwhile() throws {
    let file = try open(model()) { $0.initialMapSize = 1 << 20 }
    let draft = Draft(file)
    for position in 0..<6000 {
      try draft.insert("Task", ["name": .string("name \(position)"), "rank": 1])
    }
    try draft.commit()
    file.close()
    let words = FetchIndexDescription(name: "words", elements: [.init("name", kind: .text)])
    let built = try open(model([byRank, once, words])) { $0.initialMapSize = 1 << 20 }
    #expect(try indexDump(built).count == 3 + 4 * 6000)
    built.close()
    try TemporaryStore.check(path: path)
  }

  @Test("A damaged record makes an index build fail and leaves the file unchanged")
  func aDamagedRecordEndsItAsItWas() throws {
    let numbers = try fill(["a", "b"])
    let file = try open(model())
    let records = try Vandal(file: file).database(records: "Task")
    try Vandal(file: file).write { transaction, _ in
      let bytes = try transaction.get(records, key: numbers[0].rawValue).map(Array.init) ?? []
      let changed = bytes.enumerated().map { $0 == 9 ? $1 ^ 1 : $1 }
      _ = try changed.withUnsafeBytes {
        try transaction.put(records, key: numbers[0].rawValue, value: $0)
      }
    }
    file.close()
    let before = try bytes()
    guard case .corrupted(_, let object, _)? = failure({ try open(model([byRank])) }) else {
      Issue.record("opened")
      return
    }
    #expect(object == numbers[0])
    #expect(try bytes() == before)
  }

  @Test("Folded indexes are rebuilt for another version of text folding")
  func anotherVersionOfFoldedTextsRebuilds() throws {
    try fill(["a", "b"])
    let file = try open(model([byRank, once]))
    let index = try Vandal(file: file).index("Item", "once")
    let expected = try indexDump(file)
    let arbor = file.databases.arbor
    try Vandal(file: file).write { transaction, header in
      header.modelFingerprint = ModelFingerprint(bits: header.modelFingerprint.bits ^ 1)
      let key = Array(StoreFormat.modelDigestKey.utf8)
      try transaction.put(arbor, key: key, value: [UInt8](repeating: 1, count: 16))
      try transaction.clear(index)
    }
    file.close()
    let built = try open(model([byRank, once]))
    #expect(try indexDump(built) == expected)
    #expect(built.modelGeneration == 3)
    built.close()
    try TemporaryStore.check(path: path)
  }

  // MARK: Numbers and layouts

  private func task(_ attributes: [AttributeDescription]) -> ManagedObjectModel {
    ManagedObjectModel(entities: [
      EntityDescription(name: "Task", attributes: attributes), EntityDescription(name: "Other"),
    ])
  }

  private func optional(
    _ name: String, _ type: AttributeType = .string, from former: String? = nil
  ) -> AttributeDescription {
    AttributeDescription(name: name, type: type, isOptional: true, renamingIdentifier: former)
  }

  private func migrate(_ model: ManagedObjectModel) throws -> SchemaCatalog {
    let file = try open(model) { $0.migration = .lightweight(dropping: nil) }
    defer { file.close() }
    #expect(try file.check().isSound)
    return file.schema.catalog
  }

  @Test("Indexes are rewritten at once if their objects get subentities or lose them")
  func aHierarchyChangesTheFormOfNumbers() throws {
    func people(_ hasManagers: Bool) -> ManagedObjectModel {
      let person = EntityDescription("Person", uniquenessConstraints: [["email"]]) {
        AttributeDescription("email", .string)
        AttributeDescription("age", .integer16, .indexed)
      }
      let manager = EntityDescription("Manager", parent: "Person") {}
      return ManagedObjectModel(entities: hasManagers ? [person, manager] : [person])
    }
    func open(_ hasManagers: Bool) throws -> StoreEngine {
      try self.open(people(hasManagers)) {
        $0.migration = .lightweight(dropping: nil)
        $0.maximumObjectsIndexedAtOnce = 10
      }
    }
    var file = try open(false)
    let draft = Draft(file)
    for number in 0..<300 {
      try draft.insert(
        "Person", ["email": .string("\(number)@arbor"), "age": .integer(Int64(number % 7))])
    }
    try draft.commit()
    for (hasManagers, size) in [(false, 5), (true, 7), (false, 5), (true, 7)] {
      file.close()
      file = try open(hasManagers)
      let snapshot = try file.snapshot()
      #expect(snapshot.unfinishedIndexes == nil)
      for index in file.databases.indexes {
        let cursor = try snapshot.reader.cursor(index.database)
        #expect(try cursor.first()?.value.count == size)
        #expect(try snapshot.reader.entryCount(index.database) == 300)
      }
      snapshot.close()
      #expect(try file.check().isSound)
      let again = Draft(file)
      try again.insert(hasManagers ? "Manager" : "Person", ["email": "7@arbor", "age": 1])
      #expect(throws: StoreError.self) { try again.commit() }
    }
    file.close()
    try TemporaryStore.check(path: path)
  }

  @Test("The numbers of removed properties and entities are never reused")
  func numbersAreNeverGivenTwice() throws {
    _ = try migrate(task([optional("name"), optional("note")]))
    var catalog = try migrate(task([optional("title", from: "name")]))
    #expect(catalog.entries["Task"]?.layoutNumber == 2)
    #expect(catalog.entries["Task"]?.properties == ["title": 1, "\u{1}2 note": 2])
    catalog = try migrate(task([optional("title"), optional("note")]))
    #expect(catalog.entries["Task"]?.layoutNumber == 3)
    #expect(
      catalog.entries["Task"]?.properties == ["title": 1, "\u{1}2 note": 2, "note": 3])
    var other = task([optional("title"), optional("note")])
    other.entities.removeLast()
    catalog = try migrate(other)
    #expect(Set(catalog.entries.keys) == ["Task", "\u{1}2 Other"])
    catalog = try migrate(task([optional("title"), optional("note")]))
    #expect(catalog.entries["Other"]?.number == 3)
    #expect(catalog.entries["\u{1}2 Other"]?.number == 2)
    try TemporaryStore.check(path: path)
  }

  @Test("A conversion of values adds a layout and keeps the earlier ones")
  func earlierLayoutsAreKept() throws {
    _ = try migrate(task([optional("name"), optional("rank", .integer16)]))
    func kinds(_ layout: UInt16) throws -> [UInt8] {
      let file = try open(nil)
      defer { file.close() }
      let snapshot = try file.snapshot()
      defer { snapshot.close() }
      let key = StoreFormat.layoutKey(entity: 1, layout: layout)
      let bytes = try snapshot.reader.get(file.databases.arbor, key: Array(key.utf8))
      // Each field has a kind, flags, a number, and a default of two bytes.
      return try #require(bytes).dropFirst(2).enumerated().filter { $0.offset % 6 == 0 }
        .map(\.element).dropLast()
    }
    _ = try migrate(task([optional("name"), optional("rank", .integer16), optional("more")]))
    #expect(try kinds(1) == [10, 2])
    _ = try migrate(task([optional("name"), optional("rank", .integer32), optional("more")]))
    #expect(try kinds(1) == [10, 2])
    #expect(try kinds(2) == [10, 2, 10])
    #expect(try kinds(3) == [10, 3, 10])
  }
}
