import ArborModel
import ArborObjects
import TestSupport
import Testing

/// Log entries of slow queries.
@Suite struct SlowQueryLogTests {
  private func store(
    _ threshold: Duration?, entity: String = "LoggedNote"
  ) throws -> PersistentStore {
    try PersistentStore(
      model: ManagedObjectModel {
        EntityDescription(entity) {
          AttributeDescription("body", .string, .optional)
          AttributeDescription("weight", .integer64, .default(0))
        }
      }, at: .inMemory, options: StoreOptions(slowQueryThreshold: threshold))
  }

  @Test("Slow queries are logged without their values")
  func slowQueriesAreLoggedWithoutTheirValues() throws {
    try #require(ProgramLog.isSetUp)
    let store = try store(.zero)
    let context = store.makeContext()
    try context.insert("LoggedNote")["body"] = "secret"
    try context.commit()
    let found = try context.fetch("LoggedNote", matching: "body == \("secret")")
    #expect(found.count == 1)
    #expect(try context.count("LoggedNote", matching: "body BEGINSWITH 'sec'") == 1)
    let own = ProgramLog.entries("entity", "LoggedNote")
    #expect(own.map(\.metadata["rows"]) == ["1", "1"])
    #expect(own.allSatisfy { $0.label == "ArborData.query" })
    #expect(own.first?.metadata["query"] == "LoggedNote where body == ?")
    #expect(own.last?.metadata["query"]?.hasPrefix("count of LoggedNote") == true)
    #expect(own.first?.metadata["suggestedIndex"]?.contains("\"body\"") == true)
    #expect(!own.contains { "\($0)".contains("secret") || "\($0)".contains("'sec'") })
    store.close()
  }

  /// The operations that read rows by a predicate, and the expected description and row count.
  private static let readers:
    [(asked: String, rows: String?, read: @Sendable (ObjectQuery<ManagedObject>) throws -> Void)] =
      [
        ("existence of ", nil, { _ = try $0.isEmpty() }),
        ("count of ", "3", { _ = try $0.count() }),
        (
          "minimum, sum of ", nil,
          { _ = try $0.values(of: .minimum("body"), .sum("weight * 98765432101")) }
        ),
        ("rows of ", "3", { _ = try $0.rows("body") }),
        ("groups of ", "1", { _ = try $0.rows("count(body) AS n") }),
        ("", "3", { _ = try $0.fetchIDs() }),
        ("", "3", { _ = try $0.page() }),
        (
          "", "3",
          {
            let cursor = try $0.cursor()
            while try cursor.next() != nil {}
          }
        ),
        ("", "3", { _ = try $0.update(["body": "secret too"]) }),
        ("", "3", { _ = try $0.delete() }),
      ]

  @Test("Every reading operation is logged", arguments: readers.indices)
  func everythingThatReadsIsLogged(readerIndex: Int) throws {
    try #require(ProgramLog.isSetUp)
    let name = "LoggedNote\(readerIndex)"
    let store = try store(.zero, entity: name)
    let context = store.makeContext()
    for index in 0..<3 {
      let note = try context.insert(name)
      try note.setValue(.string("secret \(index)"), forKey: "body")
    }
    try context.commit()
    let reader = Self.readers[readerIndex]
    try reader.read(context.objects(name).filter("body BEGINSWITH \("secret")"))
    let own = ProgramLog.entries("entity", name)
    let entry = try #require(own.first)
    #expect(own.count == 1 || reader.asked.isEmpty)
    #expect(entry.metadata["query"]?.hasPrefix("\(reader.asked)\(name) where ") == true)
    #expect(entry.metadata["rows"] == reader.rows)
    #expect(entry.metadata["plan"]?.isEmpty == false)
    #expect(!own.contains { "\($0)".contains("secret") || "\($0)".contains("98765432101") })
    store.close()
  }

