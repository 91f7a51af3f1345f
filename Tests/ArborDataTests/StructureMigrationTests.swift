import ArborData
import Foundation
import TestLength
import TestSupport
import Testing

/// Migrations that add, remove or change entities and relationships.
@Suite struct StructureMigrationTests {
  // MARK: Entities

  @Test("Entities can be added, and removed if they are listed")
  func entitiesComeAndGo() throws {
    let store = try Library.store()
    var model = try Library.model()
    model.entities.append(
      EntityDescription(
        name: "Shelf",
        attributes: [
          AttributeDescription(name: "id", type: .integer64),
          AttributeDescription(name: "label", type: .string, isOptional: true, isIndexed: true),
        ]))
    try store.evolve(to: model)
    func fill(_ ids: Range<Int64>) throws -> [ObjectID] {
      var made: [ObjectID] = []
      try store.change { context, plain in
        for id in ids {
          let shelf = try context.insert("Shelf")
          shelf["id"] = .integer(id)
          made.append(shelf.objectID)
          plain.values["Shelf", default: [:]][id] = ["id": .integer(id), "label": .null]
        }
      }
      return made
    }
    let former = try fill(5000..<5100)
    #expect(try store.refusal(of: Library.model()).violations.map(\.entity) == ["Shelf"])
    try store.evolve(to: Library.model(), dropping: ["Shelf"]) { $0.values["Shelf"] = nil }
    // A new entity of the same name is a different one, so old IDs don't identify its objects.
    try store.evolve(to: model)
    _ = try fill(6000..<6010)
    let opened = try PersistentStore(at: .file(store.url))
    defer { opened.close() }
    let context = opened.makeContext()
    #expect(try context.fetch(FetchRequest<ManagedObject>(entity: "Shelf")).count == 10)
    _ = former
  }

  @Test("Renamed entities keep their objects and links")
  func renamedEntitiesKeepEverything() throws {
    let store = try Library.store()
    var model = try Library.model()
    model.entities[1].name = "Volume"
    model.entities[1].renamingIdentifier = "Book"
    model.entities[0].relationships[0].destination = "Volume"
    model.entities[0].relationships[1].destination = "Volume"
    try store.evolve(to: model) { $0.rename("Book", to: "Volume") }
    try store.change { context, plain in
      let request = FetchRequest<ManagedObject>(entity: "Volume", predicate: "id == 1001")
      let volume = try #require(try context.fetch(request).first)
      context.delete(volume)
      plain.values["Volume"]?[1001] = nil
      plain.links["Volume"]?[1001] = nil
      plain.links["Author"]?[1]?["books"]?.removeAll { $0 == 1001 }
    }
  }

  /// Two parts of the same form that can exchange their names: the models differ only in renaming
  /// identifiers.
  enum Exchange: String, CaseIterable {
    case attributes = "first last"
    case inherited = "call cry"
    case toOne = "mother father"
    case toMany = "friends rivals"
    case ordered = "gold silver"
    case entities = "Cat Dog"

    var names: [String] { rawValue.split(separator: " ").map(String.init) }

    func attributes(_ chosen: Exchange?) -> [AttributeDescription] {
      names.map {
        AttributeDescription(
          name: $0, type: .string, isOptional: true, renamingIdentifier: former($0, chosen))
      }
    }

    func relationships(_ chosen: Exchange?) -> [RelationshipDescription] {
      names.map {
        RelationshipDescription(
          name: $0, destination: "Person", isToMany: self != .toOne, isOrdered: self == .ordered,
          renamingIdentifier: former($0, chosen))
      }
    }

    func entities(_ chosen: Exchange?) -> [EntityDescription] {
      names.map {
        EntityDescription(
          name: $0, attributes: [AttributeDescription(name: "id", type: .integer64)],
          renamingIdentifier: former($0, chosen))
      }
    }

    private func former(_ name: String, _ chosen: Exchange?) -> String? {
      self == chosen ? names.first { $0 != name } : nil
    }

