import ArborExchange
import ArborJSON
import ArborModel
import ArborObjects
import Foundation
import Testing

/// Lenient imports of items whose objects break rules of validation.
@Suite("Items that break rules") struct LenientImportTests {
  private static func entities(
    _ policy: String = "MergeAndPrune", isPartOptional: Bool = true
  ) -> [EntityDescription] {
    [
      EntityDescription(
        name: "Task",
        attributes: [
          AttributeDescription(name: "taskID", type: .integer64, isOptional: true),
          AttributeDescription(name: "title", type: .string),
          AttributeDescription(
            name: "priority", type: .integer64, isOptional: true, maximum: 5),
          AttributeDescription(name: "code", type: .string, isOptional: true),
        ],
        relationships: [
          RelationshipDescription(
            name: "parts", destination: "Part", inverse: "task", isToMany: true,
            userInfo: ["MergePolicy": policy]),
          RelationshipDescription(
            name: "next", destination: "Task", inverse: "former",
            userInfo: ["ImportReference": "{nextID}"]),
          RelationshipDescription(name: "former", destination: "Task", inverse: "next"),
        ],
        uniquenessConstraints: [["code"]]),
      EntityDescription(
        name: "Part",
        attributes: [
          AttributeDescription(name: "partID", type: .integer64, isOptional: true),
          AttributeDescription(
            name: "size", type: .integer64, isOptional: true, maximum: 9),
        ],
        relationships: [
          RelationshipDescription(
            name: "task", destination: "Task", inverse: "parts", isOptional: isPartOptional)
        ]),
    ]
  }

  private func lenient() -> ImportOptions {
    var options = ImportOptions()
    options.lenient = true
    options.report = ImportReport()
    return options
  }

  private func reasons(_ options: ImportOptions) -> [String] {
    options.report?.findings.dropped.map { dropped in
      let line = dropped.location.map { "\($0.line):\($0.column) \($0.path ?? "")" } ?? "-"
      return "\(line) \(dropped.entity ?? "-").\(dropped.property ?? "-"): \(dropped.reason)"
    } ?? []
  }

