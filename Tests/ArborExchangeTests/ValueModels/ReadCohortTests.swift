import ArborExchange
import ArborLocks
import ArborModel
import ArborObjects
import Foundation
import Testing

/// The ordered events of a test.
private final class Events: Sendable {
  private let list = Lock<[String]>([])

  func note(_ event: String) { list.withLock { $0.append(event) } }

  func take() -> [String] {
    list.withLock { list in
      defer { list = [] }
      return list
    }
  }
}

/// The events of the current task's test.
private enum Present { @TaskLocal static var events: Events? }

/// A branch of a tree that notes when its record is read.
private final class Branch: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  override class var entityName: String { "Branch" }
  private static let description = EntityDescription(
    name: "Branch", className: "Branch",
    attributes: [AttributeDescription(name: "number", type: .integer64, defaultValue: 0)],
    relationships: [
      RelationshipDescription(name: "parent", destination: "Branch", inverse: "branches"),
      RelationshipDescription(
        name: "branches", destination: "Branch", inverse: "parent", isToMany: true),
      RelationshipDescription(name: "twin", destination: "Branch"),
    ])

  override func awakeFromFetch() { Present.events?.note("read \(self["number"] as Int)") }
}

/// A branch with its subtree.
private struct Tree: ValueModel, Equatable {
  var number: Int
  var branches: [Tree]
  static let entityName = "Branch"

  init(number: Int, branches: [Tree]) {
    self.number = number
    self.branches = branches
  }

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    number = try members.decode(Int.self, forKey: .number)
    Present.events?.note("made \(number)")
    branches = try members.decode([Tree].self, forKey: .branches)
  }
}

/// A branch with its twin.
private struct Twin: ValueModel {
  final class Other: ValueModel {
    var number = 0
    static let entityName = "Branch"
  }

  var number: Int
  var twin: Other?
  static let entityName = "Branch"

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    number = try members.decode(Int.self, forKey: .number)
    Present.events?.note("made \(number)")
    twin = try members.decodeIfPresent(Other.self, forKey: .twin)
  }
}

/// The targets of relationships are read for all objects together, level by level.
@Suite struct ReadCohortTests {
  private let store: PersistentStore

  init() throws {
    store = try PersistentStore(for: [Branch.self], at: .inMemory)
  }

  /// Commits trees of three levels: 1, 2 and 3 at the top, then 11, 12, 21 and so on, and 111 and
  /// so on at the bottom.
  private func plant() throws {
    let context = store.makeContext()
    for top in 1...3 {
      let root = context.insert(Branch.self)
      root["number"] = top
      for middle in 1...2 {
        let branch = context.insert(Branch.self)
        branch["number"] = top * 10 + middle
        branch["parent"] = root
        for bottom in 1...2 {
          let leaf = context.insert(Branch.self)
          leaf["number"] = top * 100 + middle * 10 + bottom
          leaf["parent"] = branch
          leaf["twin"] = root
        }
      }
    }
    try context.commit()
  }

  private static let trees = (1...3).map { top in
    Tree(
      number: top,
      branches: (1...2).map { middle in
        let number = top * 10 + middle
        return Tree(
          number: number,
          branches: (1...2).map { Tree(number: number * 10 + $0, branches: []) })
      })
  }

  @Test("The objects of each level are read together and once")
  func eachLevelIsReadForAllOnce() throws {
    try plant()
    let context = store.makeContext()
    let events = Events()
    try Present.$events.withValue(events) {
      let roots = try context.values(Tree.self, matching: "parent == nil", sortedBy: "number")
      #expect(roots == Self.trees)
    }
    let log = events.take()
    func first(_ event: String) throws -> Int { try #require(log.firstIndex(of: event)) }
    func last(_ number: (Int) -> Bool) throws -> Int {
      try #require(
        log.lastIndex { event in
          event.hasPrefix("read ") && Int(event.dropFirst(5)).map(number) == true
        })
    }
    // All records of a level are read before its first model is created, although models are
    // created depth first.
    #expect(try last { $0 < 10 } < first("made 1"))
    #expect(try last { (10..<100).contains($0) } < first("made 11"))
    #expect(try last { $0 >= 100 } < first("made 111"))
    #expect(log.filter { $0.hasPrefix("read ") }.count == 21)
    try store.check()
  }

  @Test("The targets of to-one relationships are read together")
  func toOneRelationshipsAreReadForAllToo() throws {
    try plant()
    let context = store.makeContext()
    let leaves = try context.fetch("Branch", matching: "number > 100", sortedBy: ["number"])
    let events = Events()
    let twins = try Present.$events.withValue(events) {
      try context.values(Twin.self, of: leaves)
    }
    #expect(twins.map { $0.twin?.number } == [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3])
    #expect(
      events.take().prefix(5) == ["made 111", "read 1", "read 2", "read 3", "made 112"])
    try store.check()
  }

  @Test("Uncommitted changes are included")
  func uncommittedChangesCount() throws {
    try plant()
    let context = store.makeContext()
    let roots = try context.fetch("Branch", matching: "parent == nil", sortedBy: ["number"])
    var expected = Self.trees
    // 11 moves from 1 to 2, 32 is deleted with its leaves, and 3 gets a new branch.
    let moved = try #require(try context.fetchOne("Branch", matching: "number == 11"))
    moved["parent"] = roots[1]
    expected[1].branches.append(expected[0].branches.removeFirst())
    for object in try context.fetch("Branch", matching: "number == 32 OR parent.number == 32") {
      context.delete(object)
    }
    expected[2].branches.removeLast()
    let new = context.insert(Branch.self)
    new["number"] = 39
    new["parent"] = roots[2]
    expected[2].branches.append(Tree(number: 39, branches: []))
    func sorted(_ trees: [Tree]) -> [Tree] {
      trees.map { Tree(number: $0.number, branches: sorted($0.branches)) }
        .sorted { $0.number < $1.number }
    }
    #expect(try sorted(context.values(Tree.self, of: roots)) == sorted(expected))
    try context.commit()
    #expect(try sorted(context.values(Tree.self, of: roots)) == sorted(expected))
    try store.check()
  }

  @Test("Reading an object that another context deleted is an error")
  func whatOthersHaveDeletedIsAnError() throws {
    try plant()
    let context = store.makeContext()
    let roots = try context.fetch("Branch", matching: "parent == nil", sortedBy: ["number"])
    let other = store.makeContext()
    other.delete(try other.object(with: roots[1].objectID))
    try other.commit()
    #expect(throws: ArborError.self) { try context.values(Tree.self, of: roots) }
    #expect(try context.values(Tree.self, of: [roots[0], roots[2]]).map(\.number) == [1, 3])
    try store.check()
  }

  @Test("Objects of another store are rejected")
  func objectsOfAnotherStoreAreAnError() throws {
    try plant()
    let elsewhere = try PersistentStore(for: [Branch.self], at: .inMemory).makeContext()
    let stranger = elsewhere.insert(Branch.self)
    let error = try #require(throws: ArborError.self) {
      try self.store.makeContext().values(Tree.self, of: [stranger])
    }
    #expect(error.code == .invalidArgument)
  }
}
