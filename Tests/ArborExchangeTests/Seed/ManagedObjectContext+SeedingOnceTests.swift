import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import Testing

@Suite struct ManagedObjectContextSeedingOnceTests {
  @Test("A seed runs once and is committed")
  func seedsOnceAndCommits() throws {
    let workshop = try SeedWorkshop()
    let url = try workshop.write(#"{"Company": {"companyName": "a", "employees": [{}]}}"#)
    let report = try #require(try workshop.context.seedOnce("v1", from: .file(url)))
    #expect(report.created == ["Company": 1, "Employee": 1])
    #expect(report.objects == [try workshop.only("Company")])
    #expect(!workshop.context.hasChanges)
    #expect(try workshop.context.seedOnce("v1", from: .file(url)) == nil)
    #expect(try workshop.store.makeContext().seedOnce("v1", from: .file(url)) == nil)
    #expect(try workshop.all("Company").count == 1)
    #expect(try workshop.context.seedOnce("v2", from: .file(url)) != nil)
    #expect(try workshop.all("Company").count == 2)
    try workshop.finish()
  }

  @Test("A document without objects is also marked as seeded")
  func aDocumentWithoutObjectsIsMarkedToo() throws {
    let workshop = try SeedWorkshop()
    let url = try workshop.write(#"{"Company": []}"#)
    #expect(try workshop.context.seedOnce("none", from: .file(url))?.count == 0)
    #expect(try workshop.context.seedOnce("none", from: .file(url)) == nil)
    try workshop.finish()
  }

  @Test("A failed seed is not marked")
  func aFailureLeavesNoMark() throws {
    let workshop = try SeedWorkshop()
    let bad = try workshop.write(#"{"Company": {"companyID": null}}"#, to: "bad.json")
    let good = try workshop.write(#"{"Company": {}}"#, to: "good.json")
    let before = try workshop.context.digest()
    let error = try #require(throws: ArborError.self) {
      try workshop.context.seedOnce("v1", from: .file(bad))
    }
    #expect(error.code == .validation)
    #expect(try workshop.context.digest() == before)
    #expect(try workshop.context.seedOnce("v1", from: .file(good)) != nil)
    try workshop.finish()
  }

  @Test("Pending changes of the context are not committed")
  func uncommittedChangesOfTheContextStayUncommitted() throws {
    let workshop = try SeedWorkshop()
    let url = try workshop.write(#"{"Company": {}}"#)
    let pending = try workshop.context.insert("Department")
    try workshop.context.seedOnce("v1", from: .file(url))
    #expect(workshop.context.insertedObjects == [pending])
    workshop.context.rollback()
    #expect(try workshop.all("Company").count == 1 && workshop.all("Department").isEmpty)
    try workshop.finish()
  }

  @Test("A purge removes the mark")
  func aPurgeRemovesTheMark() throws {
    let workshop = try SeedWorkshop()
    let url = try workshop.write(#"{"Company": {}}"#)
    for _ in 0..<3 {
      #expect(try workshop.context.seedOnce("v1", from: .file(url)) != nil)
      try workshop.store.purge()
      workshop.context.reset()
    }
    #expect(try workshop.all("Company").isEmpty)
    try workshop.finish()
  }

  @Test("Of concurrent seeds with the same name, only one runs")
  func ofManyAtOnceOneSeeds() async throws {
    let workshop = try SeedWorkshop()
    let url = try workshop.write(#"{"Company": {}}"#)
    let store = workshop.store
    let seeded = try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<16 {
        group.addTask {
          try await store.perform { try $0.seedOnce("v1", from: .file(url)) != nil }
        }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(seeded == 1)
    #expect(try workshop.all("Company").count == 1)
    try workshop.finish()
  }
}