    /// Exchanges the names in the objects.
    func apply(to plain: inout PlainObjects) {
      let (first, second) = (names[0], names[1])
      func exchange<PropertyValue>(_ values: inout [String: PropertyValue]) {
        (values[first], values[second]) = (values[second], values[first])
      }
      if self == .entities { exchange(&plain.values) }
      plain.change("Person", exchange)
      plain.changeLinks("Person", exchange)
    }
  }

  private static func twins(_ chosen: Exchange? = nil) -> ManagedObjectModel {
    ManagedObjectModel(
      entities: [
        EntityDescription(
          name: "Being", isAbstract: true,
          attributes: [AttributeDescription(name: "id", type: .integer64)]
            + Exchange.inherited.attributes(chosen)),
        EntityDescription(
          name: "Person", parent: "Being", attributes: Exchange.attributes.attributes(chosen),
          relationships: [Exchange.toOne, .toMany, .ordered].flatMap { $0.relationships(chosen) }),
      ] + Exchange.entities.entities(chosen))
  }

  @Test(
    "Properties and entities that exchange their names keep their values",
    arguments: Exchange.allCases)
  func exchangedNames(exchange: Exchange) throws {
    var plain = PlainObjects()
    for id in Int64(1)...20 {
      let next = id % 20 + 1
      plain.values["Person", default: [:]][id] = [
        "id": .integer(id), "first": .string("first \(id)"), "last": .string("last \(id)"),
        "call": .string("call \(id)"), "cry": .null,
      ]
      plain.links["Person", default: [:]][id] = [
        "mother": [next], "father": [], "friends": [id, next].sorted(), "rivals": [],
        "gold": [next, id], "silver": [],
      ]
      plain.values["Cat", default: [:]][id + 100] = ["id": .integer(id + 100)]
    }
    let store = try EvolvingStore(Self.twins(), plain)
    let newer = Self.twins(exchange)
    try store.evolve(to: newer) { exchange.apply(to: &$0) }
    // Opening the store again changes nothing, and neither does copying it.
    try store.evolve(to: newer)
    for compacting in [false, true] {
      let copy = store.folder.url.appending(path: "copy-\(compacting).arbor")
      let opened = try PersistentStore(at: .file(store.url))
      try opened.copy(to: copy, compacting: compacting)
      opened.close()
      let copied = try PersistentStore(model: newer, at: .file(copy))
      defer { copied.close() }
      try copied.check()
      #expect(try EvolvingStore.read(copied) == store.plain)
    }
  }

  // MARK: Relationships

