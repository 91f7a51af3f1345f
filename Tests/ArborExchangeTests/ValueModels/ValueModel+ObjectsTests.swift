import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import Testing

@Suite struct ValueModelObjectsTests {
  let workshop: ModelWorkshop
  var context: ManagedObjectContext { workshop.context }

  init() throws { workshop = try ModelWorkshop() }

  @Test("A model is read from an object, including pending changes")
  func aModelIsMadeOfAnObject() throws {
    let banner = try workshop.insert(
      "Banner", ["id": 7, "picURL": .uri(try #require(URL(string: "https://a.b")))])
    let items = try ["x", "y"].map { try workshop.insert("Item", ["title": .string($0)]) }
    try banner.objects(forKey: "children").replaceAll(with: [items[1], items[0]])
    let expected = Banner(
      bannerID: 7, picURL: URL(string: "https://a.b"),
      children: [Item(title: "y"), Item(title: "x")])
    #expect(try Banner(banner) == expected)
    try context.commit()
    #expect(try Banner(banner) == expected)
    // Pending changes are included.
    try items[0].setValue("z", forKey: "title")
    try banner.objects(forKey: "children").replaceAll(with: [items[0]])
    #expect(try Banner(banner).children == [Item(title: "z")])
    try workshop.finish()
  }

  @Test("Models are fetched with predicates and orders of the entity")
  func valuesAreFetchedByTheEntitysNames() throws {
    for (id, width) in [(1, 200), (2, 50), (3, 300)] {
      try workshop.insert("Banner", ["id": .integer(Int64(id)), "width": .integer(Int64(width))])
    }
    let wide = try context.values(Banner.self, matching: "width > 100", sortedBy: "-id")
    #expect(wide.map(\.bannerID) == [3, 1])
    #expect(try context.values(Banner.self).map(\.bannerID) == [1, 2, 3])
    #expect(try context.values(Banner.self, sortedBy: "-id", "width").count == 3)
    #expect(
      try workshop.failure { try context.values(Banner.self, matching: "bannerID = 1") }
        .code == .invalidPredicate)
    try workshop.finish()
  }

  private struct Shelf: ValueModel {
    var all: [Item]
    var some: Set<Item>?
    var cover: Item?
    var contiguous: ContiguousArray<Item>
    static let entityName = "Banner"
    static let managedKeys: ValueModelMapping = .identity.renaming([
      "all": "children", "some": "children", "contiguous": "children",
    ])
  }

  @Test("Related models can be in any collection")
  func relationshipsComeInAnyCollection() throws {
    let banner = try workshop.insert("Banner")
    let items = try ["a", "b"].map { try workshop.insert("Item", ["title": .string($0)]) }
    try banner.objects(forKey: "children").replaceAll(with: items)
    try banner.setObject(items[1], forKey: "cover")
    let shelf = try Shelf(banner)
    let expected = [Item(title: "a"), Item(title: "b")]
    #expect(shelf.all == expected && shelf.some == Set(expected) && shelf.cover == expected[1])
    #expect(Array(shelf.contiguous) == expected)
    try workshop.finish()
  }

  private struct Defaults: ValueModel {
    enum CodingKeys: String, CodingKey { case cover, title, width }
    var cover = Item(title: "default")
    var width: Int?
    /// The inner optional is `nil` if the attribute was present.
    var title: String??
    static let entityName = "Banner"
    static let managedKeys: ValueModelMapping = .identity.excluding("title")

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      if container.contains(.cover) { cover = try container.decode(Item.self, forKey: .cover) }
      if container.contains(.title) { title = .some(nil) }
      if container.contains(.width) {
        width =
          try container.decodeNil(forKey: .width)
          ? -1
          : container.decode(
            Int.self, forKey: .width)
      }
    }
    func encode(to encoder: any Encoder) throws {}
  }

  @Test("A property keeps its default if the relationship is nil")
  func nilLeavesARelationshipAtItsDefault() throws {
    let banner = try workshop.insert("Banner")
    let model = try Defaults(banner)
    #expect(model.cover.title == "default")
    // An attribute is present even if it is nil; an excluded one is not.
    #expect(model.width == -1 && model.title == nil)
    try workshop.finish()
  }

  private struct Standard: ValueModel, Equatable {
    var id: Int?
    var cover = Item(title: "none")
    var width = 7
    static let entityName = "Banner"
    static let managedKeys: ValueModelMapping = .identity.excluding("width")
    static var defaults: (any ValueModel)? { Standard(id: -1) }
  }

  @Test("An attribute that is nil yields the model's default")
  func defaultsStandInForWhatIsNotThere() throws {
    let banner = try workshop.insert("Banner", ["width": 5])
    // The attribute is present and nil.
    #expect(try Standard(banner) == Standard(id: nil))
    try context.upsert(Standard(id: 3, width: 9))
    let second = try #require(try context.fetchOne("Banner", matching: "id = 3"))
    #expect(try second["width"] == .null && Standard(second) == Standard(id: 3))
    try workshop.finish()
  }

  private struct Excluding: ValueModel {
    var id: Int?
    var width: Int
    static let entityName = "Banner"
    static let managedKeys: ValueModelMapping = .identity.excluding("width")
  }

  @Test("Excluded properties are neither read nor written")
  func whatIsLeftOutTakesNoPart() throws {
    let banner = try workshop.insert("Banner", ["width": 5])
    let error = try workshop.failure { try Excluding(banner) }
    #expect(error.code == .initialization && error.keyPath == "width")
    let object = try context.upsert(Excluding(id: 1, width: 9))
    #expect(object["width"] == .null && object["id"] == 1)
    try workshop.finish()
  }

  private struct Stamp: ValueModel, Equatable {
    struct Failure: Error, Equatable {}
    var name: [String]
    static let entityName = "Node"
    static let managedTransformers: [String: ManagedTransformer] = [
      "name": ManagedTransformer { value in
        switch value {
        case .null: return ["nothing"]
        case .string(let text):
          if text.isEmpty { throw Failure() }
          return text.split(separator: ",").map(String.init)
        default: return []
        }
      } write: { (names: [String]) in
        .string(names.joined(separator: ","))
      }
    ]
  }

  @Test("Transformers receive attributes, including nil")
  func attributesGoThroughTransformersNilIncluded() throws {
    #expect(try Stamp(try workshop.insert("Node", ["name": "a,b"])).name == ["a", "b"])
    #expect(try Stamp(try workshop.insert("Node")).name == ["nothing"])
    let empty = try workshop.insert("Node", ["name": ""])
    for body in [{ _ = try Stamp(empty) }, { _ = try self.context.values(Stamp.self) }] {
      let error = try workshop.failure(body)
      #expect(error.code == .modelError && error.underlying is Stamp.Failure)
      #expect(error.objectID == empty.objectID && error.keyPath == "name")
    }
    try workshop.finish()
  }

  @Test("The class of each model is chosen from its object")
  func modelsChooseTheirClasses() throws {
    try workshop.insert("Circle", ["name": "c", "radius": 1.5])
    try workshop.insert("Square", ["name": "s", "side": 3])
    let plain = try workshop.insert("Shape", ["name": "x"])
    let shapes = try context.values(Shape.self, sortedBy: "name")
    #expect((shapes[0] as? Circle)?.radius == 1.5 && (shapes[1] as? Square)?.side == 3)
    #expect(shapes[2].name == "x")
    try plain.setValue("none", forKey: "name")
    #expect(try workshop.failure { try Shape(plain) }.code == .noModelType)
    try plain.setValue("banner", forKey: "name")
    #expect(try workshop.failure { try Shape(plain) }.code == .noModelType)
    // Requesting a subclass returns instances of it.
    #expect(try context.values(Circle.self).map(\.name) == ["c"])
    try plain.setValue("", forKey: "name")
    try workshop.finish()
  }

  private struct Strange: ValueModel {
    var name: String?
    var nickname: String?
    static let entityName = "Node"
  }

  private struct Lost: ValueModel {
    var name: String?
    static let entityName = "Nodes"
  }

  private struct Mistold: ValueModel {
    var name: String?
    static let entityName = "Node"
    static let uniquingKeys: Set<String> = ["children"]
  }

  private struct Misnamed: ValueModel {
    var name: String?
    static let entityName = "Node"
    static let managedKeys: ValueModelMapping = .identity.excluding("nmae")
  }

  private struct Transforming: ValueModel {
    var children: [Tag]
    static let entityName = "Node"
    static let managedTransformers: [String: ManagedTransformer] = ["children": .url]
  }

  @Test("A transformer for a relationship is rejected")
  func relationshipsHaveNoTransformers() throws {
    let node = try workshop.insert("Node")
    #expect(try workshop.failure { try Transforming(node) }.code == .invalidMapping)
    #expect(
      try workshop.failure { try context.upsert(Transforming(children: [])) }.code
        == .invalidMapping)
    try workshop.finish()
  }

