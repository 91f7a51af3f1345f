import ArborData
import Foundation
import Testing

/// A kind of change that applications make to their models, and its reversal.
struct MigrationKind: Sendable, CustomTestStringConvertible {
  typealias Code = @Sendable (MigrationManager) throws -> Void
  typealias Edit = @Sendable (inout ManagedObjectModel) throws -> Void
  typealias Change = @Sendable (inout PlainObjects) -> Void

  let testDescription: String
  /// Modifies the library's model before the migration.
  var former: Edit = { _ in }
  /// Changes the model. `there` and `back` describe the effects on the objects.
  let newer: Edit
  /// Modifies the library's objects before the migration.
  var prepare: Change = { _ in }
  var there: Change = { _ in }
  var back: Change = { _ in }
  /// The code of a migration step, if one is needed.
  var codeThere: Code?
  var codeBack: Code?
  var droppingThere: StoreOptions.Migration.Dropping = []
  var droppingBack: StoreOptions.Migration.Dropping = []

  func options(
    from former: ManagedObjectModel, to newer: ManagedObjectModel, isBack: Bool
  ) -> StoreOptions {
    var options = StoreOptions(
      migration: .automatic(dropping: isBack ? droppingBack : droppingThere), durability: .relaxed)
    if let code = isBack ? codeBack : codeThere {
      options.migrationSteps = [MigrationStep(from: former, to: newer, code)]
    }
    return options
  }

  // MARK: Edits

  private static func author(
    _ body: @Sendable @escaping (inout EntityDescription) -> Void
  ) -> Edit {
    { body(&$0.entities[0]) }
  }

  private static func book(_ body: @Sendable @escaping (inout EntityDescription) -> Void) -> Edit {
    { body(&$0.entities[1]) }
  }

  private static func attribute(
    _ name: String, _ body: @Sendable @escaping (inout AttributeDescription) -> Void
  ) -> Edit {
    book { book in
      for index in book.attributes.indices where book.attributes[index].name == name {
        body(&book.attributes[index])
      }
    }
  }

  private static func adding(_ attribute: AttributeDescription) -> Edit {
    book { $0.attributes.append(attribute) }
  }

  private static func setting(_ name: String, _ value: PropertyValue?) -> Change {
    { $0.change("Book") { $0[name] = value } }
  }

  // MARK: Attributes

  static let attributes = [
    Self(
      testDescription: "attribute added, optional with default",
      newer: adding(.init(name: "rank", type: .integer32, isOptional: true, defaultValue: 7)),
      there: setting("rank", 7), back: setting("rank", nil), droppingBack: ["Book.rank"]),
    Self(
      testDescription: "attribute added, mandatory with default",
      newer: adding(.init(name: "rank", type: .integer32, defaultValue: 7)),
      there: setting("rank", 7), back: setting("rank", nil), droppingBack: ["Book.rank"]),
    Self(
      testDescription: "attribute added, derived",
      newer: adding(
        .init(name: "fanCount", type: .integer64, isOptional: true, derivation: "fans.@count"))),
    Self(
      testDescription: "attribute added, mandatory without default",
      newer: adding(.init(name: "code", type: .string)),
      there: { $0.change("Book") { $0["code"] = code($0["id"]) } },
      back: setting("code", nil),
      codeThere: { try $0.migrate("Book") { old, new in new["code"] = code(old["id"]) } },
      droppingBack: ["Book.code"]),
    Self(
      testDescription: "attribute added, transient",
      newer: adding(.init(name: "scratch", type: .string, isOptional: true, isTransient: true))),
    Self(
      testDescription: "attribute renamed without a mark",
      newer: attribute("title") { $0.name = "heading" },
      there: { $0.change("Book") { $0["heading"] = $0.removeValue(forKey: "title") } },
      back: { $0.change("Book") { $0["title"] = $0.removeValue(forKey: "heading") } },
      codeThere: {
        try $0.migrate("Book") { old, new in new["heading"] = old["title"] as PropertyValue }
      },
      codeBack: {
        try $0.migrate("Book") { old, new in new["title"] = old["heading"] as PropertyValue }
      }),
    Self(
      testDescription: "attribute type changed, numbers",
      former: attribute("pages") { $0.type = .double },
      newer: attribute("pages") { $0.type = .integer16 },
      prepare: { $0.change("Book") { $0["pages"] = double($0["pages"]) } },
      there: { $0.change("Book") { $0["pages"] = integer($0["pages"]) } },
      back: { $0.change("Book") { $0["pages"] = double($0["pages"]) } }),
    Self(
      testDescription: "attribute type changed, with code",
      newer: attribute("pages") { $0.type = .string },
      there: { $0.change("Book") { $0["pages"] = text($0["pages"]) } },
      back: { $0.change("Book") { $0["pages"] = number($0["pages"]) } },
      codeThere: {
        try $0.migrate("Book") { old, new in new["pages"] = text(old["pages"]) ?? .null }
      },
      codeBack: {
        try $0.migrate("Book") { old, new in new["pages"] = number(old["pages"]) ?? .null }
      }),
    Self(
      testDescription: "value transformer changed",
      former: adding(.init(name: "shape", type: .transformable("Square"), isOptional: true)),
      newer: adding(.init(name: "shape", type: .transformable("Circle"), isOptional: true)),
      prepare: { $0.change("Book") { $0["shape"] = data($0["id"], longEvery: .max) } }),
    Self(
      testDescription: "optional to mandatory without default, and back",
      former: attribute("title") { $0.isOptional = true }, newer: { _ in }),
    Self(
      testDescription: "default changed", newer: attribute("isLent") { $0.defaultValue = true }),
    Self(
      testDescription: "bounds narrower and wider",
      newer: attribute("pages") { ($0.minimum, $0.maximum) = (0, 299) }),
    Self(
      testDescription: "external storage",
      former: adding(.init(name: "cover", type: .binary, isOptional: true)),
      newer: adding(
        .init(name: "cover", type: .binary, isOptional: true, allowsExternalStorage: true)),
      prepare: { $0.change("Book") { $0["cover"] = data($0["id"], longEvery: 10) } }),
  ]

