import ArborData
import Foundation
import TestSupport
import Testing

@Suite("Migrations with a pass but without custom code") struct MigrationPassTests {
  /// Returns the library's model with modified relationships between authors and books.
  private func changed(
    _ body: (
      _ books: inout RelationshipDescription, _ author: inout RelationshipDescription,
      _ favourites: inout RelationshipDescription, _ fans: inout RelationshipDescription
    ) -> Void
  ) throws -> ManagedObjectModel {
    var model = try Library.model()
    var (books, favourites) = (
      model.entities[0].relationships[0], model.entities[0].relationships[1]
    )
    var (author, fans) = (
      model.entities[1].relationships[0], model.entities[1].relationships[1]
    )
    body(&books, &author, &favourites, &fans)
    model.entities[0].relationships = [books, favourites]
    model.entities[1].relationships = [author, fans]
    return model
  }

  @Test("A to-one relationship becomes to-many and back")
  func aToOneBecomesToManyAndBack() throws {
    let store = try Library.store()
    let model = try changed { _, author, _, _ in author.isToMany = true }
    try store.evolve(to: model)
    try store.evolve(to: Library.model())
    let ordered = try changed { _, author, _, _ in
      author.isToMany = true
      author.isOrdered = true
    }
    try store.evolve(to: ordered)
  }