  @Test("Invalid mappings are rejected")
  func mistakesInMappingsAreTypedErrors() throws {
    let node = try workshop.insert("Node")
    let strange = try workshop.failure { try Strange(node) }
    #expect(strange.code == .invalidManagedKey && strange.entity == "Node")
    #expect(strange.keyPath == "nickname" && strange.message.contains("Strange.nickname"))
    #expect(try workshop.failure { try Lost(node) }.code == .invalidMapping)
    #expect(try workshop.failure { try Mistold(node) }.code == .invalidMapping)
    #expect(try workshop.failure { try Misnamed(node) }.code == .invalidMapping)
    let item = try workshop.insert("Item")
    let other = try workshop.failure { try Banner(item) }
    #expect(other.code == .invalidMapping && other.objectID == item.objectID)
    try workshop.finish()
  }

  private struct WrongAttribute: ValueModel {
    var name: Int?
    static let entityName = "Node"
  }
  private struct WrongOne: ValueModel {
    var parent: [Node]?
    static let entityName = "Node"
  }
  private struct WrongMany: ValueModel {
    var children: Node?
    static let entityName = "Node"
  }
  private struct NoModel: ValueModel {
    struct Plain: Codable { var name: String? }
    var parent: Plain?
    static let entityName = "Node"
  }
  private struct NoModels: ValueModel {
    var children: [String: Node]
    static let entityName = "Node"
  }
  private struct Mandatory: ValueModel {
    var name: String
    static let entityName = "Node"
  }
  private struct Refusing: ValueModel {
    struct Refusal: Error {}
    static let entityName = "Node"
    init(from decoder: any Decoder) throws { throw Refusal() }
    func encode(to encoder: any Encoder) throws {}
  }

