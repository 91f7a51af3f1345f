import ArborModel
import ArborObjects
import Foundation

/// A card with every kind of value, whose hook derives one value from another.
final class MergeCard: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription("Card", className: "MergeCard") {
    AttributeDescription("labels", .transformable("tests.Labels"), .optional, .externalStorage)
    AttributeDescription("number", .integer64, .default(0))
    AttributeDescription("note", .string, .optional)
    AttributeDescription("echo", .string, .optional)
    AttributeDescription("inline", .binary, .optional)
    AttributeDescription("photo", .binary, .optional, .externalStorage)
    AttributeDescription("scan", .binary, .optional, .externalStorage)
    AttributeDescription("must", .binary, .default(Data()), .externalStorage)
    AttributeDescription("place", .composite("Place"), .optional)
    RelationshipDescription("parent", to: "Card", inverse: "kids")
    RelationshipDescription("kids", to: "Card", inverse: "parent", .toMany)
    RelationshipDescription("tags", to: "Tag", inverse: "cards", .toMany)
    RelationshipDescription("albums", to: "Album", inverse: "pages", .toMany)
  }

  var labels: [String]? {
    get { _transformed(0) }
    set { _setTransformed(0, newValue) }
  }

  override func willCommit() {
    guard !isDeleted, let note = changedValues()["note"], self["echo"] as PropertyValue != note
    else { return }
    self["echo"] = note
  }

  /// The model of the cards, and of objects with other kinds of relationships.
  static func model() throws -> ManagedObjectModel {
    AttributeTransformers.register(CodableTransformer<[String]>(), named: "tests.Labels")
    return try ManagedObjectModel {
      description
      CompositeDescription("Place") {
        AttributeDescription("city", .string)
        AttributeDescription("floor", .integer16, .optional)
      }
      EntityDescription("Tag") {
        RelationshipDescription("cards", to: "Card", inverse: "tags", .toMany)
      }
      // Makes commits large.
      EntityDescription("Filler") { AttributeDescription("size", .integer64, .default(0)) }
      EntityDescription("Album") {
        AttributeDescription("title", .string, .optional)
        RelationshipDescription("pages", to: "Card", inverse: "albums", .toMany, .ordered)
      }
    }
  }
}
