import ArborData
import Foundation
import TestSupport
import Testing

/// The verbs that bring a store to another model and back: `plan`, `migrate` and `revert`.
@Suite struct MigrateVerbTests {
  private let office: OfficeStore

  init() throws { office = try OfficeStore() }

  private func run(_ arguments: String...) throws -> BuiltProgram.Outcome {
    try Inspection.program.run(arguments)
  }

  /// A model file for the office, changed.
  private func file(_ change: (inout ManagedObjectModel) throws -> Void) throws -> String {
    var model = office.model
    try change(&model)
    let url = office.folder.url.appending(path: "Next.model.json")
    try model.jsonData().write(to: url)
    return url.path
  }

  private func withoutAge() throws -> String {
    try file { model in
      let index = try #require(model.entities.firstIndex { $0.name == "Employee" })
      model.entities[index].attributes.removeAll { $0.name == "age" }
      model.fetchRequestTemplates = []
    }
  }

  @Test func aPlanTellsWhatIsInTheWay() throws {
    let model = try withoutAge()
    let plan = try Inspection(office.url).run("plan", model)
    #expect(plan.status == 1, "\(plan.errors)")
    #expect(plan.output.contains("1. Change the catalogue:\n   Employee.age: removed"))
    #expect(plan.output.contains("In the way:\n- Employee.age: removed"))
    let json = try #require(
      try Inspection(office.url).json("plan", model, "--drop", "Employee.age") as? [String: Any])
    #expect(json["losses"] as? [String] == ["Employee.age"])
    #expect((json["obstacles"] as? [Any])?.isEmpty == true && json["isInPlace"] as? Bool == true)
  }

  @Test func migratesAndReverts() throws {
    let model = try withoutAge()
    let refused = try run("migrate", office.url.path, model)
    #expect(refused.status == 2 && refused.errors.contains("Employee.age"), "\(refused.errors)")
    let done = try run("migrate", office.url.path, model, "--drop", "Employee.age")
    #expect(done.status == 0 && done.output.contains("sound"), "\(done.errors)")
    let back = try run("revert", office.url.path)
    #expect(back.status == 0, "\(back.errors)")
    #expect(back.output == "The store is of model \(office.model.fingerprint) again.\n")
    let again = try run("revert", office.url.path)
    #expect(again.status == 2 && again.errors.contains("no migration to revert"))
  }

  @Test func migratesInACopyAndReverts() throws {
    let model = try file { model in
      let index = try #require(model.entities.firstIndex { $0.name == "Employee" })
      let projects = try #require(
        model.entities[index].relationships.firstIndex { $0.name == "projects" })
      model.entities[index].relationships[projects].isOrdered = true
    }
    let done = try run("migrate", office.url.path, model)
    #expect(done.status == 0, "\(done.errors)")
    #expect(done.errors.contains("part 1 of 1") && done.errors.contains("done"))
    #expect(try run("revert", office.url.path).status == 0)
    let store = try PersistentStore(at: .file(office.url))
    defer { store.close() }
    #expect(store.model.fingerprint == office.model.fingerprint)
    try store.check()
  }
}
