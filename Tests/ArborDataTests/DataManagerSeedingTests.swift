import ArborData
import Foundation
import TestSupport
import Testing

/// Managers that seed from the network.
@Suite struct DataManagerSeedingTests {
  private let server: LocalServer

  init() throws {
    server = try LocalServer([
      "/Main.json": .document(
        #"""
        {"Company": {"companyName": "Foo Inc.",
                     "employees": {"seedlings": [{"seedUrl": "Employees.json"}]}}}
        """#),
      "/Employees.json": .document(#"{"Employee": [{"salary": 500}, {"salary": 1500}]}"#),
    ])
  }

  @Test("A manager seeds from a URL")
  func aManagerSeedsFromAURL() throws {
    let manager = try DataManager(for: Company.self, Employee.self, at: .inMemory)
    let report = try manager.seed(from: .file(server.url("/Main.json")))
    #expect(report.created == ["Company": 1, "Employee": 2])
    #expect(report.documents == [try server.url("/Main.json"), try server.url("/Employees.json")])
    #expect(server.requests == ["/Main.json", "/Employees.json"])
    let company = try manager.fetchOne("Company", matching: "companyName == 'Foo Inc.'")
    #expect(try manager.count("Employee", matching: "company == \(company)") == 2)
    manager.rollback()
    #expect(try manager.count("Employee") == 0)
    try manager.store.check()
  }

  @Test("A seed file can refer to a URL")
  func aFileOfAManagerLinksToAURL() throws {
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "Main.seed.json")
    let link = try server.url("/Employees.json").absoluteString
    try Data("{\"seedlings\": [{\"seedUrl\": \"\(link)\"}]}".utf8).write(to: file)
    let manager = try DataManager(for: Company.self, Employee.self, at: .inMemory)
    #expect(try manager.seedOnce("staff", from: .file(file))?.created == ["Employee": 2])
    #expect(try manager.seedOnce("staff", from: .file(file)) == nil)
    #expect(server.requests == ["/Employees.json"])
    #expect(try manager.count("Employee") == 2)
    try manager.store.check()
  }

  @Test("A refused or failed seed leaves the manager's pending changes unchanged")
  func aManagerKeepsToItsOptions() throws {
    var options = SeedOptions()
    options.remote = .refused
    let manager = try DataManager(for: Company.self, Employee.self, at: .inMemory)
    try manager.insert("Company")["companyName"] = "mine"
    let error = try #require(throws: ArborError.self) {
      try manager.seed(from: .file(self.server.url("/Main.json")), options: options)
    }
    #expect(error.code == .notAllowed)
    server.answer("/Employees.json", with: .status(500))
    #expect(throws: ArborError.self) {
      try manager.seed(from: .file(self.server.url("/Main.json")))
    }
    #expect(manager.context.insertedObjects.count == 1)
    #expect(server.requests.contains("/Employees.json"))
  }
}
