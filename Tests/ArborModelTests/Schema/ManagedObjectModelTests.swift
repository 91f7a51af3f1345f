import ModelSamples
import ArborModel
import Foundation
import Testing

@Suite struct ManagedObjectModelTests {
  @Test("Entities are found by name")
  func findsEntitiesByName() throws {
    let model = try SchemaFixture.model()
    #expect(model.entity(named: "Company")?.name == "Company")
    #expect(model.entity(named: "Nobody") == nil)
    let manager = try #require(model.entity(named: "Manager"))
    #expect(model.lineage(of: manager).map(\.name) == ["Manager", "Employee", "Person"])
  }

  @Test("Equal models from code and JSON are equal")
  func modelsThatSayTheSameAreEqualWhereverTheyComeFrom() throws {
    let code = try ModelSamples.corporate()
    let json = try ManagedObjectModel(json: code.jsonData())
    #expect(Set([code, json]).count == 1)
    #expect(Set([code, json].map(\.fingerprint)).count == 1)
    for change in ModelFingerprintTests.storedChanges + ModelFingerprintTests.otherChanges {
      var model = try ModelFingerprintTests.model()
      change.make(&model)
      #expect(try model != ModelFingerprintTests.model(), "\(change)")
    }
  }
}
