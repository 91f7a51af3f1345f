import ArborJSON
import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

/// The import of items, independent of the relationships' policies.
@Suite struct ItemImportTests {
  @Test("An absent key leaves its property unchanged, and null clears it")
  func anAbsentKeyLeavesItsPropertyAloneAndNullClearsIt() throws {
    let workshop = try ImportWorkshop()
    try workshop.one(#"{"employeeID": 1, "name": "Ada", "age": 36, "salary": 2.5}"#)
    try workshop.one(#"{"employeeID": 1, "age": null}"#)
    let ada = try #require(workshop.all("Employee").first)
    #expect(try ada.value(forKey: "name") == "Ada")
    #expect(try ada.value(forKey: "age").isNull)
    #expect(try ada.value(forKey: "salary") == 2.5)
    try workshop.finish()
  }

  @Test("A JSON value that is not an object or a list imports nothing")
  func whatIsNoObjectIsNilAndWhatIsNoListIsEmpty() throws {
    let workshop = try ImportWorkshop()
    for text in ["null", "1", "[]", "\"x\"", "true"] { #expect(try workshop.one(text) == nil) }
    for text in ["null", "1", "{}", "[]"] { #expect(try workshop.list(text).isEmpty) }
    #expect(!workshop.context.hasChanges)
  }

  @Test("Known objects are updated and others inserted in the order of the list")
  func aListUpdatesKnownObjectsAndInsertsOthersInItsOrder() throws {
    let workshop = try ImportWorkshop()
    let old = try workshop.list(#"[{"employeeID": 2, "name": "B"}]"#)
    try workshop.context.commit()
    let pending = try workshop.list(#"[{"employeeID": 3, "name": "C"}]"#)
    let objects = try workshop.list(
      #"""
      [{"employeeID": 1, "name": "a"}, {"employeeID": 2, "name": "b"},
       {"employeeID": 3, "name": "c"}]
      """#)
    #expect(objects.count == 3)
    #expect(objects[1] === old[0])
    #expect(objects[2] === pending[0])
    #expect(try objects.map { try $0.value(forKey: "name") } == ["a", "b", "c"])
    try workshop.finish()
  }

  @Test("Of several items with the same key, the last one wins")
  func ofItemsWithOneKeyTheLaterOneWins() throws {
    let workshop = try ImportWorkshop()
    let objects = try workshop.list(
      #"""
      [{"employeeID": 1, "name": "x", "salary": 1}, {"employeeID": 2},
       {"employeeID": 1, "name": "y"}]
      """#)
    #expect(try objects.map { try $0.value(forKey: "employeeID") } == [2, 1])
    #expect(try workshop.values("Employee", "name") == [nil, "y"])
    #expect(try workshop.values("Employee", "salary") == [nil, nil])
    try workshop.finish()
  }

  @Test("If any item lacks its key, nothing is imported")
  func oneItemWithoutTheKeyAndNothingIsImported() throws {
    let workshop = try ImportWorkshop()
    let error = try workshop.failure {
      try workshop.list(
        #"[{"employeeID": 1}, {"name": "x"}, {"employeeID": 2}, {"employeeID": null}]"#)
    }
    #expect(error.code == .missingIdentity)
    #expect(error.entity == "Employee")
    #expect(error.keyPath == "employeeID")
    #expect(error.violations.map { $0.location?.path } == ["$[1]", "$[3]"])
    #expect(try workshop.all("Employee").isEmpty)
  }

  @Test("Of many items without a key, all are counted and the first are listed")
  func manyItemsWithoutTheKeyAreCountedAndTheFirstAreShown() throws {
    let workshop = try ImportWorkshop()
    let items = (0..<3_001).map { $0 == 0 ? #"{"employeeID": 1}"# : #"{"name": "\#($0)"}"# }
    let error = try workshop.failure { try workshop.list("[" + items.joined(separator: ",") + "]") }
    #expect(
      error.message
        == "3000 items of Employee lack employeeID, which identifies an item. Add employeeID to "
        + "each item. The first 20 are listed.")
    #expect(error.violations.map { $0.location?.path } == (1...20).map { "$[\($0)]" })
    #expect(
      error.violations.allSatisfy {
        $0.message == "The item has no employeeID. Add employeeID."
      })
  }

  @Test("Items of an entity without an identity are always inserted")
  func anEntityWithoutAKeyIsAlwaysInserted() throws {
    let workshop = try ImportWorkshop([
      EntityDescription(
        name: "Note",
        attributes: [AttributeDescription(name: "text", type: .string, isOptional: true)])
    ])
    for _ in 0..<2 { try workshop.list(#"[{"text": "a"}, {"text": "a"}]"#, as: "Note") }
    #expect(try workshop.all("Note").count == 4)
    try workshop.finish()
  }

  @Test("Equal numbers and numeric strings identify the same object")
  func numbersAndNumericStringsThatDenoteOneValueMatch() throws {
    let workshop = try ImportWorkshop()
    for key in ["7", "\"7\"", "7.0", "70e-1"] { try workshop.one("{\"employeeID\": \(key)}") }
    #expect(try workshop.values("Employee", "employeeID") == [7])
    try workshop.finish()
  }

  @Test(
    "A value of the wrong type is rejected, and nothing changes",
    arguments: [
      (#"[{"employeeID": 1}, {"employeeID": 2, "age": "41"}]"#, "$[1].age", "age"),
      (#"[{"employeeID": 1, "hired": "yesterday"}]"#, "$[0].hired", "hired"),
      (#"[{"employeeID": 1, "age": 40000}]"#, "$[0].age", "age"),
      (#"[{"employeeID": 1, "name": 5}]"#, "$[0].name", "name"),
      (#"[{"employeeID": "x"}]"#, "$[0].employeeID", "employeeID"),
      (#"[{"employeeID": 1, "department": 5}]"#, "$[0].department", "department"),
      (#"[{"employeeID": 1, "department": []}]"#, "$[0].department", "department"),
      (#"[{"employeeID": 1, "friends": {"employeeID": 2}}]"#, "$[0].friends", "friends"),
    ])
  func aValueOfAnotherKindIsAnErrorAndNothingHasChanged(
    text: String, path: String, property: String
  ) throws {
    let workshop = try ImportWorkshop()
    try workshop.list(#"[{"employeeID": 1, "name": "Ada", "department": {"departmentID": "a"}}]"#)
    let error = try workshop.failure { try workshop.list(text) }
    #expect(error.code == (property == "hired" ? .unparsableValue : .invalidDocument))
    #expect(error.location?.path == path)
    #expect(error.entity == "Employee")
    #expect(error.keyPath == property)
    try workshop.finish()
  }

  @Test("A list element that is not an object is rejected")
  func whatIsNoObjectInAListIsAnError() throws {
    let workshop = try ImportWorkshop()
    for text in [#"[{"employeeID": 1}, 5]"#, #"[null]"#, #"[[{"employeeID": 1}]]"#] {
      #expect(try workshop.failure { try workshop.list(text) }.code == .invalidDocument)
    }
    #expect(
      try workshop.failure { try workshop.list(#"[{"employeeID": 1, "friends": [5]}]"#) }
        .location?.path == "$[0].friends[0]")
  }

  @Test("A lenient import reads a value of the wrong type as null")
  func lenientlyAValueOfAnotherKindIsNull() throws {
    let workshop = try ImportWorkshop()
    var options = ImportOptions()
    options.lenient = true
    try workshop.list(
      #"[{"employeeID": 1, "age": "x", "hired": "never", "department": 5, "name": "Ada"}]"#,
      as: "Employee", options)
    let ada = try #require(workshop.all("Employee").first)
    #expect(try ada.value(forKey: "age").isNull)
    #expect(try ada.value(forKey: "hired").isNull)
    #expect(try ada.value(forKey: "name") == "Ada")
    #expect(try workshop.list(#"[{"employeeID": 2}, {}]"#, as: "Employee", options).count == 1)
    #expect(try workshop.all("Employee").count == 2)
    try workshop.finish()
  }

  @Test("A second import of the same document changes nothing")
  func aSecondImportChangesNothing() throws {
    let workshop = try ImportWorkshop(ImportWorkshop.company(policy: "MergeAndPrune"))
    let text = #"""
      [{"employeeID": 1, "name": "Ada", "age": 36, "salary": 5, "weight": 61.3,
        "hired": "2020-02-01T00:00:00.125Z", "department": {"departmentID": "a", "title": "R&D"},
        "friends": [{"employeeID": 2, "name": "Bob"}, {"employeeID": 3}]}]
      """#
    try workshop.list(text)
    try workshop.finish()
    try workshop.list(text)
    #expect(!workshop.context.hasChanges)
  }

  @Test("Data, files and encodable values can be imported")
  func dataFilesAndEncodableValuesAreImportedToo() throws {
    struct Person: Encodable {
      let employeeID: Int
      let hired: Date
    }
    let workshop = try ImportWorkshop()
    let people = [Person(employeeID: 5, hired: Date(timeIntervalSinceReferenceDate: 0))]
    #expect(
      try workshop.context.importObjects(from: .encoding(people), as: Worker.self).map(\.identity)
        == [5])
    let data = Data(#"{"employeeID": 6}"#.utf8)
    #expect(try workshop.context.importObject(from: .data(data), as: Worker.self)?.identity == 6)
    let file = FileManager.default.temporaryDirectory.appending(path: "import-\(UUID()).json")
    defer { try? FileManager.default.removeItem(at: file) }
    #expect(FileManager.default.createFile(atPath: file.path, contents: data))
    #expect(try workshop.context.importObject(from: .file(file), as: Worker.self)?.identity == 6)
    #expect(try workshop.all("Employee").count == 2)
    let missing = try workshop.failure {
      try workshop.context.importObjects(
        from: .file(file.appending(path: "none")), as: Worker.self)
    }
    #expect(missing.code == .fileUnreadable)
    try workshop.finish()
  }

  @Test("The limits apply to every source")
  func limitsHoldForEverySource() throws {
    let workshop = try ImportWorkshop()
    let context = workshop.context
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "deep.json")
    let data = Data(#"[{"employeeID": 1, "friends": [{"employeeID": 2}]}]"#.utf8)
    try data.write(to: file)
    let json = try JSONValue.parse(data)
    let item = try #require(json[0])
    var options = ImportOptions()
    options.limits.maximumDepth = 2
    let imports: [(String, () throws -> Void)] = [
      (
        "value",
        { try context.importObjects(from: .value(json), as: Worker.self, options: options) }
      ),
      (
        "named", { try context.importObjects(from: .value(json), as: "Employee", options: options) }
      ),
      ("data", { try context.importObjects(from: .data(data), as: Worker.self, options: options) }),
      ("file", { try context.importObjects(from: .file(file), as: "Employee", options: options) }),
      ("one", { try context.importObject(from: .value(item), as: Worker.self, options: options) }),
      (
        "named one",
        { try context.importObject(from: .value(item), as: "Employee", options: options) }
      ),
      (
        "file of one", { try context.importObject(from: .file(file), as: "Room", options: options) }
      ),
    ]
    for (name, body) in imports {
      let error = try workshop.failure(body)
      #expect(error.code == .limitExceeded && error.message.contains("2 levels"), "\(name)")
    }
    try workshop.finish()
  }

  /// The processor time of this thread in seconds.
  private static var processorTime: Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  @Test("The time for lists within items is proportional to their number")
  func nestedListsAreLinear() throws {
    let workshop = try ImportWorkshop(ImportWorkshop.company(policy: "Merge"))
    func time(_ count: Int) throws -> Double {
      let items = (0..<count).map { "{\"departmentID\":\"\($0)\",\"rooms\":[{\"roomID\":\($0)}]}" }
      // The last item makes the import fail after all items have been read.
      let data = Data("[\(items.joined(separator: ",")),{}]".utf8)
      var options = ImportOptions()
      options.batchSize = count + 1
      let start = Self.processorTime
      #expect(throws: ArborError.self) {
        try workshop.context.importObjects(from: .data(data), as: "Department", options: options)
      }
      return Self.processorTime - start
    }
    _ = try time(1_000)
    // With quadratic time, ten times as many items would take a hundred times as long.
    #expect(try time(60_000) < 20 * time(6_000))
  }

  @Test("An unknown entity is rejected with a suggestion")
  func anUnknownEntityIsAnError() throws {
    let workshop = try ImportWorkshop()
    let error = try workshop.failure { try workshop.list("[]", as: "Employe") }
    #expect(error.code == .unknownName)
    #expect(error.message.contains("Did you mean Employee?"))
  }
}

/// An employee class.
final class Worker: ManagedObject {
  override class var entityDescription: EntityDescription { ImportWorkshop.company[0] }
  override class var entityName: String { "Employee" }
  var identity: Int64? {
    if case .integer(let number)? = try? value(forKey: "employeeID") { number } else { nil }
  }
}