  @Test("A property that moves up to a name that becomes free keeps its values")
  func movedToATakenName() throws {
    func model(isNewer: Bool) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        EntityDescription("Shape") {
          AttributeDescription("id", .integer64)
          AttributeDescription(
            "size", .integer64, options: [.optional] + (isNewer ? [.renamed(from: "radius")] : []))
          RelationshipDescription(
            "near", to: "Shape", options: [.toMany] + (isNewer ? [.renamed(from: "inside")] : []))
        }
        EntityDescription("Circle", parent: "Shape") {
          if !isNewer {
            AttributeDescription("radius", .integer64, .optional)
            RelationshipDescription("inside", to: "Shape", .toMany)
          }
        }
      }
    }
    var plain = PlainObjects()
    plain.values = [
      "Shape": [1: ["id": 1, "size": 10]], "Circle": [2: ["id": 2, "size": 20, "radius": 3]],
    ]
    plain.links = [
      "Shape": [1: ["near": [2]]], "Circle": [2: ["near": [1, 2], "inside": [1]]],
    ]
    let store = try EvolvingStore(model(isNewer: false), plain)
    try store.evolve(to: model(isNewer: true), dropping: .everythingRemoved) { plain in
      plain.values["Shape"]?[1]?["size"] = .null
      plain.values["Circle"] = [2: ["id": 2, "size": 3]]
      plain.links = ["Shape": [1: ["near": []]], "Circle": [2: ["near": [1]]]]
    }
  }

  /// The links of the two kinds of objects come from different relationships.
  @Test("A relationship that moves down keeps only the links of its new owners")
  func linksOfSomeOwnersMoveDown() throws {
    func model(isNewer: Bool) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        EntityDescription("Shape") {
          AttributeDescription("id", .integer64)
          if !isNewer { RelationshipDescription("near", to: "Shape", .toMany) }
        }
        EntityDescription("Oval", parent: "Shape") {
          if isNewer {
            RelationshipDescription("near", to: "Shape", .toMany, .renamed(from: "inside"))
          }
        }
        EntityDescription("Circle", parent: "Oval") {
          if !isNewer { RelationshipDescription("inside", to: "Shape", .toMany) }
        }
      }
    }
    var plain = PlainObjects()
    plain.values = [
      "Shape": [1: ["id": 1]], "Oval": [2: ["id": 2]], "Circle": [3: ["id": 3]],
    ]
    plain.links = [
      "Shape": [1: ["near": [2]]], "Oval": [2: ["near": [1, 2, 3]]],
      "Circle": [3: ["near": [2, 3], "inside": [1, 3]]],
    ]
    let store = try EvolvingStore(model(isNewer: false), plain)
    try store.evolve(to: model(isNewer: true), dropping: .everythingRemoved) { plain in
      plain.links = ["Oval": [2: ["near": [1, 2, 3]]], "Circle": [3: ["near": [1, 3]]]]
    }
  }

  @Test("Relationships can be added, and removed if they are listed")
  func relationshipsComeAndGo() throws {
    let store = try Library.store()
    var model = try Library.model()
    model.entities[0].relationships.append(
      RelationshipDescription(name: "reviews", destination: "Book", isToMany: true))
    model.entities[1].relationships.append(
      RelationshipDescription(name: "editor", destination: "Author"))
    try store.evolve(to: model)
    try store.change { context, plain in
      let books = try context.fetch(
        FetchRequest<ManagedObject>(entity: "Book", predicate: "id < 1010", sortKeys: ["id"]))
      let author = try #require(
        try context.fetch(FetchRequest<ManagedObject>(entity: "Author", predicate: "id == 2"))
          .first)
      author["reviews"] = books
      plain.links["Author"]?[2]?["reviews"] = (1000..<1010).map { $0 }
      for book in books { book["editor"] = author }
      for id in Int64(1000)..<1010 { plain.links["Book"]?[id]?["editor"] = [2] }
    }
    #expect(
      Set(try store.refusal(of: Library.model()).violations.map(\.keyPath))
        == ["reviews", "editor"])
    try store.evolve(to: Library.model(), dropping: ["Author.reviews", "Book.editor"]) { plain in
      plain.changeLinks("Author") { $0["reviews"] = nil }
      plain.changeLinks("Book") { $0["editor"] = nil }
    }
    // The links are kept if only the inverse is removed.
    var lopsided = try Library.model()
    lopsided.entities[0].relationships.remove(at: 0)
    lopsided.entities[1].relationships[0].inverse = nil
    try store.evolve(to: lopsided) { plain in plain.changeLinks("Author") { $0["books"] = nil } }
    try store.evolve(to: Library.model()) { plain in
      for (id, links) in plain.links["Book"] ?? [:] {
        guard let author = links["author"]?.first else { continue }
        plain.links["Author"]?[author]?["books", default: []].append(id)
      }
      plain.changeLinks("Author") { $0["books"]?.sort() }
    }
  }

  @Test("Renamed relationships keep their links")
  func renamedRelationshipsKeepTheirLinks() throws {
    let store = try Library.store()
    var model = try Library.model()
    model.entities[0].relationships[0].name = "works"
    model.entities[0].relationships[0].renamingIdentifier = "books"
    model.entities[0].relationships[1].name = "shelf"
    model.entities[0].relationships[1].renamingIdentifier = "favourites"
    model.entities[1].relationships[0].inverse = "works"
    model.entities[1].relationships[0].name = "writer"
    model.entities[1].relationships[0].renamingIdentifier = "author"
    model.entities[0].relationships[0].inverse = "writer"
    model.entities[1].relationships[1].inverse = "shelf"
    try store.evolve(to: model) { plain in
      plain.changeLinks("Author") {
        $0["works"] = $0.removeValue(forKey: "books")
        $0["shelf"] = $0.removeValue(forKey: "favourites")
      }
      plain.changeLinks("Book") { $0["writer"] = $0.removeValue(forKey: "author") }
    }
  }

  @Test("A change of a relationship's order needs a pass over the objects")
  func anotherShapeOfLinksTakesAPass() throws {
    let store = try Library.store()
    var model = try Library.model()
    model.entities[0].relationships[1].isOrdered = false
    let refusal = try store.refusal(of: model, StoreOptions(migration: .lightweightOnly))
    #expect(
      refusal.violations.map(\.message) == [
        """
        Author.favourites: becomes unordered, its order is dropped; it needs a pass over the \
        objects, which .lightweightOnly doesn't make. Set options.migration to .automatic.
        """
      ])
    #expect(try store.refusal(of: model).violations.map(\.keyPath) == ["favourites"])
    try store.evolve(to: model, dropping: ["Author.favourites"]) { plain in
      plain.changeLinks("Author") { $0["favourites"]?.sort() }
    }
  }

  // MARK: Options

  @Test("A store that is opened for reading is not migrated")
  func aStoreThatIsOpenedForReadingStaysAsItIs() throws {
    let store = try Library.store()
    let model = try Library.changed("Book") {
      $0.attributes.append(AttributeDescription(name: "note", type: .string, isOptional: true))
    }
    let reading = try store.refusal(of: model, StoreOptions(isReadOnly: true))
    #expect(
      reading.description == """
        The store has a different model and was opened read-only, so it cannot be migrated. Open \
        the store for writing once to migrate it, or open it with its own model.
        - Book.note: added, existing objects have nil (lightweight)
        """)
    let refusing = try store.refusal(of: model, StoreOptions(migration: .refuse))
    #expect(refusing.code == .modelMismatch && refusing.message.contains("options don't allow"))
    // Within a process, a store cannot be migrated while it is open.
    let open = try PersistentStore(at: .file(store.url))
    #expect(throws: ArborError.self) { try PersistentStore(model: model, at: .file(store.url)) }
    open.close()
    try store.evolve(to: model) { plain in plain.change("Book") { $0["note"] = .null } }
    // A migrated store can be opened for reading only.
    let reader = try PersistentStore(
      model: model, at: .file(store.url), options: StoreOptions(isReadOnly: true))
    defer { reader.close() }
    #expect(try reader.makeContext().count("Book") == Library.count)
  }

  /// A migration with all kinds of changes is one transaction of few pages, regardless of the
  /// number of objects.
  @Test("An in-place migration writes a constant number of pages")
  func openingWritesAConstantNumberOfPages() throws {
    let folder = try TemporaryFolder()
    func pages(_ count: Int) throws -> Int {
      let url = folder.url.appending(path: "\(count).arbor")
      var plain = PlainObjects()
      for number in 0..<count {
        plain.values["Book", default: [:]][Int64(number)] = [
          "id": .integer(Int64(number)), "title": .string(Library.text(number)), "pages": .null,
        ]
      }
      func words(_ attribute: String) -> FetchIndexDescription {
        FetchIndexDescription(name: "words", elements: [.init(attribute, kind: .text)])
      }
      let former = try Library.changed("Book") { $0.fetchIndexes = [words("title")] }
      try EvolvingStore.write(plain, former, to: url)
      let before = try Data(contentsOf: url)
      let model = try Library.changed("Book") { book in
        book.attributes[1].name = "heading"
        book.attributes[1].renamingIdentifier = "title"
        book.fetchIndexes = [words("heading")]
        book.attributes.removeAll { $0.name == "pages" }
        book.attributes.append(
          AttributeDescription(name: "rank", type: .integer32, defaultValue: 1))
      }
      let options = StoreOptions(migration: .automatic(dropping: ["Book.pages"]))
      try PersistentStore(model: model, at: .file(url), options: options).close()
      let after = try Data(contentsOf: url)
      let size = 4096
      return stride(from: 0, to: max(before.count, after.count), by: size).count { start in
        before[min(start, before.count)..<min(start + size, before.count)]
          != after[min(start, after.count)..<min(start + size, after.count)]
      }
    }
    let (few, many) = (try pages(200), try pages(TestLength.of(20_000, long: 200_000)))
    #expect(many <= few + 8, "\(few) pages, then \(many)")
  }
}