  @Test("The logged plan is the executed one, with actual instead of estimated rows")
  func thePlanThatRanIsLogged() throws {
    try #require(ProgramLog.isSetUp)
    let store = try PersistentStore(
      model: ManagedObjectModel {
        EntityDescription("PlannedNote") {
          AttributeDescription("weight", .integer64, .indexed)
          AttributeDescription("rank", .integer64, .indexed)
        }
      }, at: .inMemory, options: StoreOptions(slowQueryThreshold: .zero))
    let context = store.makeContext()
    for index in 0..<40 {
      let note = try context.insert("PlannedNote")
      note["weight"] = index
      note["rank"] = index
    }
    try context.commit()
    let query = context.objects("PlannedNote").filter("weight == 3 OR rank IN {3, 4}")
    #expect(try "\(query.explain())".hasPrefix("union · about 3 rows\n"))
    #expect(try query.fetchIDs().count == 2)
    let entry = try #require(ProgramLog.entries("entity", "PlannedNote").first)
    #expect(entry.metadata["plan"]?.hasPrefix("union · 2 rows\n") == true)
    store.close()
  }

  @Test("The logged plan names the entries that answered for groups")
  func plansOfGroupsAreLogged() throws {
    try #require(ProgramLog.isSetUp)
    let store = try PersistentStore(
      model: ManagedObjectModel {
        EntityDescription("LoggedRoom") {
          RelationshipDescription("posts", to: "LoggedPost", inverse: "room", .toMany)
        }
        EntityDescription("LoggedPost") {
          AttributeDescription("kind", .string)
          AttributeDescription("sent", .integer64)
          RelationshipDescription("room", to: "LoggedRoom", inverse: "posts")
          FetchIndexDescription("timeline", on: "kind", "sent")
        }
      }, at: .inMemory, options: StoreOptions(slowQueryThreshold: .zero))
    let context = store.makeContext()
    let rooms = try (0..<2).map { _ in try context.insert("LoggedRoom") }
    for number in 0..<40 {
      let post = try context.insert("LoggedPost")
      post["kind"] = ["a", "b", "c"][number % 3]
      post["sent"] = number
      post["room"] = rooms[number % 2]
    }
    try context.commit()
    let posts = context.objects("LoggedPost")
    let sent = try posts.top(1, per: "kind", by: "-sent").fetch().map {
      try $0.value(forKey: "sent")
    }
    #expect(sent == [39, 37, 38])
    #expect(
      try posts.rows("kind", "min(sent) AS first", groupedBy: ["kind"]).map { $0["first"] }
        == [0, 1, 2])
    #expect(
      try posts.rows("kind", "@count AS all", groupedBy: ["kind"]).map { $0["all"] }
        == [14, 13, 13])
    #expect(
      try posts.rows("room", "@count AS all", groupedBy: ["room"]).map { $0["all"] } == [20, 20])
    let plans = ProgramLog.entries("entity", "LoggedPost").compactMap { $0.metadata["plan"] }
    #expect(
      plans == [
        """
        sort kind, -sent
        └ limit 1 per kind by -sent
          └ index LoggedPost.timeline: skip scan, 3 groups
        """, "index LoggedPost.timeline: skip scan, 3 groups",
        "index LoggedPost.timeline: keys only · 3 rows",
        "relationship LoggedRoom.posts: counts only · 2 rows",
      ])
    store.close()
  }

  @Test("Without a threshold, no query is logged")
  func nothingIsLoggedWithoutAThreshold() throws {
    try #require(ProgramLog.isSetUp)
    #expect(ProgramLog.entries("entity", "QuietNote").isEmpty)
    let store = try PersistentStore(
      model: ManagedObjectModel { EntityDescription("QuietNote") }, at: .inMemory)
    #expect(try store.makeContext().fetch("QuietNote").isEmpty)
    #expect(ProgramLog.entries("entity", "QuietNote").isEmpty)
    store.close()
  }
}
