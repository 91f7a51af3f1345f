import ArborData
import Foundation
import Testing

/// The classes that `lmdb-inspect schema --macros` generates have the same model as their source.
@Suite("Generated macro classes") struct GeneratedTests {
  static let file = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "InspectTests/Generated/Fleet.model.json")

  @Test("The generated classes describe the same model")
  func theClassesMakeTheModel() throws {
    var model = try ManagedObjectModel(contentsOf: Self.file)
    // The class name is the last component.
    model.entities[2].className = "Garage"
    let made = try FleetModel.make()
    for (made, entity) in zip(made.entities, model.entities) { #expect(made == entity) }
    #expect(made == model)
  }
}
