import ArborData
import Foundation

/// The steps of the demonstration.
struct Demonstration {
  let store: URL
  let documents: URL
  let report = Report()
  /// The folder of this source file, which contains the model and the seeds.
  private let sources = URL(filePath: #filePath).deletingLastPathComponent()

  init(store: URL, documents: URL) {
    self.store = store
    self.documents = documents
  }

  func run() async throws {
    let model = try readModel()
    try await fill(model)
    try await watch(model)
    try reopen(model)
    try evolve(addTheMissingIndex(to: model))
  }

  private func readModel() throws -> ManagedObjectModel {
    var model: ManagedObjectModel?
    try report.step {
      let found = try ManagedObjectModel(contentsOf: sources.appending(path: "World.xcdatamodeld"))
      model = found
      let properties = found.entities.reduce(0) {
        $0 + $1.attributes.count + $1.relationships.count
      }
      return "read World.xcdatamodeld: \(found.entities.count) entities, \(properties) properties, "
        + "\(found.fetchRequestTemplates.count) named requests"
    }
    guard let model else { throw DemonstrationError("no model") }
    return model
  }

  private func fill(_ model: ManagedObjectModel) async throws {
    let manager = try DataManager(model: model, at: .file(store))
    let codes = WorldImport(store: manager.store, report: report)
    try await codes.run(documents)
    // Importing known records changes nothing.
    try await codes.run(documents)
    try report.step {
      let seeded = try manager.seed(from: .file(sources.appending(path: "Seeds/Main.seed.json")))
      try manager.commit()
      let counts = seeded.created.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
      return "seeded \(counts.joined(separator: ", ")) from \(seeded.documents.count) documents"
    }
    try ask(manager)
    try change(manager)
  }

  private func ask(_ manager: DataManager) throws {
    try report.step {
      let count = try manager.count(forRequestNamed: "livingLanguages")
      return "request “livingLanguages”: \(count) of \(try manager.count("Language")) languages"
    }
    try report.step {
      let regions = try manager.fetch(
        requestNamed: "topLevelSubdivisions", substituting: ["ALPHA2": "IS"])
      let names = regions.map { $0["name"] as String }.sorted()
      return "request “topLevelSubdivisions” of IS: \(names.prefix(3).joined(separator: ", ")), … "
        + "(\(names.count))"
    }
    try report.step {
      let found = try manager.fetchAll(
        "Subdivision",
        matching:
          "parent.name ==[cd] 'england' AND country.alpha2 == 'GB' AND type BEGINSWITH 'London'",
        sortedBy: ["name"])
      let first = (found.first?["name"] as String?) ?? "none"
      return "London boroughs, over two relationships: \(found.count), first \(first)"
    }
    try report.step {
      let company = try manager.fetchOne("Company", matching: "companyName == \("Foo Inc.")")
      let theirs = try manager.fetch(
        requestNamed: "companyWellPaidEmployees", substituting: ["company": company])
      let names = theirs.map { $0["name"] as String }.sorted()
      return "well paid at Foo Inc.: \(names.joined(separator: ", "))"
    }
  }

  private func change(_ manager: DataManager) throws {
    try report.step {
      let raised = try manager.fetchAll("Employee", matching: "company.companyName == 'Foo Inc.'")
      for employee in raised { employee["salary"] = (employee["salary"] as Double) * 1.05 }
      let before = try manager.count(forRequestNamed: "wellPaidEmployees")
      try manager.commit()
      return "raised \(raised.count) salaries; before the commit, a count found \(before) "
        + "well paid"
    }
    try report.step {
      guard let country = try manager.fetchOne("Country", matching: "alpha2 == 'DE'") else {
        throw DemonstrationError("no country DE")
      }
      let all = try manager.count("Subdivision")
      manager.delete(country)
      let left = try manager.count("Subdivision")
      manager.rollback()
      let again = try manager.count("Subdivision")
      return "deleted a country and \(all - left) of \(all) subdivisions; rolled back to \(again)"
    }
  }

  private func reopen(_ model: ManagedObjectModel) throws {
    try report.step {
      let manager = try DataManager(model: model, at: .file(store))
      let counts = try model.entities.map { "\(try manager.count($0.name)) \($0.name)" }
      return "reopened: \(counts.joined(separator: ", "))"
    }
  }
}

/// An error that ends the demonstration.
struct DemonstrationError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
