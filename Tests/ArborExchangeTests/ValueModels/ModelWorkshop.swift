import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import Testing

/// An in-memory store of banners, samples and nodes, and a context on it.
final class ModelWorkshop {
  let store: PersistentStore
  let context: ManagedObjectContext

  init() throws {
    store = try PersistentStore(model: Self.model, at: .inMemory)
    context = store.makeContext()
  }

  /// Inserts an object with the given values.
  @discardableResult
  func insert(_ entity: String, _ values: [String: PropertyValue] = [:]) throws -> ManagedObject {
    let object = try context.insert(entity)
    for (name, value) in values { try object.setValue(value, forKey: name) }
    return object
  }

  /// Returns all objects of an entity, sorted by ID.
  func all(_ entity: String) throws -> [ManagedObject] {
    try context.fetch(entity).sorted { $0.objectID.number < $1.objectID.number }
  }

  /// Returns the error of a call that must fail.
  func failure<R>(
    sourceLocation: Testing.SourceLocation = #_sourceLocation, _ body: () throws -> R
  ) throws -> ArborError {
    let error = try #require(throws: ArborError.self, sourceLocation: sourceLocation) {
      _ = try body()
    }
    #expect(error.message.last == "." || error.message.last == "?", sourceLocation: sourceLocation)
    return error
  }

  /// Commits and checks the store.
  func finish() throws {
    try context.commit()
    try store.check()
  }
}

extension ModelWorkshop {
  static let model = ManagedObjectModel(
    entities: [
      EntityDescription(
        name: "Banner",
        attributes: [
          AttributeDescription(name: "id", type: .integer64, isOptional: true, isIndexed: true),
          AttributeDescription(name: "picURL", type: .uri, isOptional: true),
          AttributeDescription(name: "width", type: .integer16, isOptional: true),
        ],
        relationships: [
          RelationshipDescription(
            name: "children", destination: "Item", inverse: "banner", isToMany: true,
            isOrdered: true),
          RelationshipDescription(
            name: "tags", destination: "Tag", inverse: "banners", isToMany: true),
          RelationshipDescription(name: "cover", destination: "Item", inverse: "covered"),
        ]),
      EntityDescription(
        name: "Item",
        attributes: [
          AttributeDescription(name: "title", type: .string, isOptional: true),
          AttributeDescription(name: "price", type: .decimal, isOptional: true),
        ],
        relationships: [
          RelationshipDescription(name: "banner", destination: "Banner", inverse: "children"),
          RelationshipDescription(name: "covered", destination: "Banner", inverse: "cover"),
        ]),
      EntityDescription(
        name: "Tag",
        attributes: [AttributeDescription(name: "name", type: .string, isOptional: true)],
        relationships: [
          RelationshipDescription(
            name: "banners", destination: "Banner", inverse: "tags", isToMany: true)
        ]),
      EntityDescription(
        name: "Node",
        attributes: [
          AttributeDescription(name: "name", type: .string, isOptional: true),
          AttributeDescription(name: "group", type: .integer64, isOptional: true),
        ],
        relationships: [
          RelationshipDescription(name: "parent", destination: "Node", inverse: "children"),
          RelationshipDescription(
            name: "children", destination: "Node", inverse: "parent", isToMany: true),
          RelationshipDescription(
            name: "friends", destination: "Node", inverse: "friends", isToMany: true),
          RelationshipDescription(name: "best", destination: "Node"),
        ]),
      EntityDescription(
        name: "Shape", attributes: [AttributeDescription(name: "name", type: .string)]),
      EntityDescription(
        name: "Circle", parent: "Shape",
        attributes: [AttributeDescription(name: "radius", type: .double)]),
      EntityDescription(
        name: "Square", parent: "Shape",
        attributes: [AttributeDescription(name: "side", type: .integer32)]),
      EntityDescription(name: "Sample", attributes: samples),
    ],
    composites: [
      CompositeDescription(
        name: "Size",
        attributes: [
          AttributeDescription(name: "width", type: .integer32, isOptional: true),
          AttributeDescription(name: "height", type: .integer32, isOptional: true),
        ])
    ])

  /// One attribute per property of ``Sample``.
  private static let samples: [AttributeDescription] = [
    ("flag", .boolean), ("tiny", .integer16), ("short", .integer16), ("middle", .integer32),
    ("long", .integer64), ("whole", .integer64), ("unsignedTiny", .integer16),
    ("unsignedShort", .integer32), ("unsignedMiddle", .integer64), ("unsignedLong", .decimal),
    ("unsigned", .integer64), ("single", .float), ("double", .double), ("decimal", .decimal),
    ("text", .string), ("date", .date), ("data", .binary), ("url", .uri), ("uuid", .uuid),
    ("level", .string), ("rank", .integer16), ("size", .composite("Size")), ("list", .json),
    ("set", .json), ("table", .transformable("Table")),
  ].map { AttributeDescription(name: $0, type: $1, isOptional: true) }
}
