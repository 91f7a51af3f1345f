import ArborData
import Foundation
import Testing

/// Named requests, on the manager's verbs.
@Suite struct DataManagerRequestsTests {
  private func manager(_ name: String) throws -> DataManager {
    let folder = try Corporation.modelFolder(named: name)
    let model = try ManagedObjectModel(contentsOf: folder.appending(path: "\(name).xcdatamodeld"))
    let manager = try DataManager(model: model, at: .inMemory)
    for company in ["Foo Inc.", "Bar Ltd."] {
      let object = try manager.insert("Company")
      object["companyName"] = .string(company)
      for salary in [500, 1500, 2500] {
        let employee = try manager.insert("Employee")
        employee["salary"] = .integer(Int64(salary))
        employee["company"] = .objectID(object.objectID)
      }
    }
    return manager
  }

  @Test func fetchesAndCounts() throws {
    let manager = try manager("Fetching")
    #expect(try manager.count(forRequestNamed: "wellPaidEmployees") == 4)
    #expect(try manager.fetch(requestNamed: "wellPaidEmployees").count == 4)
    #expect(try manager.fetchOne(requestNamed: "wellPaidEmployees") != nil)
    #expect(try manager.count(forRequestNamed: "everyone") == 6)
    try manager.commit()
    try manager.store.check()
  }

  @Test func substitutesVariables() throws {
    let manager = try manager("Substituting")
    let company = try manager.fetchOne("Company", matching: "companyName == \("Foo Inc.")")
    let theirs = try manager.fetch(
      requestNamed: "companyWellPaidEmployees", substituting: ["company": company])
    #expect(theirs.count == 2)
    #expect(
      try manager.count(
        forRequestNamed: "companyWellPaidEmployees",
        substituting: ["company": company?.objectID]) == 2)
  }

  @Test func aVariableWithoutAValueThrows() throws {
    let manager = try manager("Lacking")
    let error = try #require(throws: ArborError.self) {
      try manager.fetch(requestNamed: "companyWellPaidEmployees")
    }
    #expect(error.message.contains("company"))
  }

  @Test func handsOutCopies() throws {
    let manager = try manager("Copies")
    var request = try manager.fetchRequest(named: "wellPaidEmployees")
    request.fetchLimit = 1
    request.predicate = nil
    #expect(try manager.fetch(request).count == 1)
    #expect(try manager.fetchRequest(named: "wellPaidEmployees").fetchLimit == 0)
    #expect(try manager.count(forRequestNamed: "wellPaidEmployees") == 4)
  }

  @Test func anUnknownNameOffersTheNearest() throws {
    let manager = try manager("Unknown")
    let error = try #require(throws: ArborError.self) {
      try manager.fetchRequest(named: "wellPayedEmployees")
    }
    #expect(error.code == .unknownName)
    #expect(error.message.contains("wellPaidEmployees"))
  }
}