  private static func code(_ id: PropertyValue?) -> PropertyValue { .string("code \(id ?? .null)") }

  private static func double(_ value: PropertyValue?) -> PropertyValue? {
    if case .integer(let number)? = value { .double(Double(number)) } else { value }
  }

  private static func integer(_ value: PropertyValue?) -> PropertyValue? {
    if case .double(let number)? = value { .integer(Int64(number)) } else { value }
  }

  private static func text(_ value: PropertyValue?) -> PropertyValue? {
    if case .integer(let number)? = value { .string("\(number)") } else { value }
  }

  private static func number(_ value: PropertyValue?) -> PropertyValue? {
    if case .string(let text)? = value { .integer(Int64(text) ?? 0) } else { value }
  }

  /// Returns a few bytes, or every `distance` objects a value large enough for external storage.
  private static func data(_ id: PropertyValue?, longEvery distance: Int64) -> PropertyValue {
    guard case .integer(let id)? = id else { return .null }
    return .binary(
      Data(repeating: UInt8(truncatingIfNeeded: id), count: id % distance == 0 ? 20_000 : 8))
  }

  // MARK: Relationships

  static let relationships = [
    Self(
      testDescription: "relationship added, to-one and mandatory",
      newer: book {
        $0.relationships.append(
          RelationshipDescription(name: "editor", destination: "Author", isOptional: false))
      },
      there: { $0.changeLinks("Book") { $0["editor"] = $0["author"] } },
      back: { $0.changeLinks("Book") { $0["editor"] = nil } },
      codeThere: { migration in
        try migration.migrate("Book") { old, new in
          new["editor"] = try (old["author"] as ManagedObject?).flatMap {
            try migration.object(for: $0)
          }
        }
      }, droppingBack: ["Book.editor"]),
    Self(
      testDescription: "relationship added, to-many and mandatory",
      newer: author {
        $0.relationships.append(
          RelationshipDescription(
            name: "reviews", destination: "Book", isToMany: true, isOptional: false))
      },
      there: { $0.changeLinks("Author") { $0["reviews"] = [] } },
      back: { $0.changeLinks("Author") { $0["reviews"] = nil } }, droppingBack: ["Author.reviews"]),
    Self(
      testDescription: "relationship renamed",
      newer: { model in
        model.entities[0].relationships[0].name = "works"
        model.entities[0].relationships[0].renamingIdentifier = "books"
        model.entities[1].relationships[0].inverse = "works"
      },
      there: { $0.changeLinks("Author") { $0["works"] = $0.removeValue(forKey: "books") } },
      back: { $0.changeLinks("Author") { $0["books"] = $0.removeValue(forKey: "works") } }),
    Self(
      testDescription: "order gained and lost",
      newer: author { $0.relationships[0].isOrdered = true }, droppingBack: ["Author.books"]),
    Self(
      testDescription: "destination changed to a subentity and back", former: novels("Book"),
      newer: novels("Novel"), prepare: shelveNovels),
    Self(
      testDescription: "destination changed to another entity",
      former: sequel("Book"), newer: sequel("Author"),
      there: { $0.changeLinks("Book") { $0["sequel"] = $0["author"] } },
      back: { $0.changeLinks("Book") { $0["sequel"] = nil } },
      codeThere: { migration in
        try migration.migrate("Book") { old, new in
          new["sequel"] = try (old["author"] as ManagedObject?).flatMap {
            try migration.object(for: $0)
          }
        }
      },
      codeBack: { try $0.migrate("Book") { _, new in new["sequel"] = nil as ManagedObject? } }),
    Self(
      testDescription: "delete rule changed",
      newer: author { $0.relationships[0].deleteRule = .cascade }),
    Self(
      testDescription: "attribute to relationship, and back",
      newer: { model in
        model.entities[1].attributes.removeAll { $0.name == "title" }
        model.entities[1].relationships.append(.init(name: "title", destination: "Title"))
        model.entities.append(
          EntityDescription(
            name: "Title",
            attributes: [
              .init(name: "id", type: .integer64), .init(name: "words", type: .string),
            ]))
      },
      there: splitTitles, back: joinTitles,
      codeThere: { migration in
        try migration.migrate("Book") { old, new in
          let title = try migration.insert("Title")
          title["id"] = firstTitle + (old["id"] as Int64)
          title["words"] = old["title"] as PropertyValue
          new["title"] = title
        }
      },
      codeBack: { migration in
        try migration.migrate("Book") { old, new in
          new["title"] = (old["title"] as ManagedObject?)?["words"] as PropertyValue? ?? .null
        }
      }, droppingBack: ["Title"]),
  ]

