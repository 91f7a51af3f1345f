import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import Testing

@Suite struct ManagedObjectReadingTests {
  let workshop: ModelWorkshop
  var context: ManagedObjectContext { workshop.context }

  init() throws { workshop = try ModelWorkshop() }

  private func nodes(_ names: String...) throws -> [ManagedObject] {
    try names.map { try workshop.insert("Node", ["name": .string($0)]) }
  }

  @Test("Cyclic graphs of objects are read with the same structure")
  func aGraphWithCirclesComesOutAsOneGraph() throws {
    let objects = try nodes("root", "a", "b")
    try objects[0].objects(forKey: "children").replaceAll(with: [objects[1], objects[2]])
    try objects[1].objects(forKey: "friends").replaceAll(with: [objects[0], objects[1], objects[2]])
    try objects[2].setObject(objects[2], forKey: "best")
    let root = try Node(objects[0])
    let children = root.children.sorted { ($0.name ?? "") < ($1.name ?? "") }
    #expect(root.name == "root" && children.map(\.name) == ["a", "b"])
    #expect(children.allSatisfy { $0.parent === root })
    #expect(children[0].friends == [root, children[0], children[1]])
    #expect(root.friends == [children[0]])
    #expect(children[1].best === children[1] && root.best == nil && root.parent == nil)
    try workshop.finish()
  }

  @Test("Within a call, the same object yields the identical instance")
  func theSameObjectIsTheIdenticalModelWithinOneCall() throws {
    let objects = try nodes("a", "b", "c")
    for object in objects.dropFirst() { try object.setObject(objects[0], forKey: "parent") }
    let models = try context.values(Node.self, sortedBy: "name")
    #expect(models[1].parent === models[0] && models[2].parent === models[0])
    #expect(Set(models[0].children) == [models[1], models[2]])
    let again = try context.values(Node.self, of: [objects[0], objects[0]])
    #expect(again[0] === again[1] && again[0] !== models[0])
    try workshop.finish()
  }

  @Test("Back references are found whatever their keys are called")
  func backReferencesAreFoundWhateverTheirKeysAreCalled() throws {
    let objects = try nodes("root", "a", "b", "x")
    try objects[0].objects(forKey: "children").replaceAll(with: [objects[1], objects[2]])
    try objects[0].setObject(objects[3], forKey: "best")
    let a = try OpenNode(objects[1])
    let root = try #require(a.above)
    #expect(root.title == "root" && root.liked?.title == "x" && a.liked == nil)
    #expect(root.below.count == 2 && root.below.allSatisfy { $0.parent === root })
    try workshop.finish()
  }

  @Test("Long chains of back references don't overflow the stack")
  func chainsOfBackReferencesDoNotNest() throws {
    var last = try nodes("0")[0]
    let first = last
    for number in 1..<3_000 {
      let next = try workshop.insert("Node", ["name": .string("\(number)")])
      try last.setObject(next, forKey: "best")
      last = next
    }
    var node: Node? = try Node(first)
    var count = 0
    while let current = node {
      #expect(current.name == "\(count)")
      count += 1
      node = current.best
    }
    #expect(count == 3_000)
    try workshop.finish()
  }

  private struct Link: ValueModel {
    var name: String?
    var children: [Link]
    static let entityName = "Node"
  }

  @Test("A cycle without a declared back reference is an error")
  func circlesWithoutBackReferencesAreErrors() throws {
    let objects = try nodes("a", "b")
    try objects[0].objects(forKey: "children").replaceAll(with: [objects[1]])
    #expect(try Link(objects[0]).children.map(\.name) == ["b"])
    try objects[1].objects(forKey: "children").replaceAll(with: [objects[0]])
    let error = try workshop.failure { try Link(objects[0]) }
    #expect(error.code == .invalidMapping && error.keyPath == "children")
    try workshop.finish()
  }

  @Test("Models nested too deeply are rejected")
  func tooDeepModelsAreAnError() throws {
    var last = try nodes("0")[0]
    let first = last
    for _ in 0..<400 {
      let next = try workshop.insert("Node")
      try last.objects(forKey: "children").replaceAll(with: [next])
      last = next
    }
    #expect(try workshop.failure { try Link(first) }.code == .limitExceeded)
    try workshop.finish()
  }

  /// Each object is reached from its parent by two relationships, so the number of paths doubles at
  /// each level.
  @Test("Shared objects are read once")
  func sharedObjectsAreReadOnce() throws {
    struct Shared: ValueModel {
      var name: String?
      var children: [Shared]
      var more: [Shared]
      static let entityName = "Node"
      static let managedKeys: ValueModelMapping = .identity.renaming(["more": "children"])
    }
    var last = try nodes("0")[0]
    let first = last
    for number in 1..<60 {
      let next = try workshop.insert("Node", ["name": .string("\(number)")])
      try last.objects(forKey: "children").replaceAll(with: [next])
      last = next
    }
    var shared: Shared? = try Shared(first)
    var count = 0
    while let current = shared {
      #expect(current.more.first?.name == current.children.first?.name)
      count += 1
      shared = current.more.first
    }
    #expect(count == 60)
    try workshop.finish()
  }

  final class Owned: ValueModel {
    var name: String?
    weak var parent: Owned?
    weak var best: Owned?
    var children: [Owned]
    static let entityName = "Node"
    static var backReferences: [AnyKeyPath] { [\Owned.parent, \Owned.best] }
  }

  @Test("Back references may be weak")
  func backReferencesMayBeWeak() throws {
    let objects = try nodes("a", "b")
    try objects[0].objects(forKey: "children").replaceAll(with: [objects[1]])
    try objects[1].setObject(objects[0], forKey: "best")
    let root = try Owned(objects[0])
    #expect(root.children.first?.parent === root && root.children.first?.best === root)
    #expect(root.parent == nil)
    root.children[0].name = "c"
    try context.upsert(root)
    #expect(try workshop.all("Node").count == 4)
    try workshop.finish()
  }

  final class Hidden: ValueModel {
    enum CodingKeys: String, CodingKey { case name, children }
    var name: String?
    var children: [Hidden]
    var parent: Hidden?
    static let entityName = "Node"
    static var backReferences: [AnyKeyPath] { [\Hidden.parent] }
  }

  @Test("A back reference needs no coding key")
  func aBackReferenceNeedsNoCodingKey() throws {
    let objects = try nodes("a", "b")
    try objects[0].objects(forKey: "children").replaceAll(with: [objects[1]])
    let root = try Hidden(objects[0])
    #expect(root.children.first?.parent === root && root.parent == nil)
    try workshop.finish()
  }
}
