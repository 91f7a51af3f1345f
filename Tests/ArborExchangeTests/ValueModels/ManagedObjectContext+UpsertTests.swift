import ArborJSON
import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import Testing

@Suite struct ManagedObjectContextUpsertTests {
  let workshop: ModelWorkshop
  var context: ManagedObjectContext { workshop.context }

  init() throws { workshop = try ModelWorkshop() }

  /// Returns the error of an operation that must fail, and expects that nothing has changed.
  private func failure(_ body: () throws -> Void) throws -> ArborError {
    let before = try context.digest()
    let error = try #require(throws: ArborError.self) { try body() }
    #expect(try context.digest() == before)
    return error
  }

  @Test("A model is written as an object with its members")
  func aModelBecomesAnObject() throws {
    let banner = Banner(
      bannerID: 1, picURL: URL(string: "https://a.b"),
      children: [Item(title: "b"), Item(title: "a", price: 1.5)], cached: true)
    let object = try context.upsert(banner)
    #expect(object.isInserted && object["id"] == 1)
    #expect(
      try object.objects(forKey: "children").fetch().map { $0["title"] as PropertyValue } == [
        "b", "a",
      ])
    var expected = banner
    expected.cached = nil
    #expect(try Banner(object) == expected)
    try workshop.finish()
    #expect(try Banner(object) == expected)
  }

  @Test("An upsert finds committed and pending objects by their unique key")
  func uniquingFindsCommittedAndPendingObjects() throws {
    let first = try context.upsert(FullBanner(id: 1, width: 10))
    #expect(try context.upsert(FullBanner(id: 1, width: 20)) === first)
    #expect(first["width"] == 20 && first.isInserted)
    try context.commit()
    #expect(try context.upsert(FullBanner(id: 1, width: 30)) === first)
    let other = try context.upsert(FullBanner(id: 2))
    #expect(other !== first && first["width"] == 30)
    // A pending change of the key is taken into account.
    try first.setValue(5, forKey: "id")
    #expect(try context.upsert(FullBanner(id: 5)) === first)
    #expect(try context.upsert(FullBanner(id: 1)) !== first)
    try workshop.finish()
  }

  @Test("A nil key matches no object")
  func aNilKeyNeverMatches() throws {
    let first = try context.upsert(FullBanner(width: 1))
    #expect(try context.upsert(FullBanner(width: 1)) !== first)
    #expect(try context.upsert([FullBanner(), FullBanner()]).count == 2)
    #expect(try workshop.all("Banner").count == 4)
    try workshop.finish()
  }

  @Test("Several uniquing keys identify an object together")
  func severalKeysTogetherTellObjectsApart() throws {
    let a1 = try context.upsert(Node("a", group: 1))
    let a2 = try context.upsert(Node("a", group: 2))
    let b1 = try context.upsert(Node("b", group: 1))
    #expect(Set([a1, a2, b1]).count == 3)
    #expect(try context.upsert([Node("b", group: 1), Node("a", group: 2)]) == [b1, a2])
    #expect(try context.upsert(Node("a")) !== a1)
    try workshop.finish()
  }

  @Test("Deleted objects are not found")
  func deletedObjectsAreNotFound() throws {
    let first = try context.upsert(FullBanner(id: 1))
    try context.commit()
    context.delete(first)
    #expect(try context.upsert(FullBanner(id: 1)) !== first)
    try workshop.finish()
    #expect(try workshop.all("Banner").count == 1)
  }

  @Test("Of several models of one object, the last one wins")
  func laterModelsOfOneObjectOverwrite() throws {
    let objects = try context.upsert([
      FullBanner(id: 1, width: 1), FullBanner(id: 2, width: 2), FullBanner(id: 1, width: 3),
    ])
    #expect(objects[0] === objects[2] && objects[0]["width"] == 3)
    #expect(try workshop.all("Banner").count == 2)
    try workshop.finish()
  }

  @Test("Nil clears attributes and leaves relationships unchanged")
  func nilClearsAttributesAndLeavesRelationshipsAlone() throws {
    let full = FullBanner(
      id: 1, width: 5, children: [KeyedItem(title: "a")], tags: [Tag(name: "t")],
      cover: KeyedItem(title: "a"))
    let object = try context.upsert(full)
    try context.upsert(FullBanner(id: 1))
    #expect(object["width"] == .null)
    #expect(
      try FullBanner(object)
        == FullBanner(id: 1, children: full.children, tags: full.tags, cover: full.cover))
    try workshop.finish()
  }

  @Test("Missing members are unlinked, and an empty list removes all")
  func removedMembersAreUnlinkedAndAnEmptyListClears() throws {
    let object = try context.upsert(
      FullBanner(
        id: 1, children: ["a", "b", "c"].map { KeyedItem(title: $0) },
        tags: [Tag(name: "x"), Tag(name: "y")]))
    try context.commit()
    try context.upsert(
      FullBanner(id: 1, children: ["c", "d", "a"].map { KeyedItem(title: $0) }, tags: []))
    #expect(
      try object.objects(forKey: "children").fetch().map { $0["title"] as PropertyValue } == [
        "c", "d", "a",
      ])
    #expect(try object.objects(forKey: "tags").fetch() == [])
    #expect(try workshop.all("Item").count == 4 && workshop.all("Tag").count == 2)
    try context.upsert(FullBanner(id: 1, children: []))
    #expect(try object.objects(forKey: "children").count() == 0)
    #expect(try workshop.all("Item").count == 4)
    try workshop.finish()
  }

  @Test("Upserting equal values is not a change")
  func whatStaysAsItIsIsNoChange() throws {
    let banners = (0..<5).map { (number: Int) in
      FullBanner(
        id: number, width: number, children: [KeyedItem(title: "i\(number)", price: 1.5)],
        tags: [Tag(name: "t")], cover: KeyedItem(title: "i\(number)", price: 1.5))
    }
    try context.upsert(banners)
    try context.commit()
    try context.upsert(banners)
    #expect(!context.hasChanges)
    try workshop.finish()
  }

  @Test("Each instance becomes one object, even in cyclic graphs")
  func oneInstanceBecomesOneObjectAndCirclesClose() throws {
    let root = Node("root", group: 1)
    let child = Node("child")
    root.children = [child, child]
    root.best = root
    child.parent = root
    child.friends = [root, child]
    let object = try context.upsert(root)
    #expect(try workshop.all("Node").count == 2)
    let childObject = try #require(try object.objects(forKey: "children").fetch().first)
    #expect(try childObject.object(forKey: "parent") === object)
    #expect(try object.object(forKey: "best") === object)
    #expect(Set(try childObject.objects(forKey: "friends").fetch()) == [object, childObject])
    let again = try Node(object)
    #expect(again.best === again && again.children.first?.parent === again)
    try workshop.finish()
  }

  @Test("Graphs of any depth are written")
  func graphsOfAnyDepthAreWritten() throws {
    let first = Node("0")
    var last = first
    for number in 1..<5_000 {
      let next = Node("\(number)")
      last.best = next
      last = next
    }
    try context.upsert(first)
    #expect(try workshop.all("Node").count == 5_000)
    try workshop.finish()
  }

  @Test("Models of different types can be written together")
  func modelsOfDifferentTypesAreWrittenTogether() throws {
    let circle = try ValueAdapter.decode(
      Shape.self, from: ["type": "circle", "name": "c", "radius": 2])
    let models: [any ValueModel] = [circle, Tag(name: "t"), Node("n")]
    let objects = try context.upsert(models)
    #expect(objects.map(\.entity.name) == ["Circle", "Tag", "Node"])
    // An instance of a subclass becomes an object of the subclass's entity.
    #expect(try context.upsert(circle).entity.name == "Circle")
    try workshop.finish()
  }

  @Test("A failed upsert leaves the context as it was")
  func aFailureLeavesTheContextAsItWasAndNoOrphans() throws {
    try context.upsert(FullBanner(id: 1, width: 1, children: [KeyedItem(title: "a", price: 1)]))
    try context.commit()
    try context.upsert(FullBanner(id: 2, tags: [Tag(name: "pending")]))
    let failing = FullBanner(
      id: 1, width: 2, children: [KeyedItem(title: "a", price: 2), KeyedItem(title: "new")],
      tags: [Tag(name: "pending"), Tag(name: "other")], cover: KeyedItem(title: "fail"))
    for models in [[failing], [FullBanner(id: 3), failing]] {
      let error = try failure { try context.upsert(models) }
      #expect(error.code == .modelError && error.underlying is KeyedItem.Failure)
    }
    let wide = FullBanner(id: 1, width: 40_000, children: [KeyedItem(title: "new")])
    let error = try failure { try context.upsert(wide) }
    #expect(error.code == .typeMismatch && error.keyPath == "width")
    #expect(
      error.message.contains(
        "Expected an integer from -32768 to 32767 for Banner.width, but found another value in "
          + "FullBanner.width. Correct the value."))
    try workshop.finish()
  }

  private struct Merging: ValueModel {
    struct Refusal: Error {}
    var id: Int
    var width: Int?
    var children: [KeyedItem]?
    static let entityName = "Banner"
    static let uniquingKeys: Set<String> = ["id"]

    mutating func merge(from object: ManagedObject) throws {
      if width == -1 { throw Refusal() }
      width = max(width ?? 0, object["width"] ?? 0)
      children =
        try object.objects(forKey: "children").fetch().map(KeyedItem.init) + (children ?? [])
    }
  }

  @Test("The merge hook is called before an object is overwritten")
  func theMergeHookIsCalledBeforeOverwriting() throws {
    let new = try context.upsert(Merging(id: 1, width: 5, children: [KeyedItem(title: "a")]))
    #expect(new["width"] == 5)
    try context.upsert([
      Merging(id: 1, width: 3, children: [KeyedItem(title: "b")]), Merging(id: 2, width: 1),
    ])
    #expect(new["width"] == 5)
    #expect(
      try new.objects(forKey: "children").fetch().map { $0["title"] as PropertyValue } == [
        "a", "b",
      ])
    #expect(try workshop.all("Item").count == 2)
    #expect(
      try failure { try context.upsert([Merging(id: 7), Merging(id: 1, width: -1)]) }
        .underlying is Merging.Refusal)
    try workshop.finish()
  }

  @Test("Values of all types survive a round trip")
  func valuesGoThereAndBackForAllTypes() throws {
    ManagedObjectSourceTests.registration
    let object = try workshop.insert("Sample", try ManagedObjectSourceTests.values())
    try object.setTransformedValue(["x": 1.5], forKey: "table")
    let sample = try Sample(object)
    let copy = try context.upsert(sample)
    #expect(try copy !== object && Sample(copy) == sample)
    for name in try ManagedObjectSourceTests.values().keys {
      #expect(try copy.value(forKey: name) == object.value(forKey: name), "\(name)")
    }
    try context.upsert(Sample())
    try workshop.finish()
  }

  @Test("Numbers beyond an attribute's range are rejected")
  func numbersOutOfAnAttributesRangeAreErrors() throws {
    var number = Number(tiny: 32_768)
    #expect(try failure { try context.upsert(number) }.code == .typeMismatch)
    number = Number(middle: Int(Int32.min) - 1)
    #expect(try failure { try context.upsert(number) }.code == .typeMismatch)
    number = Number(long: UInt64(Int64.max) + 1)
    #expect(try failure { try context.upsert(number) }.code == .typeMismatch)
    number = Number(single: 1e39)
    #expect(try failure { try context.upsert(number) }.code == .typeMismatch)
    number = Number(tiny: 32_767, middle: Int(Int32.min), long: UInt64(Int64.max), single: 1e38)
    try context.upsert(number)
    try workshop.finish()
  }

  private struct Number: ValueModel {
    var tiny: Int?
    var middle: Int?
    var long: UInt64?
    var single: Double?
    static let entityName = "Sample"
  }

  private struct TextID: ValueModel {
    var group: String?
    static let entityName = "Node"
  }
  private struct ManyAsOne: ValueModel {
    var children: Tag?
    static let entityName = "Banner"
  }
  private struct OneAsMany: ValueModel {
    var cover: [KeyedItem]?
    static let entityName = "Banner"
  }
  private struct Nothing: ValueModel {
    var children: [KeyedItem?]
    static let entityName = "Banner"
  }
  private struct WrongEntity: ValueModel {
    var children: [Tag]
    static let entityName = "Banner"
  }
  private struct Unknown: ValueModel {
    var size: Int?
    static let entityName = "Banner"
  }

  @Test("Models that don't match the store are rejected")
  func mistakesAreTypedErrors() throws {
    func code(_ model: some ValueModel) throws -> ArborError.Code? {
      let error = try failure { try context.upsert(model) }
      #expect(error.entity != nil && error.message.last == ".")
      return error.code
    }
    #expect(try code(TextID(group: "1")) == .unsupportedProperty)
    #expect(try code(ManyAsOne(children: Tag(name: "a"))) == .unsupportedRelationship)
    #expect(try code(OneAsMany(cover: [])) == .unsupportedRelationship)
    #expect(try code(Nothing(children: [nil])) == .unsupportedRelationship)
    #expect(try code(WrongEntity(children: [Tag(name: "a")])) == .unsupportedRelationship)
    #expect(try code(Unknown()) == .invalidManagedKey)
    try workshop.finish()
  }

  @Test("An upsert into a destroyed store reports the failed lookup")
  func aClosedStoreIsAnErrorOfTheLookUp() throws {
    try context.upsert(FullBanner(id: 1))
    try workshop.finish()
    try workshop.store.destroy()
    let error = try workshop.failure { try context.upsert(FullBanner(id: 1)) }
    #expect(error.code == .uniqueFetchFailed && error.underlying is ArborError)
  }
}
