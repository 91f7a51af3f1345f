import ArborData
import Foundation
import TestSupport
import Testing

/// A file that contains a store of a model.
struct Archive {
  let folder: TemporaryFolder
  var url: URL { folder.url.appending(path: "archive.arbor") }

  init(_ model: ManagedObjectModel, _ fill: LossyChange.Fill = { _ in }) throws {
    folder = try TemporaryFolder()
    try write(model, StoreOptions(), fill)
  }

  func write(
    _ model: ManagedObjectModel, _ options: StoreOptions = StoreOptions(),
    _ fill: LossyChange.Fill = { _ in }
  ) throws {
    let store = try PersistentStore(model: model, at: .file(url), options: options)
    defer { store.close() }
    let context = store.makeContext()
    try fill(context)
    try context.commit()
    try store.check()
  }

  /// Opens the store with another model, checks it, and calls `body`.
  func open<Result>(
    _ model: ManagedObjectModel, _ options: StoreOptions = StoreOptions(),
    _ body: (ManagedObjectContext) throws -> Result
  ) throws -> Result {
    let store = try PersistentStore(model: model, at: .file(url), options: options)
    defer { store.close() }
    try store.check()
    return try body(store.makeContext())
  }

  func open(_ model: ManagedObjectModel, _ options: StoreOptions = StoreOptions()) throws {
    try open(model, options) { _ in }
  }

  /// Returns the error that opening the store with a model throws; expects that the file is
  /// unchanged.
  func refusal(
    _ model: ManagedObjectModel, _ options: StoreOptions = StoreOptions()
  ) throws -> ArborError {
    let before = try Data(contentsOf: url)
    let error = try #require(
      throws: ArborError.self,
      performing: {
        try PersistentStore(model: model, at: .file(url), options: options).close()
      })
    #expect(try Data(contentsOf: url) == before)
    return error
  }
}

/// A change of the model that loses data, and objects that have such data.
struct LossyChange: Sendable, CustomTestStringConvertible {
  typealias Fill = @Sendable (ManagedObjectContext) throws -> Void

  let testDescription: String
  let former: @Sendable () throws -> ManagedObjectModel
  let newer: @Sendable () throws -> ManagedObjectModel
  /// The names that the refusal suggests to list.
  let names: Set<String>
  let fill: Fill
  /// Creates the same objects without the links that would be lost; `nil` if the loss doesn't
  /// concern links.
  var unlinked: Fill?

  /// Whether a refusal suggests deleting objects or links with the former model.
  var suggestsDeleting: Bool {
    switch testDescription {
    case "an entity is removed": true
    case "a relationship becomes an attribute": false
    default: unlinked != nil
    }
  }

  private static let songs: [@Sendable () -> EntityDescription] = [
    { EntityDescription("Song") { AttributeDescription("id", .integer64, .optional) } },
    { EntityDescription("Picture") { AttributeDescription("id", .integer64, .optional) } },
  ]

  private static func albums(
    _ options: @escaping @Sendable () -> EntityDescription
  ) -> @Sendable () throws -> ManagedObjectModel {
    {
      try ManagedObjectModel {
        options()
        for entity in songs { entity() }
      }
    }
  }

  private static func album(_ part: RelationshipDescription) -> EntityDescription {
    EntityDescription("Album") {
      AttributeDescription("title", .string, .optional)
      part
    }
  }

