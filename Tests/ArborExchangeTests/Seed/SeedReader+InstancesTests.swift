import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import Testing

@Suite struct SeedReaderInstancesTests {
  @Test("Attributes that are not mentioned keep their defaults")
  func attributesThatAreNotMentionedKeepTheirDefaults() throws {
    let workshop = try SeedWorkshop()
    try workshop.seed(#"{"Employee": {"name": "Ada"}}"#)
    let employee = try workshop.only("Employee")
    #expect(try employee.value(forKey: "name") == "Ada")
    #expect(try employee.value(forKey: "age") == 18)
    #expect(try employee.value(forKey: "isActive") == true)
    #expect(try employee.value(forKey: "salary") == nil)
    try workshop.finish()
  }

  @Test("Null clears attributes and relationships")
  func nullClears() throws {
    let workshop = try SeedWorkshop()
    try workshop.seed(
      #"{"Company": {"companyName": null, "address": null, "employees": null, "companyID": null}}"#)
    let company = try workshop.only("Company")
    #expect(try company.value(forKey: "companyName") == nil)
    #expect(try company.value(forKey: "companyID") == nil)
    #expect(try company.value(forKey: "address") == nil)
    #expect(try company.value(forKey: "employees") == [])
  }

  @Test("The placeholder uniqueID is replaced by a new number for each instance")
  func uniqueIDDrawsAFreshNumberForEachInstance() throws {
    let workshop = try SeedWorkshop()
    let first = try workshop.store.uniqueIDs.next()
    try workshop.seed(
      #"""
      {"Company": [{"companyID": "<uniqueID>", "companyName": "<uniqueID>"},
                   {"companyID": "<uniqueID>", "companyName": " <uniqueID>"}]}
      """#)
    let companies = try workshop.all("Company")
    let values = try companies.map { try $0.value(forKey: "companyID") }
    let names = try companies.map { try $0.value(forKey: "companyName") }
    guard case .integer(let one) = values[0], case .integer(let other) = values[1] else {
      Issue.record("\(values)")
      return
    }
    #expect(first < one && one < other)
    #expect(try workshop.store.uniqueIDs.next() > other)
    guard case .string(let name) = names[0], let drawn = Int64(name) else {
      Issue.record("\(names)")
      return
    }
    #expect(first < drawn && drawn != one && drawn != other)
    #expect(names[1] == " <uniqueID>")
    try workshop.finish()
  }

  @Test("Unique IDs come from the application if the options say so")
  func uniqueIDDrawsFromTheApplicationWhereItIsTold() throws {
    // Keeps the files out of the user's home folder.
    setenv("XDG_DATA_HOME", FileManager.default.temporaryDirectory.path, 1)
    let workshop = try SeedWorkshop()
    // The store has issued more numbers than the application may have.
    for _ in 0..<3 { _ = try workshop.store.uniqueIDs.next() }
    let first = try UniqueIDGenerator.generateUniqueID()
    var options = SeedOptions()
    options.uniqueIDs = .application
    try workshop.seed(
      #"{"Company": [{"companyID": "<uniqueID>"}, {"companyID": "<uniqueID>"}]}"#,
      options: options)
    let drawn = try workshop.all("Company").map { $0["companyID"] as Int64 }
    #expect(drawn.count == 2 && first < drawn[0] && drawn[0] < drawn[1])
    #expect(try UniqueIDGenerator.generateUniqueID() > drawn[1])
    try workshop.finish()
  }

  @Test("The placeholder uniqueID is rejected for attributes that can't hold a number")
  func uniqueIDIsRefusedWhereNoNumberFits() throws {
    let workshop = try SeedWorkshop()
    for name in ["hired", "photo", "isActive", "badge", "homepage"] {
      let error = try workshop.failure(of: "{\"Employee\": {\"\(name)\": \"<uniqueID>\"}}")
      #expect(error.keyPath == name && error.location?.path == "$.Employee.\(name)")
    }
  }

  @Test("A nested object creates the object of a to-one relationship")
  func aNestedObjectCreatesAToOneMemberInPlace() throws {
    let workshop = try SeedWorkshop()
    let report = try workshop.seed(#"{"Company": {"address": {"city": "Bonn"}}}"#)
    let address = try workshop.only("Address")
    #expect(try workshop.only("Company").value(forKey: "address") == .objectID(address.objectID))
    #expect(
      try address.value(forKey: "company") == .objectID(try workshop.only("Company").objectID))
    #expect(report.created == ["Company": 1, "Address": 1])
    #expect(report.objects.map(\.entity.name) == ["Company"])
    try workshop.finish()
  }

  @Test("A nested list creates members in order")
  func aNestedListCreatesMembersInPlaceAndInOrder() throws {
    let workshop = try SeedWorkshop()
    let titles = (0..<50).map { "t\($0)" }.shuffled()
    let members = titles.map { "{\"title\": \"\($0)\"}" }.joined(separator: ",")
    try workshop.seed("{\"Company\": {\"departments\": [\(members)], \"employees\": [{}, {}]}}")
    let company = try workshop.only("Company")
    guard case .list(let departments) = try company.value(forKey: "departments") else {
      Issue.record("no list")
      return
    }
    let found = try departments.map { member -> PropertyValue in
      guard case .objectID(let id) = member else { return .null }
      return try workshop.context.object(with: id).value(forKey: "title")
    }
    #expect(found == titles.map { .string($0) })
    for employee in try workshop.all("Employee") {
      #expect(try employee.value(forKey: "company") == .objectID(company.objectID))
    }
    try workshop.finish()
  }

  @Test("A nested object creates a single member of a to-many relationship")
  func aNestedObjectUnderAToManyIsItsOneMember() throws {
    let workshop = try SeedWorkshop()
    try workshop.seed(#"{"Company": {"employees": {"name": "Ada"}}}"#)
    #expect(
      try workshop.only("Company").value(forKey: "employees")
        == .list([.objectID(try workshop.only("Employee").objectID)]))
  }

  @Test("Nested instances are linked by both the relationship and its inverse")
  func nestingFollowsInversesBothWays() throws {
    let workshop = try SeedWorkshop()
    try workshop.seed(
      #"{"Employee": {"name": "a", "company": {"employees": [{"name": "b"}, {"name": "c"}]}}}"#)
    let company = try workshop.only("Company")
    #expect(try workshop.all("Employee").count == 3)
    for employee in try workshop.all("Employee") {
      #expect(try employee.value(forKey: "company") == .objectID(company.objectID))
    }
    try workshop.finish()
  }

  @Test("Linked documents fill a to-many relationship in the order of the links")
  func seedlingsFillAToManyInTheOrderOfTheLinks() throws {
    let workshop = try SeedWorkshop()
    try workshop.write(#"{"Department": [{"title": "1"}, {"title": "2"}]}"#, to: "a.json")
    try workshop.write(#"{"seedlings": [{"seedFile": "c.json"}]}"#, to: "b.json")
    try workshop.write(#"{"Department": {"title": "3"}}"#, to: "c.json")
    try workshop.write(#"{"seeds": [{"Department": {"title": "4"}}]}"#, to: "d.json")
    let links = ["a", "b", "d"].map { "{\"seedFile\": \"\($0).json\"}" }.joined(separator: ",")
    try workshop.seed("{\"Company\": {\"departments\": {\"seedlings\": [\(links)]}}}")
    let company = try workshop.only("Company")
    guard case .list(let members) = try company.value(forKey: "departments") else {
      Issue.record("no list")
      return
    }
    let titles = try members.map { member -> PropertyValue in
      guard case .objectID(let id) = member else { return .null }
      return try workshop.context.object(with: id).value(forKey: "title")
    }
    #expect(titles == ["1", "2", "3", "4"])
    try workshop.finish()
  }

  @Test("Linked documents fill a to-one relationship with exactly one object")
  func seedlingsFillAToOneWithExactlyOneResult() throws {
    let workshop = try SeedWorkshop()
    try workshop.write(#"{"Address": {"city": "Bonn"}}"#, to: "one.json")
    try workshop.write(#"{"Address": [{}, {}]}"#, to: "two.json")
    try workshop.write(#"{"Address": []}"#, to: "none.json")
    func text(_ names: String...) -> String {
      let links = names.map { "{\"seedFile\": \"\($0).json\"}" }.joined(separator: ",")
      return "{\"Company\": {\"address\": {\"seedlings\": [\(links)]}}}"
    }
    try workshop.seed(text("one", "none"))
    #expect(
      try workshop.only("Company").value(forKey: "address")
        == .objectID(try workshop.only("Address").objectID))
    for names in [text("two"), text("none"), text(), text("one", "one")] {
      let error = try workshop.failure(of: names)
      #expect(error.message.contains("exactly one"))
      #expect(error.entity == "Company" && error.keyPath == "address")
      #expect(error.location?.path == "$.Company.address")
    }
    try workshop.finish()
  }

  @Test("Linked objects must belong to the destination or a subentity")
  func linkedObjectsMustBeOfTheDestinationOrASubentity() throws {
    let workshop = try SeedWorkshop()
    try workshop.write(#"{"Manager": {"name": "Grace"}}"#, to: "manager.json")
    try workshop.write(#"{"Department": {}}"#, to: "department.json")
    try workshop.seed(
      #"{"Company": {"owner": {"seedlings": [{"seedFile": "manager.json"}]}}}"#)
    #expect(
      try workshop.only("Company").value(forKey: "owner")
        == .objectID(try workshop.only("Manager").objectID))
    let error = try workshop.failure(
      of: #"{"Company": {"employees": {"seedlings": [{"seedFile": "department.json"}]}}}"#)
    #expect(error.message.contains("refers to Employee"))
    #expect(error.message.contains("create Department"))
    try workshop.finish()
  }

  /// Invalid instances, with part of the message and the reported path.
  static let faults: [(text: String, message: String, path: String)] = [
    (#"{"agee": 1}"#, "Did you mean age", "$.Employee.agee"),
    (#"{"compani": {}}"#, "Did you mean company", "$.Employee.compani"),
    (#"{"$ref": "x"}"#, "“$ref”", "$.Employee[\"$ref\"]"),
    (#"{"$idd": "x"}"#, "“$idd”", "$.Employee[\"$idd\"]"),
    (#"{"company": [{}]}"#, "Expected an object", "$.Employee.company"),
    (#"{"company": "Foo"}"#, "Expected an object", "$.Employee.company"),
    (#"{"company": 1}"#, "Expected an object", "$.Employee.company"),
    (#"{"friends": [{}, 1]}"#, "Expected an object for a member", "$.Employee.friends[1]"),
    (#"{"friends": [null]}"#, "Expected an object for a member", "$.Employee.friends[0]"),
    (#"{"friends": true}"#, "Expected a list of objects", "$.Employee.friends"),
    (#"{"company": {"owner": {"name": "x"}}}"#, "abstract", "$.Employee.company.owner"),
    (#"{"company": {"seedlings": 1}}"#, "list of links", "$.Employee.company.seedlings"),
    (
      #"{"company": {"employees": [{"age": true}]}}"#, "an integer from -32768 to 32767",
      "$.Employee.company.employees[0].age"
    ),
  ]

  @Test("Invalid instances are rejected", arguments: faults.indices)
  func refusesInstancesThatCannotBe(index: Int) throws {
    let workshop = try SeedWorkshop()
    let fault = Self.faults[index]
    let error = try workshop.failure(of: "{\"Employee\": \(fault.text)}")
    #expect(error.code == .invalidDocument)
    #expect(error.message.contains(fault.message), "\(error)")
    #expect(error.location?.path == fault.path)
    #expect(error.entity != nil)
  }
}
