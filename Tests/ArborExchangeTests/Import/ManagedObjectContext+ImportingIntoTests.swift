import ArborJSON
import ArborExchange
import ArborLocale
import ArborModel
import ArborObjects
import Foundation
import Testing

@Suite struct ManagedObjectContextImportingIntoTests {
  @Test("An item can be imported into an existing object")
  func anItemFillsTheObjectThatOneHolds() throws {
    let workshop = try ImportWorkshop(ImportWorkshop.company(policy: "Merge"))
    let object = try workshop.context.insert("Employee")
    let other = try #require(try workshop.one(#"{"employeeID": 1, "name": "other"}"#))
    #expect(
      try workshop.context.importObject(
        from: ["employeeID": 7, "name": "Ada", "department": ["departmentID": "3"]], into: object))
    #expect(object["employeeID"] == 7 && object["name"] == "Ada" && object["age"] == 18)
    #expect(try object.object(forKey: "department") != nil)
    // The identity doesn't select another object, and equal values are not a change.
    let again = try workshop.context.importObject(
      from: #"{"employeeID": 7, "name": "Ada"}"#, into: object)
    #expect(!again)
    #expect(try workshop.context.importObject(from: .encoding(["name": "Grace"]), into: object))
    #expect(object["name"] == "Grace" && other["name"] == "other")
    #expect(try workshop.all("Employee").count == 2)
    try workshop.finish()
  }

  @Test("An import that fails leaves the object unchanged")
  func whatDoesNotFitChangesNothing() throws {
    let workshop = try ImportWorkshop()
    let object = try workshop.context.insert("Employee")
    let type = try workshop.failure {
      try workshop.context.importObject(from: ["name": "x", "age": "old"], into: object)
    }
    #expect(type.code == .invalidDocument && type.keyPath == "age")
    let list = try workshop.failure { try workshop.context.importObject(from: [], into: object) }
    #expect(
      list.message
        == "Expected an object for an item of Employee, but found a list.")
    let other = workshop.store.makeContext()
    let foreign = try other.insert("Employee")
    let error = try workshop.failure { try workshop.context.importObject(from: [:], into: foreign) }
    #expect(error.code == .invalidArgument)
    #expect(
      error.message
        == "\(foreign.objectID) doesn't belong to this context. Import into an object of this "
        + "context.")
    workshop.context.delete(object)
    #expect(
      try workshop.failure { try workshop.context.importObject(from: [:], into: object) }.code
        == .invalidArgument)
    try workshop.finish()
  }

  @Test("Imports have options for the time zone and number format")
  func optionsHaveAZoneAndANumberFormat() throws {
    let workshop = try ImportWorkshop([
      EntityDescription(
        name: "City",
        attributes: [
          AttributeDescription(name: "name", type: .string, isOptional: true),
          AttributeDescription(name: "founded", type: .date, isOptional: true),
          AttributeDescription(
            name: "seen", type: .date, isOptional: true,
            userInfo: ["DateFormat": "dd.MM.yyyy HH:mm"]),
          AttributeDescription(name: "population", type: .integer32, isOptional: true),
          AttributeDescription(name: "area", type: .decimal, isOptional: true),
          AttributeDescription(
            name: "height", type: .double, isOptional: true,
            userInfo: ["NumberFormat": "en_US"]),
        ])
    ])
    var options = ImportOptions()
    options.timeZone = try #require(TimeZone(identifier: "Europe/Berlin"))
    options.numberFormat = JSONNumberFormat(locale: Locale(identifier: "de_DE"))
    let object = try #require(
      try workshop.one(
        #"""
        {"founded": "2024-05-01T12:30:00", "seen": "01.01.2024 12:30", "population": "3.677.472",
         "area": "891,12", "height": "1,234.5"}
        """#, as: "City", options))
    #expect(object["founded"] == .date(try #require(ISO8601Date.parse("2024-05-01T10:30:00Z"))))
    #expect(object["seen"] == .date(try #require(ISO8601Date.parse("2024-01-01T11:30:00Z"))))
    #expect(object["population"] == 3_677_472 && object["height"] == 1_234.5)
    #expect(object["area"] == .decimal(891.12))
    // A time zone in the text takes precedence, and JSON numbers are accepted with any format.
    try workshop.context.importObject(
      from: ["founded": "2024-05-01T12:30:00Z", "area": 1.5], into: object, options: options)
    #expect(object["founded"] == .date(try #require(ISO8601Date.parse("2024-05-01T12:30:00Z"))))
    #expect(object["area"] == .decimal(1.5))
    let error = try workshop.failure {
      try workshop.context.importObject(from: ["population": "3,6"], into: object, options: options)
    }
    #expect(error.code == .unparsableValue && error.keyPath == "population")
    let wide = try workshop.failure {
      try workshop.context.importObject(
        from: ["population": "9.999.999.999"], into: object, options: options)
    }
    #expect(wide.code == .unparsableValue)
    // Without a format a string is not a number.
    let plain = try workshop.failure {
      try workshop.context.importObject(from: ["population": "36"], into: object)
    }
    #expect(plain.code == .invalidDocument)
    try workshop.finish()
  }
}
