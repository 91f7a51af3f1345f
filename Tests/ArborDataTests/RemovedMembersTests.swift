import ArborData
import Foundation
import TestSupport
import Testing

/// Entities that are removed while relationships and indexes of an ancestor refer to their objects.
@Suite("Removed entities that other entities refer to") struct RemovedMembersTests {
  /// The change to the relationship whose members are removed.
  enum List: CaseIterable {
    case stays, isRenamed
    /// Another relationship takes its place as the inverse and takes over its links.
    case isReplaced
  }

  private static func boxes(_ list: List?, isOrdered: Bool) throws -> ManagedObjectModel {
    let name = list == nil || list == .stays ? "things" : "contents"
    return try ManagedObjectModel {
      EntityDescription("Thing") {
        AttributeDescription("id", .integer64)
        RelationshipDescription("owner", to: "Box", inverse: name)
      }
      EntityDescription("Box", parent: "Thing") {
        RelationshipDescription(
          name, to: "Thing", inverse: "owner",
          options: [.toMany] + (isOrdered ? [.ordered] : [])
            + (list == .isRenamed ? [.renamed(from: "things")] : []))
      }
      if list == nil { EntityDescription("Toy", parent: "Thing") {} }
    }
  }

  private static let options = StoreOptions(migration: .automatic(dropping: .everythingRemoved))

  @Test(
    "A list no longer includes objects of a removed entity", arguments: List.allCases,
    [false, true])
  func lists(list: List, isOrdered: Bool) throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "store.arbor")
    do {
      let older = try Self.boxes(nil, isOrdered: isOrdered)
      let store = try PersistentStore(model: older, at: .file(url))
      defer { store.close() }
      let context = store.makeContext()
      let box = try context.insert("Box")
      box["id"] = 1
      let things = try ["Toy", "Thing", "Box"].map { try context.insert($0) }
      for (index, thing) in things.enumerated() { thing["id"] = index + 2 }
      box["things"] = things
      try context.commit()
    }
    let newer = try Self.boxes(list, isOrdered: isOrdered)
    let store = try PersistentStore(model: newer, at: .file(url), options: Self.options)
    defer { store.close() }
    try store.check()
    let context = store.makeContext()
    let box = try #require(try context.objects("Box").filter("id == 1").first())
    let members = try box.objects(forKey: list == .stays ? "things" : "contents").fetch()
    #expect(Set(members.map { $0["id"] as Int }) == [3, 4])
  }

  private static func notes(isOlder: Bool) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Note") {
        AttributeDescription("isRead", .boolean, .optional, .indexed)
        if isOlder { AttributeDescription("date", .date, .optional) }
        if isOlder {
          FetchIndexDescription("state", on: "date", "isRead")
        } else {
          FetchIndexDescription("state", on: "isRead")
        }
      }
      if isOlder { EntityDescription("Memo", parent: "Note") {} }
    }
  }

  @Test("An index that becomes equal to another has no entries of a removed entity")
  func indexes() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "store.arbor")
    do {
      let store = try PersistentStore(model: try Self.notes(isOlder: true), at: .file(url))
      defer { store.close() }
      let context = store.makeContext()
      for name in ["Note", "Memo"] { try context.insert(name)["isRead"] = true }
      try context.commit()
    }
    let store = try PersistentStore(
      model: try Self.notes(isOlder: false), at: .file(url), options: Self.options)
    defer { store.close() }
    try store.check()
    #expect(try store.makeContext().count("Note", matching: "isRead == YES") == 1)
  }

  /// Returns a model of messages with an index and a unique attribute, declared by them or by an
  /// ancestor.
  private static func messages(isOlder: Bool, isInherited: Bool) throws -> ManagedObjectModel {
    let attributes = [
      AttributeDescription("number", .integer64, .optional, .unique),
      AttributeDescription("text", .string, .optional, .indexed),
    ]
    return try ManagedObjectModel {
      EntityDescription("Root", isAbstract: true) {
        if isInherited { for attribute in attributes { attribute } }
      }
      EntityDescription("Message", parent: "Root", isAbstract: !isOlder) {
        if !isInherited { for attribute in attributes { attribute } }
      }
      EntityDescription("Picture", parent: "Message") {}
      if !isOlder { EntityDescription("TextMessage", parent: "Message") {} }
    }
  }

  @Test(
    "Indexes have no entries of the former objects of an entity that becomes abstract",
    arguments: [false, true])
  func abstraction(isInherited: Bool) throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "store.arbor")
    let older = try Self.messages(isOlder: true, isInherited: isInherited)
    let newer = try Self.messages(isOlder: false, isInherited: isInherited)
    do {
      let store = try PersistentStore(model: older, at: .file(url))
      defer { store.close() }
      let context = store.makeContext()
      for (index, name) in ["Message", "Picture"].enumerated() {
        let object = try context.insert(name)
        object["number"] = index
        object["text"] = "hello"
      }
      try context.commit()
    }
    var options = StoreOptions()
    options.migrationSteps = [
      MigrationStep(from: older, to: newer) { migration in
        try migration.forEach("Message") { old in
          guard old.objectID.entityName == "Message" else { return }
          let text = try migration.insert("TextMessage")
          text["number"] = old["number"] as Int?
          text["text"] = old["text"] as String?
        }
      }
    ]
    let store = try PersistentStore(model: newer, at: .file(url), options: options)
    defer { store.close() }
    try store.check()
    let context = store.makeContext()
    #expect(try context.count("Message", matching: "text == 'hello'") == 2)
    #expect(try context.objects("Message").filter("number == 0").fetch().count == 1)
  }
}
