import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import Testing

/// The types of relationships are checked even if there are no members.
@Suite struct DeclaredTypeTests {
  let workshop: ModelWorkshop
  var context: ManagedObjectContext { workshop.context }

  init() throws { workshop = try ModelWorkshop() }

  private struct Number: ValueModel {
    var cover: Int?
    static let entityName = "Banner"
  }
  private struct Numbers: ValueModel {
    var children: [Int]?
    static let entityName = "Banner"
  }
  private struct One: ValueModel {
    var children: Item?
    static let entityName = "Banner"
  }
  private struct Many: ValueModel {
    var cover: Set<Item>?
    static let entityName = "Banner"
  }
  private struct Strangers: ValueModel {
    var children: [Tag]?
    static let entityName = "Banner"
  }
  private enum Level: String, Codable { case low }
  private struct Levels: ValueModel {
    var tags: [Level]?
    static let entityName = "Banner"
  }

  /// A type that encodes itself as a model, which its declaration doesn't show.
  private struct Box: Codable {
    var item: Item?
    init(item: Item?) { self.item = item }
    init(from decoder: any Decoder) throws {
      item = try decoder.singleValueContainer().decode(Item.self)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(item)
    }
  }
  private struct Boxed: ValueModel {
    var cover: Box?
    static let entityName = "Banner"
  }

  @Test("A relationship declared with the wrong type is an error even if it has no members")
  func aRelationshipOfNothingHasToHaveTheRightType() throws {
    let object = try workshop.insert("Banner")
    func check<M: ValueModel>(_ model: M, _ message: String) throws {
      let read = try workshop.failure { try M(object) }
      let written = try workshop.failure { try context.upsert(model) }
      for error in [read, written] {
        #expect(error.code == .unsupportedRelationship && error.entity == "Banner")
        #expect(error.message == message)
      }
    }
    let one = "Declare it as a value model."
    let many = "Declare it as a collection of value models."
    try check(
      Number(),
      "Banner.cover refers to one object, but Number.cover is Int. " + one)
    try check(
      Many(),
      "Banner.cover refers to one object, but Many.cover is Set<Item>. " + one)
    try check(
      Numbers(),
      "Banner.children refers to several objects, but Numbers.children is Array<Int>. " + many)
    try check(
      One(), "Banner.children refers to several objects, but One.children is Item. " + many)
    try check(
      Levels(),
      "Banner.tags refers to several objects, but Levels.tags is Array<Level>. " + many)
    try check(
      Strangers(),
      "Banner.children has the destination Item, but Tag in Strangers.children belongs to Tag. Use "
        + "a model of the destination.")
    #expect(try workshop.all("Banner").count == 1)
    try workshop.finish()
  }

  @Test("A type that encodes itself as a model can be a related model")
  func aTypeThatCodesItselfAsAModelIsRight() throws {
    let object = try context.upsert(Boxed(cover: Box(item: Item(title: "a"))))
    #expect(try Boxed(object).cover?.item == Item(title: "a"))
    #expect(try Boxed(workshop.insert("Banner")).cover == nil)
    try workshop.finish()
  }

  private struct Empty: ValueModel {
    static let entityName = "Banner"
    static let managedKeys: ValueModelMapping = .identity.renaming(["title": "id"])
  }
  private struct Nowhere: ValueModel {
    var title: String?
    static let entityName = "Banner"
    static let managedKeys: ValueModelMapping = .identity.renaming(["title": "idd"])

    init() {}
    init(from decoder: any Decoder) throws {}
    func encode(to encoder: any Encoder) throws { _ = encoder.container(keyedBy: CodingKeys.self) }
    enum CodingKeys: CodingKey { case title }
  }

  @Test("A mapping with unknown keys is rejected even for a model without properties")
  func managedKeysThatNameNothingAreAnErrorWithoutPropertiesToo() throws {
    let object = try workshop.insert("Banner")
    for error in [
      try workshop.failure { try Empty(object) },
      try workshop.failure { try context.upsert(Empty()) },
    ] {
      #expect(error.code == .invalidMapping)
      #expect(
        error.message
          == "Empty has no coding key “title”. Use existing coding keys in its mapping, paths, "
          + "transformers and uniquing keys.")
    }
    for error in [
      try workshop.failure { try Nowhere(object) },
      try workshop.failure { try context.upsert(Nowhere()) },
      try workshop.failure { try context.values(Nowhere.self, of: []) },
    ] {
      #expect(error.code == .invalidManagedKey && error.keyPath == "idd")
      #expect(
        error.message
          == "Nowhere.title maps to “idd” in the store, but Banner has no such property. Rename or "
          + "exclude it in managedKeys. Did you mean id?")
    }
    try workshop.finish()
  }
}
