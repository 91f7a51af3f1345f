import ArborModel
import Foundation
import Testing

@Suite struct ManagedObjectModelTests {
  @Test func findsEntitiesByName() throws {
    let model = try SchemaFixture.model()
    #expect(model.entity(named: "Company")?.name == "Company")
    #expect(model.entity(named: "Nobody") == nil)
    let manager = try #require(model.entity(named: "Manager"))
    #expect(model.lineage(of: manager).map(\.name) == ["Manager", "Employee", "Person"])
  }

  @Test func modelsThatSayTheSameAreEqualWhereverTheyComeFrom() throws {
    let file = try ManagedObjectModel(contentsOf: ModelFixtures.url("Corporate.xcdatamodeld"))
    let code = try ModelFixtures.corporate()
    let json = try ManagedObjectModel(json: code.jsonData())
    #expect(Set([file, code, json]).count == 1)
    #expect(Set([file, code, json].map(\.fingerprint)).count == 1)
    for change in ModelFingerprintTests.storedChanges + ModelFingerprintTests.otherChanges {
      var model = try ModelFingerprintTests.model()
      change.make(&model)
      #expect(try model != ModelFingerprintTests.model(), "\(change)")
    }
  }

  @Test func theDemonstrationModelIsSound() throws {
    let tools = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appending(path: "tools/world")
    let document = try ModelDocument(contentsOf: tools.appending(path: "World.xcdatamodeld"))
    #expect(document.warnings.map(\.message) == [])
    #expect(document.model.entities.count == 7)
    _ = try SchemaFixture.schema(of: document.model)
  }
}