  static let all: [LossyChange] = [
    LossyChange(
      testDescription: "an entity is removed",
      former: albums {
        EntityDescription("Album") { AttributeDescription("title", .string, .optional) }
      },
      newer: { try ManagedObjectModel { for entity in songs { entity() } } }, names: ["Album"],
      fill: { try $0.insert("Album")["title"] = "a" }),
    LossyChange(
      testDescription: "an attribute is removed",
      former: albums {
        EntityDescription("Album") { AttributeDescription("title", .string, .optional) }
      },
      newer: albums { EntityDescription("Album") {} }, names: ["Album.title"],
      fill: { try $0.insert("Album")["title"] = "a" }),
    LossyChange(
      testDescription: "an attribute of an abstract parent is removed",
      former: {
        try ManagedObjectModel {
          EntityDescription("Item", isAbstract: true) {
            AttributeDescription("title", .string, .optional)
          }
          EntityDescription("Album", parent: "Item") {}
        }
      },
      newer: {
        try ManagedObjectModel {
          EntityDescription("Item", isAbstract: true) {}
          EntityDescription("Album", parent: "Item") {}
        }
      }, names: ["Item.title"], fill: { try $0.insert("Album")["title"] = "a" }),
    LossyChange(
      testDescription: "an attribute gets a type that nothing converts to",
      former: albums {
        EntityDescription("Album") { AttributeDescription("title", .string, .optional) }
      },
      newer: albums {
        EntityDescription("Album") { AttributeDescription("title", .date, .optional) }
      },
      names: ["Album.title"], fill: { try $0.insert("Album")["title"] = "a" }),
    LossyChange(
      testDescription: "an attribute becomes transient",
      former: albums {
        EntityDescription("Album") { AttributeDescription("title", .string, .optional) }
      },
      newer: albums {
        EntityDescription("Album") { AttributeDescription("title", .string, .optional, .transient) }
      },
      names: ["Album.title"], fill: { try $0.insert("Album")["title"] = "a" }),
    LossyChange(
      testDescription: "a relationship is removed",
      former: albums { album(RelationshipDescription("cover", to: "Song")) },
      newer: albums {
        EntityDescription("Album") { AttributeDescription("title", .string, .optional) }
      },
      names: ["Album.cover"],
      fill: { try $0.insert("Album")["cover"] = try $0.insert("Song") },
      unlinked: { _ = (try $0.insert("Album"), try $0.insert("Song")) }),
    LossyChange(
      testDescription: "a to-one relationship leads to another entity",
      former: albums { album(RelationshipDescription("cover", to: "Song")) },
      newer: albums { album(RelationshipDescription("cover", to: "Picture")) },
      names: ["Album.cover"],
      fill: { try $0.insert("Album")["cover"] = try $0.insert("Song") },
      unlinked: { _ = (try $0.insert("Album"), try $0.insert("Song")) }),
    LossyChange(
      testDescription: "a to-many relationship leads to another entity",
      former: albums { album(RelationshipDescription("covers", to: "Song", .toMany)) },
      newer: albums { album(RelationshipDescription("covers", to: "Picture", .toMany)) },
      names: ["Album.covers"],
      fill: { try $0.insert("Album")["covers"] = [try $0.insert("Song"), try $0.insert("Song")] },
      unlinked: { _ = (try $0.insert("Album"), try $0.insert("Song")) }),
    LossyChange(
      testDescription: "an ordered relationship leads to another entity",
      former: albums { album(RelationshipDescription("covers", to: "Song", .toMany, .ordered)) },
      newer: albums { album(RelationshipDescription("covers", to: "Picture", .toMany, .ordered)) },
      names: ["Album.covers"],
      fill: { try $0.insert("Album")["covers"] = [try $0.insert("Song"), try $0.insert("Song")] },
      unlinked: { _ = (try $0.insert("Album"), try $0.insert("Song")) }),
    LossyChange(
      testDescription: "an inherited relationship leads to another entity",
      former: {
        try ManagedObjectModel {
          EntityDescription("Item", isAbstract: true) {
            RelationshipDescription("cover", to: "Song")
          }
          EntityDescription("Album", parent: "Item") {}
          for entity in songs { entity() }
        }
      },
      newer: {
        try ManagedObjectModel {
          EntityDescription("Item", isAbstract: true) {
            RelationshipDescription("cover", to: "Picture")
          }
          EntityDescription("Album", parent: "Item") {}
          for entity in songs { entity() }
        }
      }, names: ["Item.cover"],
      fill: { try $0.insert("Album")["cover"] = try $0.insert("Song") },
      unlinked: { _ = (try $0.insert("Album"), try $0.insert("Song")) }),
    LossyChange(
      testDescription: "an order is lost",
      former: albums { album(RelationshipDescription("songs", to: "Song", .toMany, .ordered)) },
      newer: albums { album(RelationshipDescription("songs", to: "Song", .toMany)) },
      names: ["Album.songs"],
      fill: { try $0.insert("Album")["songs"] = [try $0.insert("Song"), try $0.insert("Song")] },
      unlinked: { _ = (try $0.insert("Album"), try $0.insert("Song")) }),
    LossyChange(
      testDescription: "a relationship becomes transient",
      former: albums { album(RelationshipDescription("cover", to: "Song")) },
      newer: albums { album(RelationshipDescription("cover", to: "Song", .transient)) },
      names: ["Album.cover"],
      fill: { try $0.insert("Album")["cover"] = try $0.insert("Song") },
      unlinked: { _ = (try $0.insert("Album"), try $0.insert("Song")) }),
    LossyChange(
      testDescription: "a relationship becomes an attribute",
      former: albums { album(RelationshipDescription("cover", to: "Song")) },
      newer: albums {
        EntityDescription("Album") {
          AttributeDescription("title", .string, .optional)
          AttributeDescription("cover", .string, .optional)
        }
      }, names: ["Album.cover"],
      fill: { try $0.insert("Album")["cover"] = try $0.insert("Song") },
      unlinked: { _ = (try $0.insert("Album"), try $0.insert("Song")) }),
    LossyChange(
      testDescription: "an attribute becomes a relationship",
      former: albums {
        EntityDescription("Album") { AttributeDescription("title", .string, .optional) }
      },
      newer: albums { EntityDescription("Album") { RelationshipDescription("title", to: "Song") } },
      names: ["Album.title"], fill: { try $0.insert("Album")["title"] = "a" }),
    LossyChange(
      testDescription: "an entity leaves the parent that it has a relationship from",
      former: {
        try ManagedObjectModel {
          EntityDescription("Item") { RelationshipDescription("cover", to: "Song") }
          EntityDescription("Album", parent: "Item") {}
          for entity in songs { entity() }
        }
      },
      newer: {
        try ManagedObjectModel {
          EntityDescription("Item") { RelationshipDescription("cover", to: "Song") }
          EntityDescription("Album") {}
          for entity in songs { entity() }
        }
      }, names: ["Album.cover"],
      fill: { try $0.insert("Album")["cover"] = try $0.insert("Song") },
      unlinked: { _ = (try $0.insert("Album"), try $0.insert("Song")) }),
  ]
}
