import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import Testing

@Suite struct SeedReaderMembersTests {
  @Test("A find matches objects of the store")
  func findsWhatTheStoreHas() throws {
    let workshop = try SeedWorkshop()
    try workshop.seed(#"{"Company": [{"companyName": "Foo"}, {"companyName": "Bar"}]}"#)
    try workshop.context.commit()
    let report = try workshop.seed(
      #"""
      {"Employee": [{"company": {"$find": "Company", "companyName": "Foo"}},
                    {"company": {"$find": "Company", "companyName": "Foo"}}]}
      """#)
    #expect(report.created == ["Employee": 2])
    let companies = try workshop.all("Company")
    #expect(try companies.map { try $0.objects(forKey: "employees").count() } == [2, 0])
    try workshop.finish()
  }

  @Test("A find matches pending objects and not deleted ones")
  func findsWhatIsPendingAndNotWhatIsDeleted() throws {
    let workshop = try SeedWorkshop()
    try workshop.seed(#"{"Company": [{"companyName": "Foo"}, {"companyName": "Bar"}]}"#)
    try workshop.context.commit()
    let companies = try workshop.all("Company")
    workshop.context.delete(companies[0])
    try companies[1].setValue("Foo", forKey: "companyName")
    try workshop.seed(#"{"Employee": {"company": {"$find": "Company", "companyName": "Foo"}}}"#)
    #expect(try workshop.only("Employee").object(forKey: "company") == companies[1])
    try workshop.finish()
  }

  @Test("A find matches objects that the seed creates, in any order and document")
  func findsWhatTheSeedMakesBeforeOrBehindAndInOtherDocuments() throws {
    let workshop = try SeedWorkshop()
    try workshop.write(#"{"Company": {"companyName": "Baz"}}"#, to: "a.json")
    try workshop.seed(
      #"""
      {"seeds": [
        {"Company": {"companyName": "Foo"}},
        {"Employee": [{"name": "1", "company": {"$find": "Company", "companyName": "Foo"}},
                      {"name": "2", "company": {"$find": "Company", "companyName": "Bar"}},
                      {"name": "3", "company": {"$find": "Company", "companyName": "Baz"}}]},
        {"Company": {"companyName": "Bar"}},
        {"seedlings": [{"seedFile": "a.json"}]}]}
      """#)
    for (name, company) in [("1", "Foo"), ("2", "Bar"), ("3", "Baz")] {
      let employee = try workshop.all("Employee").first {
        try $0.value(forKey: "name") == .string(name)
      }
      #expect(
        try employee?.object(forKey: "company")?.value(forKey: "companyName") == .string(company))
    }
    try workshop.finish()
  }

  @Test("Finds and instances can be mixed in a list of members")
  func twoEmployeesShareADepartment() throws {
    let workshop = try SeedWorkshop()
    try workshop.seed(
      #"""
      {"seeds": [
        {"Company": [{"companyName": "a", "departments": [
           {"$find": "Department", "title": "R&D"}, {"title": "Sales"}]},
          {"companyName": "b", "departments": {"$find": "Department", "title": "HR"}}]},
        {"Department": [{"title": "HR"}, {"title": "R&D"}]}]}
      """#)
    let companies = try workshop.all("Company")
    let titles = try companies.map { company in
      try company.objects(forKey: "departments").fetch().map { try $0.value(forKey: "title") }
    }
    #expect(titles == [["R&D", "Sales"], ["HR"]])
    #expect(try workshop.all("Department").count == 3)
    try workshop.finish()
  }

  @Test("A find can use several attributes of every type")
  func findsBySeveralAttributesOfEveryType() throws {
    let workshop = try SeedWorkshop()
    let all = #"""
      "name": "n", "age": 3, "level": 4, "employeeID": 5, "salary": 1.10, "isActive": false,
      "hired": "2024-05-01T12:30:00Z", "born": "02.01.2001", "seen": 978307200, "weight": 0.1,
      "height": 1.7, "badge": "6BA7B810-9DAD-11D1-80B4-00C04FD430C8",
      "homepage": "https://example.com", "photo": "AAE="
      """#
    try workshop.seed(
      #"""
      {"seeds": [{"Employee": [{\#(all)}, {"name": "n"}, {"age": 3}]},
                 {"Company": {"owner": {"$find": "Employee", \#(all)}}}]}
      """#)
    #expect(
      try workshop.only("Company").object(forKey: "owner") == workshop.all("Employee").first)
    try workshop.finish()
  }

  @Test("A find includes subentities and can name a parent entity")
  func findsSubentitiesAndByTheirParents() throws {
    let workshop = try SeedWorkshop()
    try workshop.seed(
      #"""
      {"seeds": [{"Manager": {"name": "m"}},
        {"Company": [{"owner": {"$find": "Party", "name": "m"}},
                     {"owner": {"$find": "Employee", "name": "m"}},
                     {"employees": [{"$find": "Party", "name": "m"}]},
                     {"owner": {"$find": "Manager", "name": "m"}}]}]}
      """#)
    let manager = try workshop.only("Manager")
    let owners = try workshop.all("Company").map { try $0.object(forKey: "owner") }
    #expect(owners == [manager, manager, nil, manager])
    try workshop.finish()
  }

  @Test("`$find` must match exactly one object")
  func noneOrSeveralAreErrors() throws {
    let workshop = try SeedWorkshop()
    try workshop.seed(
      #"{"Company": [{"companyName": "Foo"}, {"companyName": "Foo", "companyID": 1}]}"#)
    try workshop.context.commit()
    func text(_ find: String) -> String {
      "{\"Employee\": [{}, {\"company\": {\"$find\": \"Company\", \(find)}}]}"
    }
    let none = try workshop.failure(of: text(#""companyName": "Bar""#))
    #expect(none.code == .invalidDocument && none.message.contains("No Company in the document"))
    #expect(none.location?.path == "$.Employee[1].company")
    #expect(none.entity == "Company" && none.keyPath == "companyName")
    let several = try workshop.failure(of: text(#""companyName": "Foo""#))
    #expect(several.message.contains("2 objects"))
    #expect(several.location?.path == "$.Employee[1].company")
    try workshop.seed(text(#""companyName": "Foo", "companyID": 1"#))
    try workshop.finish()
  }

  @Test("A found object must fit the relationship")
  func whatIsFoundMustFitTheRelationship() throws {
    let workshop = try SeedWorkshop()
    let model = SeedWorkshop.model.entity(named: "Party")
    #expect(model?.isAbstract == true)
    let error = try workshop.failure(
      of: #"{"Employee": {"company": {"$find": "Department", "title": "x"}}}"#)
    #expect(error.message.contains("refers to Company"))
    #expect(error.location?.path == "$.Employee.company[\"$find\"]")
  }

  @Test("Thousands of finds match the right objects")
  func manyFindsOfOneKindAreOneFetch() throws {
    let workshop = try SeedWorkshop()
    let count = 3_000
    let companies = (0..<count).map { "{\"companyID\": \($0)}" }
    let employees = (0..<count).reversed().map {
      "{\"employeeID\": \($0), \"company\": {\"$find\": \"Company\", \"companyID\": \($0)}}"
    }
    try workshop.seed("{\"Company\": [\(companies.joined(separator: ","))]}")
    try workshop.context.commit()
    try workshop.seed("{\"Employee\": [\(employees.joined(separator: ","))]}")
    let all = try workshop.all("Employee")
    #expect(all.count == count)
    for employee in all {
      let company = try #require(try employee.object(forKey: "company"))
      #expect(try company.value(forKey: "companyID") == employee.value(forKey: "employeeID"))
    }
    try workshop.finish()
  }

  /// Invalid `$find` objects, with part of the message and the reported path.
  static let faults: [(text: String, message: String, path: String)] = [
    (#"{"$find": 1}"#, "found a number", "[\"$find\"]"),
    (#"{"$find": "Company"}"#, "lists no attributes", ""),
    (#"{"$find": "Compani", "companyName": "x"}"#, "Did you mean Company", "[\"$find\"]"),
    (#"{"$find": "Address", "city": "x"}"#, "refers to Company", "[\"$find\"]"),
    (#"{"$find": "Company", "companyNam": "x"}"#, "Did you mean companyName", ".companyNam"),
    (#"{"$find": "Company", "employees": []}"#, "is a relationship", ".employees"),
    (#"{"$find": "Company", "companyName": 1}"#, "Expected a string", ".companyName"),
    (#"{"$find": "Company", "companyName": null}"#, "other than null", ".companyName"),
    (#"{"$find": "Company", "companyID": "<uniqueID>"}"#, "an integer from", ".companyID"),
  ]

  @Test("Invalid finds are rejected", arguments: faults.indices)
  func refusesFindsThatCannotBe(index: Int) throws {
    let workshop = try SeedWorkshop()
    let fault = Self.faults[index]
    let error = try workshop.failure(of: "{\"Employee\": {\"company\": \(fault.text)}}")
    #expect(error.code == .invalidDocument)
    #expect(error.message.contains(fault.message), "\(error)")
    #expect(error.location?.path == "$.Employee.company\(fault.path)")
    #expect(error.entity != nil)
  }
}
