import ArborModel
import ArborStore
import LMDB
import TestSupport
import Testing

/// Databases keep their original names, whatever they are renamed to in the model.
@Suite struct DatabaseMovesTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func entity(
    _ name: String, from former: String? = nil, indexes: [String] = [],
    relationships: [RelationshipDescription] = []
  ) -> EntityDescription {
    EntityDescription(
      name: name,
      attributes: [AttributeDescription(name: "name", type: .string, isOptional: true)],
      relationships: relationships,
      fetchIndexes: indexes.map {
        FetchIndexDescription(name: $0, elements: [.init("name")])
      },
      renamingIdentifier: former)
  }

  private func relationship(
    _ name: String, _ destination: String, _ inverse: String, from former: String? = nil
  ) -> RelationshipDescription {
    RelationshipDescription(
      name: name, destination: destination, inverse: inverse, isToMany: true,
      renamingIdentifier: former)
  }

  private func open(_ entities: [EntityDescription]) throws -> StoreEngine {
    var opening = StoreOpening(
      .file(folder.path("a.arbor")), model: ManagedObjectModel(entities: entities))
    opening.migration = .lightweight(dropping: nil)
    return try StoreEngine.open(opening)
  }

  private func names(_ file: StoreEngine) throws -> Set<String> {
    Set(try file.environment.databaseNames()).subtracting(["arbor", "history"])
  }

  private func values(_ file: StoreEngine, _ entity: String) throws -> Set<String> {
    let found = try #require(file.schema.entity(named: entity))
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    let cursor = try snapshot.reader.cursor(file.databases.records(found.index))
    var values: Set<String> = []
    while let entry = try cursor.next() {
      let number = ObjectNumber(rawValue: entry.integerKey)
      if case .string(let text) = try Draft(file).value(number, "name") { values.insert(text) }
    }
    return values
  }

  private func insert(_ file: StoreEngine, _ entity: String, _ names: [String]) throws {
    let draft = Draft(file)
    for name in names { try draft.insert(entity, ["name": .string(name)]) }
    try draft.commit()
  }

  @Test("Renaming entities, indexes and relationships rewrites only a few pages")
  func aRenameTakesAFewPages() throws {
    let many = (0..<4000).map { "name \($0)" }
    let born: Set = ["e/Book", "e/Shelf", "i/Book/byName", "r/Book/shelves", "r/Shelf/books"]
    let before: UInt
    do {
      let file = try open([
        entity(
          "Book", indexes: ["byName"],
          relationships: [relationship("shelves", "Shelf", "books")]),
        entity("Shelf", relationships: [relationship("books", "Book", "shelves")]),
      ])
      defer { file.close() }
      try insert(file, "Book", many)
      #expect(try names(file) == born)
      before = UInt(try file.environment.info().lastPage)
    }
    let file = try open([
      entity(
        "Volume", from: "Book", indexes: ["byTitle"],
        relationships: [relationship("places", "Board", "volumes", from: "shelves")]),
      entity(
        "Board", from: "Shelf",
        relationships: [relationship("volumes", "Volume", "places", from: "books")]),
    ])
    defer { file.close() }
    #expect(try names(file) == born)
    #expect(try UInt(file.environment.info().lastPage) < before + 20)
    #expect(try values(file, "Volume") == Set(many))
    #expect(try file.check().isSound)
  }

  @Test("A former name can be reused while its database belongs to something else")
  func namesGoFromOneThingToAnother() throws {
    do {
      let file = try open([entity("A", indexes: ["x"]), entity("B", indexes: ["x"])])
      defer { file.close() }
      try insert(file, "A", ["a"])
      try insert(file, "B", ["b"])
    }
    do {
      let file = try open([entity("C", from: "A", indexes: ["x"]), entity("B", indexes: ["x"])])
      defer { file.close() }
      #expect(try values(file, "C") == ["a"])
      #expect(try names(file) == ["e/A", "e/B", "i/A/x", "i/B/x"])
    }
    do {
      // The name belongs to another entity's database, and B is dropped.
      let file = try open([entity("C", from: "A", indexes: ["x"]), entity("A", indexes: ["x"])])
      defer { file.close() }
      #expect(try values(file, "C") == ["a"] && values(file, "A") == [])
      try insert(file, "A", ["new a"])
      #expect(try names(file) == ["e/A", "e/A#3", "e/B", "i/A/x", "i/A/x#3"])
      #expect(try file.check().isSound)
      try file.confirmMigration()
      #expect(try names(file) == ["e/A", "e/A#3", "i/A/x", "i/A/x#3"])
      #expect(try file.check().isSound)
    }
    try TemporaryStore.check(path: folder.path("a.arbor"))
  }

  @Test("A database that belongs to nothing in the model is reported")
  func aDatabaseThatNothingNamesIsFound() throws {
    let file = try open([entity("A")])
    defer { file.close() }
    try Vandal(file: file).write { transaction, _ in
      _ = try transaction.createDatabases([(name: "e/Left", flags: StoreFormat.recordFlags)])
    }
    let problems = try file.check().problems.map(\.description)
    #expect(problems == ["Database e/Left: it should not exist."])
  }
}
