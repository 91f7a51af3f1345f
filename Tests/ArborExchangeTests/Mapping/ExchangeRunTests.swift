import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import Testing

@Suite struct ExchangeRunTests {
  /// Creates a context with committed and pending changes of every kind, to which failing seeds are
  /// applied.
  private func busyWorkshop() throws -> SeedWorkshop {
    let workshop = try SeedWorkshop()
    try workshop.seed(
      #"""
      {"Company": [{"companyName": "a", "employees": [{}, {}, {}], "departments": [{}, {}]}, {}]}
      """#
    )
    try workshop.context.commit()
    let companies = try workshop.all("Company")
    try companies[0].setValue("changed", forKey: "companyName")
    let employees = try workshop.all("Employee")
    try employees[0].setValue(.objectID(companies[1].objectID), forKey: "company")
    workshop.context.delete(employees[1])
    let department = try workshop.context.insert("Department")
    try department.setValue(.objectID(companies[0].objectID), forKey: "company")
    return workshop
  }

  @Test("A failure while reading leaves pending changes as they were")
  func aFailureWhileReadingLeavesPendingChangesAsTheyWere() throws {
    let workshop = try busyWorkshop()
    _ = try workshop.failure(of: #"{"Company": [{"employees": [{}, {"age": "x"}]}]}"#)
    try workshop.finish()
  }

  @Test("A failure while linking objects leaves pending changes as they were")
  func aFailureWhileConnectingLeavesPendingChangesAsTheyWere() throws {
    let workshop = try busyWorkshop()
    try workshop.write(#"{"Address": [{}, {}]}"#, to: "two.json")
    let error = try workshop.failure(
      of: #"""
        {"Company": [{"employees": [{"age": 1, "friends": [{}]}], "departments": [{}, {}]},
                     {"address": {"seedlings": [{"seedFile": "two.json"}]}}]}
        """#)
    #expect(error.message.contains("exactly one"))
    #expect(workshop.context.hasChanges)
    try workshop.finish()
  }

  @Test("A seed after a failed one succeeds")
  func aSeedAfterAFailureSucceeds() throws {
    let workshop = try busyWorkshop()
    try workshop.write(#"{"Address": []}"#, to: "none.json")
    _ = try workshop.failure(
      of: #"{"Company": {"address": {"seedlings": [{"seedFile": "none.json"}]}}}"#)
    let report = try workshop.seed(#"{"Company": {"address": {"city": "Bonn"}}}"#)
    #expect(report.created == ["Company": 1, "Address": 1])
    try workshop.finish()
  }

  @Test("Thousands of objects are seeded and committed")
  func manyObjectsAreSeededAndCommitted() throws {
    let workshop = try SeedWorkshop()
    let employees = (0..<5_000).map { "{\"name\": \"e\($0)\", \"age\": \($0 % 100)}" }
    let report = try workshop.seed(
      "{\"Company\": {\"employees\": [\(employees.joined(separator: ","))]}}")
    #expect(report.created == ["Company": 1, "Employee": 5_000])
    try workshop.finish()
    #expect(try workshop.all("Employee").count == 5_000)
  }
}