  @Test("Items that break rules are skipped with all their parts, and reported with their place")
  func brokenRules() throws {
    let workshop = try ImportWorkshop(Self.entities())
    let options = lenient()
    let text = #"""
      [{"taskID": 1, "title": "a", "parts": [{"partID": 1}]},
       {"taskID": 2, "title": "b", "priority": 77, "parts": [{"partID": 2}]},
       {"taskID": 3, "parts": [{"partID": 3}]},
       {"taskID": 4, "title": "d", "parts": [{"partID": 4}, {"partID": 5, "size": 10}]},
       {"taskID": 5, "title": "e", "parts": [{"partID": 1, "size": 2}]}]
      """#
    let objects = try workshop.context.importObjects(
      from: .data(Data(text.utf8)), as: "Task", options: options)
    #expect(objects.map { $0["taskID"] as Int64? } == [1, 5])
    #expect(try workshop.all("Part").map { $0["partID"] as Int64? } == [1])
    #expect(
      reasons(options) == [
        "2:42 $[1].priority Task.priority: Task.priority exceeds the maximum of 5.",
        "3:2 $[2] Task.title: Task.title has no value. Set one, or make the property optional.",
        "4:77 $[3].parts[1].size Part.size: Part.size exceeds the maximum of 9.",
      ])
    #expect(options.report?.findings.droppedCount == 3)
    try workshop.finish()
    // A strict import leaves rules to the commit.
    try workshop.list(#"[{"taskID": 9, "title": "x", "priority": 8}]"#, as: "Task")
    #expect(throws: ArborError.self) { try workshop.context.commit() }
    workshop.context.rollback()
    try workshop.store.check()
  }

  @Test("Existing objects keep their values if their items break rules")
  func existingObjects() throws {
    let workshop = try ImportWorkshop(Self.entities())
    try workshop.list(
      #"[{"taskID": 1, "title": "a", "priority": 1, "parts": [{"partID": 1}]}]"#, as: "Task")
    // Pending changes of other code stay, even if they break rules themselves.
    let other = try workshop.context.insert("Task")
    let options = lenient()
    try workshop.list(
      #"""
      [{"taskID": 1, "title": "b", "priority": 6, "parts": []}, {"taskID": 2, "title": "c"}]
      """#, as: "Task", options)
    let task = try #require(try workshop.all("Task").first)
    #expect(task["title"] == "a" && task["priority"] == 1)
    #expect(try task.objects(forKey: "parts").fetch().count == 1)
    #expect(options.report?.findings.droppedCount == 1 && !other.isDeleted)
    #expect(try workshop.all("Task").count == 3)
    other["title"] = "other"
    try workshop.finish()
  }

  @Test("The item whose value breaks a rule is skipped, not one that shares the object")
  func sharedObjects() throws {
    let workshop = try ImportWorkshop(Self.entities("Merge"))
    let options = lenient()
    let objects = try workshop.list(
      #"""
      [{"taskID": 1, "title": "a", "parts": [{"partID": 1}]},
       {"taskID": 2, "title": "b", "parts": [{"partID": 1, "size": 12}]},
       {"taskID": 3, "title": "c", "parts": [{"partID": 1}]}]
      """#, as: "Task", options)
    #expect(objects.map { $0["taskID"] as Int64? } == [1, 3])
    #expect(options.report?.findings.dropped.map { $0.location?.path } == ["$[1].parts[0].size"])
    try workshop.finish()
  }

  @Test("An item that breaks a rule of an object that it only unlinks is skipped")
  func unlinkedObjects() throws {
    let workshop = try ImportWorkshop(Self.entities(isPartOptional: false))
    try workshop.list(
      #"[{"taskID": 1, "title": "a", "parts": [{"partID": 1}, {"partID": 2}]}]"#, as: "Task")
    try workshop.finish()
    let options = lenient()
    let objects = try workshop.list(
      #"[{"taskID": 1, "title": "b", "parts": [{"partID": 1}]}, {"taskID": 2, "title": "c"}]"#,
      as: "Task", options)
    #expect(objects.map { $0["taskID"] as Int64? } == [2])
    #expect(options.report?.findings.dropped.map(\.property) == ["task"])
    #expect(options.report?.findings.dropped.map { $0.location?.path } == ["$[0]"])
    // The part may be listed by another item.
    let moving = lenient()
    try workshop.list(
      #"""
      [{"taskID": 1, "title": "b", "parts": [{"partID": 1}]},
       {"taskID": 2, "title": "d", "parts": [{"partID": 2}]}]
      """#, as: "Task", moving)
    #expect(moving.report?.findings.droppedCount == 0)
    try workshop.finish()
  }

  @Test("Taken unique values and references to skipped items are reported")
  func dependencies() throws {
    let workshop = try ImportWorkshop(Self.entities())
    try workshop.list(#"[{"taskID": 1, "title": "a", "code": "x"}]"#, as: "Task")
    try workshop.finish()
    let options = lenient()
    let objects = try workshop.list(
      #"""
      [{"taskID": 2, "title": "b", "nextID": 3}, {"taskID": 3, "priority": 1},
       {"taskID": 4, "title": "d", "code": "x"}, {"taskID": 5, "title": "e", "code": "y"}]
      """#, as: "Task", options)
    #expect(objects.map { $0["taskID"] as Int64? } == [2, 5])
    #expect(try objects[0].object(forKey: "next") == nil)
    #expect(
      options.report?.findings.dropped.map { "\($0.location?.path ?? "") \($0.property ?? "")" }
        == ["$[1] title", "$[2].code code", "$[0].nextID next"])
    try workshop.finish()
  }

  @Test("Single objects and existing targets are skipped as well")
  func singleObjects() throws {
    let workshop = try ImportWorkshop(Self.entities())
    let options = lenient()
    #expect(try workshop.one(#"{"taskID": 1}"#, as: "Task", options) == nil)
    let task = try #require(try workshop.one(#"{"taskID": 1, "title": "a"}"#, as: "Task", options))
    #expect(
      try !workshop.context.importObject(
        from: #"{"title": "b", "priority": 9}"#, into: task, options: options))
    #expect(task["title"] == "a" && task["priority"] == PropertyValue.null)
    #expect(
      options.report?.findings.dropped.map { $0.location?.path ?? "" } == ["$", "$.priority"])
    try workshop.finish()
  }

  @Test("A delivery of ten thousand items with twenty bad ones is one call")
  func delivery() async throws {
    let store = try PersistentStore(
      model: ManagedObjectModel(entities: Self.entities()), at: .inMemory)
    let bad = Set((0..<20).map { $0 * 491 + 7 })
    let items = (0..<10_000).map { number in
      "{\"taskID\": \(number), \"title\": \"t\(number)\", \"priority\": "
        + "\(bad.contains(number) ? 6 : number % 6), \"parts\": [{\"partID\": \(number)}]}"
    }
    var options = lenient()
    options.batchSize = 2_000
    let step = try await store.importObjects(
      from: .data(Data("[\n\(items.joined(separator: ",\n"))]".utf8)), as: "Task", options: options
    ).finish()
    #expect(step.items == 10_000 && step.inserted == 2 * (10_000 - bad.count))
    #expect(step.findings.droppedCount == bad.count)
    #expect(step.findings.dropped.map { $0.location?.line } == bad.sorted().map { $0 + 2 })
    #expect(Set(step.findings.dropped.map(\.property)) == ["priority"])
    let context = store.makeContext()
    #expect(try context.count("Task") == 10_000 - bad.count)
    #expect(try context.count("Part") == 10_000 - bad.count)
    try store.check()
  }
}