  @Test("Properties that don't fit the attribute or relationship are rejected")
  func propertiesThatDoNotFitAreTypedErrors() throws {
    let parent = try workshop.insert("Node", ["name": "p"])
    let node = try workshop.insert("Node", ["name": "a"])
    try node.setObject(parent, forKey: "parent")
    #expect(try workshop.failure { try WrongAttribute(node) }.code == .unsupportedProperty)
    #expect(try workshop.failure { try WrongOne(node) }.code == .unsupportedRelationship)
    #expect(try workshop.failure { try WrongMany(parent) }.code == .unsupportedRelationship)
    #expect(try workshop.failure { try NoModel(node) }.code == .unsupportedRelationship)
    #expect(try workshop.failure { try NoModels(parent) }.code == .unsupportedRelationship)
    try node.setValue(.null, forKey: "name")
    let error = try workshop.failure { try Mandatory(node) }
    #expect(error.code == .initialization && error.keyPath == "name")
    #expect(error.objectID == node.objectID)
    let refusal = try workshop.failure { try Refusing(node) }
    #expect(refusal.code == .initialization && refusal.underlying is Refusing.Refusal)
    try workshop.finish()
  }

  private struct Narrow: ValueModel {
    var group: Int8
    static let entityName = "Node"
  }

  @Test("A number beyond a property's range is rejected")
  func numbersOutOfAPropertysRangeAreErrors() throws {
    let node = try workshop.insert("Node", ["group": 127])
    #expect(try Narrow(node).group == 127)
    try node.setValue(128, forKey: "group")
    let error = try workshop.failure { try Narrow(node) }
    #expect(error.code == .typeMismatch && error.message.contains("-128 to 127"))
    try workshop.finish()
  }

  private struct Checked: ValueModel {
    struct Unfit: Error {}
    var name: String?
    static let entityName = "Node"
    func validate() throws { if name == nil { throw Unfit() } }
  }

  @Test("Models are validated after reading objects")
  func modelsAreValidated() throws {
    let node = try workshop.insert("Node", ["name": "a"])
    #expect(try Checked(node).name == "a")
    try workshop.insert("Node")
    let error = try workshop.failure { try self.context.values(Checked.self) }
    #expect(error.code == .modelError && error.underlying is Checked.Unfit)
    try workshop.finish()
  }

  @Test("An object that can't be read is reported")
  func anObjectThatCannotBeReadIsAnError() throws {
    let node = try workshop.insert("Node", ["name": "a"])
    try context.commit()
    context.refresh(node)
    let other = workshop.store.makeContext()
    other.delete(try other.object(with: node.objectID))
    try other.commit()
    #expect(try workshop.failure { try Mandatory(node) }.code == .objectNotFound)
    context.rollback()
    try workshop.finish()
  }

  @Test("An object without a context is reported")
  func anObjectWithoutContextIsAnError() throws {
    let node = try workshop.insert("Node")
    context.rollback()
    #expect(try workshop.failure { try Mandatory(node) }.code == .notAllowed)
    try workshop.finish()
  }
}
