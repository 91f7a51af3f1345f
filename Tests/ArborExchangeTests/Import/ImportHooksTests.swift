import ArborJSON
import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import Testing

/// A class that handles some imported values itself.
final class Hooked: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  override class var entityName: String { "Employee" }
  private static let description: EntityDescription = {
    var description = ImportWorkshop.company(policy: "Merge")[0]
    description.className = "Hooked"
    return description
  }()

  var told: [String] = []
  var finishedWith: JSONValue?

  override func importValue(_ value: JSONValue, forKey key: String) -> Bool {
    told.append("\(key)=\(value)")
    let words = value.array?.compactMap(\.string).joined(separator: " ")
    guard key == "name", let text = value.string ?? words else { return false }
    self["name"] = text.uppercased()
    return true
  }

  override func didImport(from json: JSONValue) { finishedWith = json }
}

@Suite struct ImportHooksTests {
  private func context() throws -> ManagedObjectContext {
    try ImportWorkshop(ImportWorkshop.company(policy: "Merge")).context
  }

  @Test("The hook receives all present keys, including null, and dates in a uniform format")
  func presentKeysAreToldNullIncludedAndDatesInOneForm() throws {
    let context = try context()
    let json: JSONValue = [
      "employeeID": 1, "name": "Ada", "age": nil, "hired": 978_307_200.5,
      "department": ["departmentID": "a"], "friends": nil,
    ]
    let ada = try #require(try context.importObject(from: .value(json), as: Hooked.self))
    #expect(
      Set(ada.told) == [
        "employeeID=1", "name=\"Ada\"", "age=null", "hired=\"2001-01-01T00:00:00.500Z\"",
        "department={\"departmentID\":\"a\"}", "friends=null",
      ])
    #expect(ada.told.count == 6)
    try context.commit()
    try context.store.check()
  }

  @Test("A hook may handle values that don't fit the attribute")
  func aHookMayTakeWhatTheAttributeDoesNot() throws {
    let context = try context()
    let taken = try #require(
      try context.importObject(
        from: ["employeeID": 1, "name": ["Ada", "Lovelace"]], as: Hooked.self))
    #expect(taken["name"] == "ADA LOVELACE")
    // Values that the hook doesn't handle are validated as usual.
    #expect(throws: ArborError.self) {
      try context.importObject(from: ["employeeID": 2, "name": "B", "age": "old"], as: Hooked.self)
    }
    #expect(try context.count("Employee") == 1)
    try context.commit()
    try context.store.check()
  }

  @Test("A value that the hook handled is not overwritten")
  func whatTheHookHasTakenIsLeftAlone() throws {
    let context = try context()
    let ada = try #require(
      try context.importObject(from: ["employeeID": 1, "name": "Ada", "age": 7], as: Hooked.self))
    #expect(ada["name"] == "ADA" && ada["age"] == 7)
    try context.importObject(from: ["employeeID": 1, "name": nil], as: Hooked.self)
    #expect((ada["name"] as PropertyValue).isNull)
    try context.commit()
    try context.store.check()
  }

  @Test("The hook at the end receives the item")
  func theEndIsToldWithTheItem() throws {
    let context = try context()
    let json: JSONValue = [["employeeID": 1, "friends": [["employeeID": 2, "x": 1]]]]
    let people = try context.importObjects(from: .value(json), as: Hooked.self)
    #expect(people.map(\.finishedWith) == [json[0]])
    let friend: [ManagedObject] = people[0]["friends"]
    #expect((friend.first as? Hooked)?.finishedWith == ["employeeID": 2, "x": 1])
    try context.commit()
    try context.store.check()
  }

  @Test("A failing import also undoes changes made by hooks")
  func anImportThatFailsTakesBackWhatHooksHaveDone() throws {
    let context = try context()
    try context.importObject(from: ["employeeID": 1, "name": "Ada"], as: Hooked.self)
    let before = try context.digest()
    #expect(throws: ArborError.self) {
      try context.importObjects(
        from: [["employeeID": 1, "name": "Eve"], ["employeeID": 2, "age": "x"]], as: Hooked.self)
    }
    #expect(try context.digest() == before)
    try context.commit()
    try context.store.check()
  }
}