  @Test("A to-many relationship with several members cannot become to-one")
  func aToManyWithSeveralMembersIsNoToOne() throws {
    let store = try Library.store()
    let model = try changed { books, _, _, _ in books.isToMany = false }
    let refusal = try store.refusal(of: model, begins: true)
    #expect(
      refusal.violations.map(\.message) == [
        """
        Author.books: there are 5 objects with more than one member (Author 1, Author 2, Author 3 \
        and more). Change the objects with the former model, or use a MigrationStep to migrate them.
        """
      ])
    let plan = try PersistentStore.migrationPlan(for: store.url, to: model)
    #expect(plan.obstacles.map(\.message) == refusal.violations.map(\.message))
    #expect(plan.obstacles.first?.objectIDs.map(\.number) == [1, 2, 3])
  }

  /// A relationship without an inverse is rebuilt. An attribute of the same name in the destination
  /// keeps its values.
  @Test("An attribute with the name of a rebuilt relationship keeps its values")
  func anAttributeOfTheSameNameKeepsItsValues() throws {
    func model(isToMany: Bool) -> ManagedObjectModel {
      let id = AttributeDescription(name: "id", type: .integer64)
      let text = AttributeDescription(name: "part", type: .string, isOptional: true)
      return ManagedObjectModel(entities: [
        EntityDescription(
          name: "Whole", attributes: [id],
          relationships: [.init(name: "part", destination: "Part", isToMany: isToMany)]),
        EntityDescription(name: "Part", attributes: [id, text]),
      ])
    }
    var plain = PlainObjects()
    plain.values = ["Whole": [1: ["id": 1]], "Part": [2: ["id": 2, "part": "kept"]]]
    plain.links = ["Whole": [1: ["part": [2]]]]
    let store = try EvolvingStore(model(isToMany: false), plain)
    try store.evolve(to: model(isToMany: true))
    try store.evolve(to: model(isToMany: false))
  }

  /// The additional change that causes the links of the swapped relationships to be rebuilt.
  enum Beside: CaseIterable { case subentityIsRemoved, oneBecomesToOne }

  @Test(
    "Relationships that exchange their names in a pass keep their links", arguments: Beside.allCases
  )
  func relationshipsSwapNames(beside: Beside) throws {
    func tasks(isOlder: Bool) throws -> ManagedObjectModel {
      let isToMany = isOlder || beside != .oneBecomesToOne
      return try ManagedObjectModel {
        EntityDescription("Task") {
          AttributeDescription("id", .integer64)
          RelationshipDescription(
            "blocks", to: "Task", inverse: "waitsFor",
            options: (isToMany ? [.toMany] : []) + (isOlder ? [] : [.renamed(from: "waitsFor")]))
          RelationshipDescription(
            "waitsFor", to: "Task", inverse: "blocks",
            options: [.toMany] + (isOlder ? [] : [.renamed(from: "blocks")]))
        }
        if isOlder || beside != .subentityIsRemoved {
          EntityDescription("Milestone", parent: "Task") {}
        }
      }
    }
    var plain = PlainObjects()
    plain.values = ["Task": [1: ["id": 1], 2: ["id": 2]], "Milestone": [3: ["id": 3]]]
    plain.links = [
      "Task": [1: ["blocks": [2, 3], "waitsFor": []], 2: ["blocks": [], "waitsFor": [1]]],
      "Milestone": [3: ["blocks": [], "waitsFor": [1]]],
    ]
    let store = try EvolvingStore(tasks(isOlder: true), plain)
    try store.evolve(to: tasks(isOlder: false), dropping: .everythingRemoved) { plain in
      for entity in ["Task", "Milestone"] {
        plain.changeLinks(entity) {
          ($0["blocks"], $0["waitsFor"]) = ($0["waitsFor"], $0["blocks"])
        }
      }
      guard beside == .subentityIsRemoved else { return }
      (plain.values["Milestone"], plain.links["Milestone"]) = (nil, nil)
      plain.links["Task"]?[1]?["waitsFor"] = [2]
    }
  }

  @Test("Attributes that exchange their names and change their types keep their values")
  func attributesSwapNames() throws {
    func model(_ type: AttributeType, isSwapped: Bool) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        EntityDescription("Box") {
          AttributeDescription("id", .integer64)
          AttributeDescription(
            "width", type, options: isSwapped ? [.renamed(from: "height")] : [])
          AttributeDescription(
            "height", type, options: isSwapped ? [.renamed(from: "width")] : [])
        }
      }
    }
    var plain = PlainObjects()
    plain.values["Box"] = [1: ["id": 1, "width": 20, "height": 30]]
    let store = try EvolvingStore(model(.integer64, isSwapped: false), plain)
    try store.evolve(to: model(.integer16, isSwapped: true)) { plain in
      plain.change("Box") { ($0["width"], $0["height"]) = ($0["height"], $0["width"]) }
    }
  }

  /// The use of the renamed attribute's former name in the new version.
  enum FormerName: CaseIterable { case isOfNewAttribute, isOfOtherAttribute }

  /// An attribute whose type changes needs a pass; one that keeps its type does not.
  @Test(
    "Renaming identifiers take precedence over names, with and without a pass",
    arguments: FormerName.allCases,
    [AttributeType.integer16, .integer64])
  func identifiersComeBeforeNames(name: FormerName, type: AttributeType) throws {
    let older = try ManagedObjectModel {
      EntityDescription("Box") {
        AttributeDescription("id", .integer64)
        AttributeDescription("height", .integer64, .optional, .renamed(from: "h"))
        AttributeDescription("depth", .integer64, .optional, .renamed(from: "d"))
      }
    }
    let newer = try ManagedObjectModel {
      EntityDescription("Box") {
        AttributeDescription("id", .integer64)
        AttributeDescription("top", type, .optional, .renamed(from: "h"))
        AttributeDescription(
          "height", .integer64,
          options: [.optional] + (name == .isOfNewAttribute ? [] : [.renamed(from: "depth")]))
        if name == .isOfNewAttribute { AttributeDescription("depth", .integer64, .optional) }
      }
    }
    var plain = PlainObjects()
    plain.values["Box"] = [1: ["id": 1, "height": 20, "depth": 30]]
    let store = try EvolvingStore(older, plain)
    try store.evolve(to: newer) { plain in
      plain.change("Box") { values in
        values["top"] = 20
        values["height"] = name == .isOfNewAttribute ? .null : 30
        if name == .isOfOtherAttribute { values["depth"] = nil }
      }
    }
  }

  /// A transient relationship has no stored links, so links are lost in both directions.
  @Test("A relationship that becomes transient, or stored again, loses its links")
  func relationshipsBecomeTransientAndStored() throws {
    let store = try Library.store()
    let model = try changed { books, author, _, _ in
      books.isTransient = true
      author.isTransient = true
    }
    let refusal = try store.refusal(of: model)
    #expect(
      refusal.violations.map(\.message) == [
        """
        Author.books: becomes transient, its links are dropped; list "Author.books" in \
        options.migration = .automatic(dropping:) to drop it, clear its links with the former \
        model, or use a MigrationStep to convert it.
        """,
        """
        Book.author: becomes transient, its links are dropped; list "Book.author" in \
        options.migration = .automatic(dropping:) to drop it, clear its links with the former \
        model, or use a MigrationStep to convert it.
        """,
      ])
    let plan = try PersistentStore.migrationPlan(for: store.url, to: model)
    #expect(!plan.isInPlace && plan.losses.map(\.name) == ["Author.books", "Book.author"])
    let forget = { (plain: inout PlainObjects) in
      plain.changeLinks("Author") { $0["books"] = [] }
      plain.changeLinks("Book") { $0["author"] = [] }
    }
    try store.evolve(to: model, dropping: ["Author.books", "Book.author"], forget)
    try store.evolve(to: Library.model(), forget)
    // The other relationship between the same entities keeps its links.
    let fans = store.plain.links["Book"]?.values.filter { $0["fans"]?.isEmpty == false }
    #expect(fans?.count == Library.count / 10)
  }

  @Test("Links to the objects of a removed entity are removed")
  func linksToObjectsThatGoAreTakenAway() throws {
    var first = try Library.model()
    first.entities.append(EntityDescription(name: "Novel", parent: "Book"))
    var plain = Library.objects()
    plain.values["Novel"] = [
      70_000: [
        "id": 70_000, "title": "a novel", "pages": .null, "isLent": false, "serial": .null,
        "printed": .null,
      ]
    ]
    plain.links["Novel"] = [70_000: ["author": [2], "fans": [3]]]
    plain.links["Author"]?[2]?["books"]?.append(70_000)
    plain.links["Author"]?[3]?["favourites"]?.append(70_000)
    let store = try EvolvingStore(first, plain)
    try store.evolve(to: Library.model(), dropping: ["Novel"]) { $0 = Library.objects() }
  }

  @Test("Relationships become ordered and unordered")
  func linksGainAndLoseTheirOrder() throws {
    let store = try Library.store()
    let model = try changed { books, _, favourites, _ in
      books.isOrdered = true
      favourites.isOrdered = false
    }
    try store.evolve(to: model, dropping: ["Author.favourites"]) { plain in
      plain.changeLinks("Author") { $0["favourites"]?.sort() }
    }
  }

  @Test("Links are kept if the inverse of a relationship changes")
  func anotherInverseTakesTheLinks() throws {
    let store = try Library.store()
    // Both sides are separated and then joined again.
    let apart = try changed { books, author, _, _ in
      books.inverse = nil
      author.inverse = nil
    }
    try store.evolve(to: apart)
    try store.evolve(to: Library.model())
    // A link that only one side has prevents joining them.
    try store.evolve(to: apart)
    try store.change { context, plain in
      let author = try #require(
        try context.fetch(FetchRequest<ManagedObject>(entity: "Author", predicate: "id == 2")).first
      )
      author["books"] = [ManagedObject]()
      plain.links["Author"]?[2]?["books"] = []
    }
    let refusal = try store.refusal(of: Library.model(), begins: true)
    #expect(refusal.violations.map(\.keyPath) == ["author"], "\(refusal)")
    #expect(refusal.violations.first?.message.contains("in the inverse of author (Book ") == true)
  }

  @Test("A destination can be narrowed if all members belong to it")
  func aDestinationMayChangeWhereAllMembersFit() throws {
    let store = try Library.store()
    var model = try Library.model()
    model.entities.append(EntityDescription(name: "Novel", parent: "Book"))
    try store.evolve(to: model)
    try store.change { context, plain in
      let id = Int64(70_000)
      let novel = try context.insert("Novel")
      novel["id"] = id
      novel["title"] = "a novel"
      plain.values["Novel"] = [
        id: [
          "id": .integer(id), "title": "a novel", "pages": .null, "isLent": false,
          "serial": .null, "printed": .null,
        ]
      ]
      plain.links["Novel"] = [id: ["author": [], "fans": []]]
    }
    // The destination becomes Novel, although links lead to other books.
    var narrow = model
    narrow.entities[0].relationships[1].destination = "Novel"
    let fans = narrow.entities[1].relationships.remove(at: 1)
    narrow.entities[2].relationships.append(fans)
    let options = StoreOptions(migration: .automatic(dropping: .everythingRemoved))
    let refusal = try store.refusal(of: narrow, options, begins: true)
    #expect(
      refusal.violations.map(\.message).contains {
        $0.contains("members of an entity that favourites doesn't accept")
      }, "\(refusal)")
    try store.change { context, plain in
      for author in try context.fetch(FetchRequest<ManagedObject>(entity: "Author")) {
        author["favourites"] = [ManagedObject]()
      }
      plain.changeLinks("Author") { $0["favourites"] = [] }
      plain.changeLinks("Book") { $0["fans"] = [] }
    }
    try store.evolve(to: narrow, options) { plain in
      plain.changeLinks("Book") { $0["fans"] = nil }
    }
  }

  @Test("Numbers are converted to another type if all of them fit")
  func numbersConvertWhereTheyFit() throws {
    func model(_ type: AttributeType) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        EntityDescription("Item") {
          AttributeDescription("id", .integer64)
          AttributeDescription("number", type, .optional)
        }
      }
    }
    var plain = PlainObjects()
    plain.values["Item"] = [
      1: ["id": 1, "number": .double(12)], 2: ["id": 2, "number": .double(-3)],
      3: ["id": 3, "number": .null],
    ]
    let store = try EvolvingStore(model(.double), plain)
    let convert = { (value: @escaping (Int64) -> PropertyValue) in
      { (plain: inout PlainObjects) in
        plain.values["Item"]?[1]?["number"] = value(12)
        plain.values["Item"]?[2]?["number"] = value(-3)
      }
    }
    try store.evolve(to: model(.integer16), convert { .integer($0) })
    try store.evolve(to: model(.decimal), convert { .decimal(Decimal($0)) })
    try store.evolve(to: model(.integer64), convert { .integer($0) })
    try store.evolve(to: model(.float), convert { .double(Double($0)) })
    try store.change { context, plain in
      let request = FetchRequest<ManagedObject>(entity: "Item", predicate: "id == 1")
      try context.fetch(request).first?["number"] = 0.5
      plain.values["Item"]?[1]?["number"] = .double(0.5)
    }
    let refusal = try store.refusal(of: model(.integer32), begins: true)
    #expect(
      refusal.violations.map(\.message) == [
        """
        Item.number: there is 1 object with a value that integer32 cannot hold (Item 1). Change \
        the objects with the former model, or use a MigrationStep to migrate them.
        """
      ])
  }

  @Test("Making an attribute mandatory requires no default if all objects have a value")
  func mandatoryNumbersConvert() throws {
    func model(_ type: AttributeType, isOptional: Bool = false) -> ManagedObjectModel {
      ManagedObjectModel(entities: [
        EntityDescription(
          name: "Item", isAbstract: true,
          attributes: [
            AttributeDescription(name: "id", type: .integer64),
            AttributeDescription(name: "number", type: type, isOptional: isOptional),
          ]), EntityDescription(name: "Part", parent: "Item"),
      ])
    }
    var plain = PlainObjects()
    plain.values["Part"] = [1: ["id": 1, "number": 12], 2: ["id": 2, "number": -3]]
    let store = try EvolvingStore(model(.integer64), plain)
    try store.evolve(to: model(.integer16))
    try store.evolve(to: model(.integer64, isOptional: true))
    try store.change { context, plain in
      let request = FetchRequest<ManagedObject>(entity: "Part", predicate: "id == 2")
      try context.fetch(request).first?["number"] = PropertyValue.null
      plain.values["Part"]?[2]?["number"] = .null
    }
    let refusal = try store.refusal(of: model(.integer16))
    let expected = """
      Part.number: it becomes mandatory without a default, but there is 1 object without a value \
      (Part 2). Give the attribute a default, give each object a value with the former model, or \
      use a MigrationStep to do so.
      """
    #expect(refusal.violations.map(\.message) == [expected])
    let plan = try PersistentStore.migrationPlan(for: store.url, to: model(.integer16))
    #expect(plan.obstacles.map(\.message) == [expected])
  }

  @Test("Derived values are computed by a migration")
  func derivedValuesAreComputed() throws {
    func model(_ derivation: String?) throws -> ManagedObjectModel {
      try Library.changed("Author") { author in
        guard let derivation else { return }
        author.attributes.append(
          AttributeDescription(
            name: "bookCount", type: .integer64, isOptional: true, derivation: derivation))
      }
    }
    let store = try Library.store()
    for derivation in ["books.@count", "favourites.@count"] {
      try store.evolve(to: model(derivation))
      let opened = try PersistentStore(at: .file(store.url))
      defer { opened.close() }
      let context = opened.makeContext()
      let authors = try context.fetch(FetchRequest<ManagedObject>(entity: "Author"))
      if derivation.hasPrefix("books") {
        #expect(authors.map { $0["bookCount"] as Int } == authors.map { _ in Library.count / 5 })
      } else {
        #expect(
          authors.map { $0["bookCount"] as Int } == authors.map { $0.count("favourites") })
      }
    }
  }

  @Test("Large values move to external storage and back")
  func largeValuesGoOutsideAndComeBack() throws {
    func model(_ allowsExternalStorage: Bool) -> ManagedObjectModel {
      ManagedObjectModel(entities: [
        EntityDescription(
          name: "Picture",
          attributes: [
            AttributeDescription(name: "id", type: .integer64),
            AttributeDescription(
              name: "image", type: .binary, isOptional: true,
              allowsExternalStorage: allowsExternalStorage),
          ])
      ])
    }
    var plain = PlainObjects()
    for number in 0..<6 {
      let data = Data(repeating: UInt8(number), count: number * 40_000)
      plain.values["Picture", default: [:]][Int64(number)] = [
        "id": .integer(Int64(number)), "image": number == 0 ? .null : .binary(data),
      ]
    }
    let store = try EvolvingStore(model(false), plain)
    try store.evolve(to: model(true))
    try store.evolve(to: model(false))
  }

  @Test("An explicit `nil` is kept even if the attribute has a default")
  func nilStaysNilBesideADefault() throws {
    func model(_ type: AttributeType, isExternal: Bool) -> ManagedObjectModel {
      ManagedObjectModel(entities: [
        EntityDescription(
          name: "Picture",
          attributes: [
            AttributeDescription(name: "id", type: .integer64),
            AttributeDescription(
              name: "image", type: .binary, isOptional: true, defaultValue: .binary(Data([1])),
              allowsExternalStorage: isExternal),
            AttributeDescription(
              name: "rank", type: type, isOptional: true, defaultValue: 7),
          ])
      ])
    }
    var plain = PlainObjects()
    plain.values["Picture"] = [
      1: ["id": 1, "image": .null, "rank": .null],
      2: ["id": 2, "image": .binary(Data(repeating: 2, count: 20_000)), "rank": 3],
    ]
    let store = try EvolvingStore(model(.integer64, isExternal: false), plain)
    try store.evolve(to: model(.integer16, isExternal: true))
    try store.evolve(to: model(.integer64, isExternal: false))
  }
}

extension ManagedObject {
  fileprivate func count(_ key: String) -> Int { (self[key] as [ManagedObject]).count }
}
