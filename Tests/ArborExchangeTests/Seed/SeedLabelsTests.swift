import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import Testing

@Suite struct SeedLabelsTests {
  private func members(of object: ManagedObject, _ name: String) throws -> [PropertyValue] {
    try object.objects(forKey: name).fetch().map { member in
      try member.value(forKey: member.entity.name == "Department" ? "title" : "name")
    }
  }

  @Test("A reference may precede or follow the labelled instance")
  func aReferenceReachesAnInstanceThatIsNamedBeforeOrBehind() throws {
    let workshop = try SeedWorkshop()
    let report = try workshop.seed(
      #"""
      {"seeds": [{"Employee": [{"name": "a", "company": {"$ref": "foo"}}]},
                 {"Company": {"$id": "foo", "companyName": "Foo"}},
                 {"Employee": [{"name": "b", "company": {"$ref": "foo"}}]}]}
      """#)
    #expect(report.created == ["Company": 1, "Employee": 2])
    let company = try workshop.only("Company")
    #expect(try members(of: company, "employees") == ["a", "b"])
    try workshop.finish()
  }

  @Test("References work across documents")
  func referencesReachAcrossDocumentsAndTopDocuments() throws {
    let workshop = try SeedWorkshop()
    try workshop.write(#"{"Company": {"$id": "foo"}}"#, to: "company.json")
    let first = try workshop.write(
      #"""
      {"seeds": [{"Employee": {"company": {"$ref": "foo"}, "$id": "e"}},
                 {"seedlings": [{"seedFile": "company.json"}]}]}
      """#)
    let second = try workshop.write(
      #"{"Company": {"employees": [{"$ref": "e"}], "owner": {"$ref": "e"}}}"#, to: "second.json")
    try workshop.context.seed(from: [.file(first), .file(second)])
    let companies = try workshop.all("Company")
    // The later link wins, because an employee has one company.
    #expect(try companies.map { try $0.objects(forKey: "employees").count() } == [0, 1])
    #expect(try companies[1].object(forKey: "owner") == workshop.only("Employee"))
    try workshop.finish()
  }

  @Test("Nested instances can be referenced")
  func instancesInPlaceAreReachedToo() throws {
    let workshop = try SeedWorkshop()
    try workshop.seed(
      #"""
      {"Company": [{"address": {"$id": "home", "city": "Bonn"},
                    "employees": [{"$id": "boss", "name": "x", "friends": [{"$ref": "boss"}]}],
                    "owner": {"$ref": "boss"}}]}
      """#)
    let company = try workshop.only("Company")
    #expect(try members(of: try workshop.only("Employee"), "friends") == ["x"])
    #expect(try company.object(forKey: "owner") == workshop.only("Employee"))
    try workshop.finish()
  }

  @Test("References fill ordered relationships in list order")
  func referencesFillOrderedRelationshipsInListOrder() throws {
    let workshop = try SeedWorkshop()
    try workshop.seed(
      #"""
      {"seeds": [
        {"Department": [{"$id": "1", "title": "1"}, {"$id": "2", "title": "2"},
                        {"$id": "3", "title": "3"}, {"title": "4", "company": {"$ref": "c"}}]},
        {"Company": {"$id": "c", "departments":
          [{"$ref": "3"}, {"title": "in place"}, {"$ref": "1"}, {"$ref": "2"}, {"$ref": "3"}]}}]}
      """#)
    #expect(
      try members(of: try workshop.only("Company"), "departments")
        == ["3", "in place", "1", "2", "4"])
    try workshop.finish()
  }

  @Test("References may form cycles")
  func cyclesOfReferencesAreLegalData() throws {
    let workshop = try SeedWorkshop()
    try workshop.seed(
      #"""
      {"Employee": [{"$id": "a", "name": "a", "friends": [{"$ref": "b"}]},
                    {"$id": "b", "name": "b", "friends": [{"$ref": "c"}]},
                    {"$id": "c", "name": "c", "friends": [{"$ref": "a"}, {"$ref": "c"}]}]}
      """#)
    #expect(
      try workshop.all("Employee").map { try members(of: $0, "friends") }
        == [["b", "c"], ["a", "c"], ["a", "b", "c"]])
    try workshop.finish()
  }

  @Test("A reference can be to an object of a subentity")
  func subentitiesCount() throws {
    let workshop = try SeedWorkshop()
    try workshop.seed(
      #"""
      {"seeds": [{"Manager": {"$id": "m"}},
                 {"Company": {"employees": [{"$ref": "m"}], "owner": {"$ref": "m"}}}]}
      """#)
    #expect(
      try workshop.only("Company").object(forKey: "owner") == workshop.only("Manager"))
    try workshop.finish()
  }

  @Test("An unknown label is rejected with a suggestion")
  func anUnknownLabelIsAnErrorWithTheNearestOne() throws {
    let workshop = try SeedWorkshop()
    let error = try workshop.failure(
      of: #"{"seeds": [{"Company": {"$id": "foo"}}, {"Employee": {"company": {"$ref": "fo"}}}]}"#)
    #expect(error.code == .invalidDocument)
    #expect(error.message.contains("“fo”") && error.message.contains("Did you mean foo?"))
    #expect(error.entity == "Employee" && error.keyPath == "company")
    #expect(error.location?.path == "$.seeds[1].Employee.company[\"$ref\"]")
  }

  @Test("The error for a duplicate label contains both locations")
  func aLabelTwiceIsAnErrorThatSaysWhereBothAre() throws {
    let workshop = try SeedWorkshop()
    try workshop.write("{\"Company\":\n  {\"$id\": \"foo\"}}", to: "a.json")
    let error = try workshop.failure(
      of: #"{"seeds": [{"Employee": {"$id": "foo"}}, {"seedlings": [{"seedFile": "a.json"}]}]}"#)
    #expect(error.location?.source?.hasSuffix("a.json") == true && error.location?.line == 2)
    #expect(error.message.contains("Main.json:1:"))
    let twice = try workshop.failure(
      of: #"{"seedlings": [{"seedFile": "a.json"}, {"seedFile": "a.json"}]}"#)
    #expect(twice.message.contains("already belongs to the instance"))
  }

  @Test("The error for a label of the wrong entity contains both locations")
  func aLabelOfAnotherEntityIsAnErrorThatSaysWhereBothAre() throws {
    let workshop = try SeedWorkshop()
    try workshop.write("{\"Department\":\n\n  {\"$id\": \"d\"}}", to: "a.json")
    let error = try workshop.failure(
      of: #"""
        {"seeds": [{"seedlings": [{"seedFile": "a.json"}]},
                   {"Employee": {"company": {"$ref": "d"}}}]}
        """#)
    #expect(
      error.message.contains("refers to Company") && error.message.contains("of entity Department"))
    #expect(error.message.contains("a.json:3:"))
    #expect(error.location?.source?.hasSuffix("Main.json") == true && error.location?.line == 2)
  }

  /// Invalid documents, with part of the message and the reported path.
  static let faults: [(text: String, message: String, path: String)] = [
    (#"{"$id": 1}"#, "found a number", "$.Employee[\"$id\"]"),
    (#"{"$id": ""}"#, "a non-empty string", "$.Employee[\"$id\"]"),
    (#"{"$id": null}"#, "found null", "$.Employee[\"$id\"]"),
    (#"{"company": {"$ref": 1}}"#, "found a number", "$.Employee.company[\"$ref\"]"),
    (#"{"company": {"$ref": ""}}"#, "a non-empty string", "$.Employee.company[\"$ref\"]"),
    (#"{"company": {"$ref": "x", "companyName": "y"}}"#, "alone", "$.Employee.company.companyName"),
    (#"{"company": {"$ref": "x", "$id": "y"}}"#, "alone", "$.Employee.company[\"$id\"]"),
    (#"{"friends": [{}, {"$ref": "nobody"}]}"#, "“nobody”", "$.Employee.friends[1][\"$ref\"]"),
    (#"{"company": {"$find": "Company", "$id": "x"}}"#, "“$id”", "$.Employee.company[\"$id\"]"),
  ]

  @Test("Invalid labels and references are rejected", arguments: faults.indices)
  func refusesLabelsThatCannotBe(index: Int) throws {
    let workshop = try SeedWorkshop()
    let fault = Self.faults[index]
    let error = try workshop.failure(of: "{\"Employee\": \(fault.text)}")
    #expect(error.code == .invalidDocument)
    #expect(error.message.contains(fault.message), "\(error)")
    #expect(error.location?.path == fault.path)
    #expect(error.entity != nil)
  }
}