  /// Adds relationships from authors to an entity of books.
  private static func novels(_ destination: String) -> Edit {
    { model in
      if model.entity(named: "Novel") == nil {
        model.entities.append(EntityDescription(name: "Novel", parent: "Book"))
      }
      model.entities[0].relationships.removeAll { ["debut", "shelf"].contains($0.name) }
      model.entities[0].relationships += [
        .init(name: "debut", destination: destination),
        .init(name: "shelf", destination: destination, isToMany: true, isOrdered: true),
      ]
    }
  }

  /// Turns every other book into a novel, and links authors to theirs.
  private static func shelveNovels(_ plain: inout PlainObjects) {
    for id in (plain.values["Book"] ?? [:]).keys where id.isMultiple(of: 2) {
      plain.values["Novel", default: [:]][id] = plain.values["Book"]?.removeValue(forKey: id)
      plain.links["Novel", default: [:]][id] = plain.links["Book"]?.removeValue(forKey: id)
    }
    for (id, links) in plain.links["Author"] ?? [:] {
      let novels = (links["books"] ?? []).filter { $0.isMultiple(of: 2) }
      plain.links["Author"]?[id]?["debut"] = Array(novels.prefix(1))
      plain.links["Author"]?[id]?["shelf"] = novels.reversed()
    }
  }

  private static func sequel(_ destination: String) -> Edit {
    book { book in
      book.relationships.removeAll { $0.name == "sequel" }
      book.relationships.append(.init(name: "sequel", destination: destination))
    }
  }

  private static let firstTitle: Int64 = 1_000_000

  private static func splitTitles(_ plain: inout PlainObjects) {
    for (book, values) in plain.values["Book"] ?? [:] {
      let id = firstTitle + book
      plain.values["Title", default: [:]][id] = [
        "id": .integer(id), "words": values["title"] ?? .null,
      ]
      plain.values["Book"]?[book]?["title"] = nil
      plain.links["Book"]?[book]?["title"] = [id]
    }
  }

  private static func joinTitles(_ plain: inout PlainObjects) {
    let titles = plain.values.removeValue(forKey: "Title") ?? [:]
    for book in (plain.values["Book"] ?? [:]).keys {
      plain.values["Book"]?[book]?["title"] = titles[firstTitle + book]?["words"]
      plain.links["Book"]?[book]?["title"] = nil
    }
  }

  // MARK: Entities and models

  static let entities = [
    Self(testDescription: "class name changed", newer: book { $0.className = "LibraryBook" }),
    Self(
      testDescription: "parent given and removed, attribute moved up and down",
      newer: underParent("Work")),
    Self(
      testDescription: "parent changed", former: underParent("Work"), newer: underParent("Item")),
    Self(
      testDescription: "version hash modifiers changed",
      newer: book {
        $0.versionHashModifier = "2"
        $0.attributes[1].versionHashModifier = "3"
        $0.relationships[0].versionHashModifier = "4"
      }),
    Self(
      testDescription: "configurations changed",
      newer: { $0.configurations = ["Local": ["Book"], "Shared": ["Author", "Book"]] }),
    Self(
      testDescription: "indexes added and removed",
      newer: book { book in
        for index in book.attributes.indices where book.attributes[index].name == "serial" {
          book.attributes[index].isIndexed = true
        }
        book.fetchIndexes = [
          FetchIndexDescription(name: "byPages", elements: [.init("pages"), .init("title")]),
          FetchIndexDescription(name: "words", elements: [.init("title", kind: .text)]),
        ]
      }),
    Self(
      testDescription: "uniqueness added and removed",
      newer: book { $0.uniquenessConstraints = [["id"], ["title", "pages"]] }),
  ]

  /// Adds a parent entity of books, which has their titles.
  private static func underParent(_ name: String) -> Edit {
    { model in
      guard let index = model.entities[1].attributes.firstIndex(where: { $0.name == "title" })
      else { return }
      model.entities.append(
        EntityDescription(
          name: name, isAbstract: true, attributes: [model.entities[1].attributes.remove(at: index)]
        ))
      model.entities[1].parent = name
    }
  }
}
