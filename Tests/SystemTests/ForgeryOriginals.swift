import ArborModel
import ArborObjects
import ArborStore
import Foundation
import TestSupport
import Testing

/// The sound stores to forge: small ones that together contain everything that a store can hold.
enum ForgeryOriginals {
  /// Creates the files `office`, `library` and `unfinished` in a folder.
  static func make(at folder: TemporaryFolder) async throws {
    try makeOffice(at: folder.path("office"))
    try makeLibrary(at: folder.path("library"))
    try await makeUnfinished(at: folder.path("unfinished"))
    for name in ["office-lock", "library-lock", "unfinished-lock"] {
      try? FileManager.default.removeItem(atPath: folder.path(name))
    }
  }

  /// Creates a store with one complete index, one partially built index, and one whose build has
  /// not started.
  private static func makeUnfinished(at path: String) async throws {
    func model(_ indexes: [FetchIndexDescription]) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        EntityDescription("Note", fetchIndexes: indexes) {
          AttributeDescription("text", .string, .optional)
          AttributeDescription("rank", .integer32, .optional)
        }
      }
    }
    do {
      let file = try StoreEngine.open(StoreOpening(.file(path), model: try model([])))
      defer { file.close() }
      let draft = Draft(file)
      for number in 0..<40 {
        try draft.insert(
          "Note", ["text": .string("note \(number)"), "rank": .integer(Int64(number % 5))])
      }
      try draft.commit()
    }
    let newer = try model([
      FetchIndexDescription(name: "byRank", elements: [.init("rank")]),
      FetchIndexDescription(name: "words", elements: [.init("text", kind: .text)]),
      FetchIndexDescription(name: "once", elements: [.init("text")], isUnique: true),
    ])
    // Cancelled in the middle of the second index, whose completed batches remain.
    let work = Task {
      var opening = StoreOpening(.file(path), model: newer)
      opening.maximumObjectsIndexedAtOnce = 0
      opening.largestIndexBatch = 20
      opening.onIndexProgress = { builds in
        guard builds.count == 2, builds.contains(where: { $0.objectsDone > 0 }) else { return }
        withUnsafeCurrentTask { $0?.cancel() }
      }
      try StoreEngine.open(opening).close()
    }
    await #expect(throws: StoreError.self) { try await work.value }
    var opening = StoreOpening(.file(path), model: nil)
    opening.indexBuilds = .left
    let file = try StoreEngine.open(opening)
    defer { file.close() }
    let done = try file.indexBuilds().map(\.objectsDone)
    try #require(done.count == 2 && done.contains(0) && done.contains { $0 > 0 }, "\(done)")
  }

  /// Creates a store with every kind of relationship and of value index.
  private static func makeOffice(at path: String) throws {
    let file = try StoreEngine.open(StoreOpening(.file(path), model: try OfficeModel.make()))
    defer { file.close() }
    let draft = Draft(file)
    let company = try draft.insert("Company", ["name": "Arbor", "founded": .date(Date())])
    let manager = try draft.insert("Manager", ["employeeID": 0, "name": "Eve"])
    let tag = try draft.insert("Tag", ["name": "all"])
    let projects = try (0..<5).map { try draft.insert("Project", ["title": .string("p\($0)")]) }
    for number in 1...12 {
      let person = try draft.insert(
        "Employee",
        [
          "employeeID": .integer(Int64(number)), "age": .integer(Int64(20 + number % 3)),
          "name": .string("name \(number % 4)"), "email": .string("\(number)@arbor"),
          "salary": .double(Double(number)), "hiredAt": .date(Date()),
        ], to: ["company": company, "manager": manager])
      try draft.link(person, "tags", tag)
      try draft.link(person, "favourites", projects[number % 2])
      let task = try draft.insert("Task", ["title": "task"], to: ["project": projects[0]])
      try draft.edit(projects[0], "tasks", .add(task))
      let badge = try draft.insert("Badge", ["code": .uuid(UUID())], to: ["employee": person])
      try draft.commit()
      try draft.update(person, to: ["badge": badge])
      try draft.commit()
    }
    for project in projects {
      try draft.update(project, ["title": .string(String(repeating: "p", count: 300))])
      try draft.commit()
    }
  }

  /// Creates a store with every attribute type, a full-text index, external binary values, derived
  /// attributes, and a relationship from an entity to itself.
  private static func makeLibrary(at path: String) throws {
    let model = try ManagedObjectModel(versionIdentifier: "1") {
      CompositeDescription("Size") {
        AttributeDescription("width", .double, .optional)
        AttributeDescription("unit", .string, .optional)
      }
      EntityDescription(
        "Book",
        fetchIndexes: [
          FetchIndexDescription(name: "words", elements: [.init("text", kind: .text)]),
          FetchIndexDescription(name: "folded", elements: [.init("title")]),
        ]
      ) {
        AttributeDescription("title", .string, .default(""))
        AttributeDescription("text", .string, .optional)
        AttributeDescription("cover", .binary, .externalStorage, .optional)
        AttributeDescription("key", .binary, .optional, .indexed)
        AttributeDescription("price", .decimal, .optional, .indexed)
        AttributeDescription("link", .uri, .optional, .indexed)
        AttributeDescription("code", .uuid, .optional, .indexed)
        AttributeDescription("isNew", .boolean, .optional, .indexed)
        AttributeDescription("weight", .float, .optional, .indexed)
        AttributeDescription("pages", .integer32, .default(0))
        AttributeDescription("extent", .composite("Size"), .optional)
        AttributeDescription("related", .integer32, .optional, .derived("similar.@count"))
        AttributeDescription("shelf", .string, .optional, .derived("room.name"))
        RelationshipDescription("similar", to: "Book", inverse: "similar", .toMany)
        RelationshipDescription("sequel", to: "Book", inverse: "prequel")
        RelationshipDescription("prequel", to: "Book", inverse: "sequel")
        RelationshipDescription("room", to: "Room", inverse: "books")
      }
      EntityDescription("Room") {
        AttributeDescription("name", .string, .optional)
        AttributeDescription("pages", .integer64, .optional, .derived("books.@sum.pages"))
        RelationshipDescription("books", to: "Book", inverse: "room", .toMany, .ordered)
      }
    }
    let store = try PersistentStore(model: model, at: .path(path))
    defer { store.close() }
    let context = store.makeContext()
    let room = try context.insert("Room")
    try room.setValue(.string("west"), forKey: "name")
    var former: ManagedObject?
    for number in 1...10 {
      let book = try context.insert("Book")
      let values: [String: PropertyValue] = [
        "title": .string("title \(number)"), "text": .string("some words of number \(number)"),
        "cover": .binary(Data(repeating: UInt8(number), count: number % 5 == 0 ? 70_000 : 20)),
        "key": .binary(Data([UInt8(number), 0, 255])), "price": .decimal(Decimal(number) / 8),
        "link": .uri(try #require(URL(string: "https://example.org/\(number)"))),
        "code": .uuid(UUID()), "isNew": .boolean(number % 2 == 0),
        "weight": .double(Double(number) / 4), "pages": .integer(Int64(number) << 20),
        "extent": .composite(["width": .double(1), "unit": "m"]),
      ]
      for (key, value) in values { try book.setValue(value, forKey: key) }
      try book.setObject(room, forKey: "room")
      if let former {
        try book.setObject(former, forKey: "prequel")
        try book.objects(forKey: "similar").insert(former)
      }
      former = book
      try context.commit()
    }
  }
}
