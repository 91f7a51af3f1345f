import ArborData
import Foundation
import TestSupport
import Testing

/// The commands for migrations: `plan`, `migrate` and `revert`.
@Suite struct MigrateVerbTests {
  private let office: OfficeStore

  init() throws { office = try OfficeStore() }

  private func run(_ arguments: String...) throws -> BuiltProgram.Outcome {
    try Inspection.program.run(arguments)
  }

  /// Writes a modified model of the office to a file; returns its path.
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

  @Test("A plan lists its steps, losses and obstacles")
  func aPlanTellsWhatIsInTheWay() throws {
    let model = try withoutAge()
    let plan = try Inspection(office.url).run("plan", model)
    #expect(plan.status == 1, "\(plan.errors)")
    #expect(plan.output.contains("1. Update the model catalog:\n   Employee.age: removed"))
    #expect(plan.output.contains("Blocked by:\n- Employee.age: removed"))
    let json = try #require(
      try Inspection(office.url).json("plan", model, "--drop", "Employee.age") as? [String: Any])
    #expect(json["losses"] as? [String] == ["Employee.age"])
    #expect((json["obstacles"] as? [Any])?.isEmpty == true && json["isInPlace"] as? Bool == true)
  }

  @Test("A store is migrated and reverted")
  func migratesAndReverts() throws {
    let model = try withoutAge()
    let refused = try run("migrate", office.url.path, model)
    #expect(refused.status == 1 && refused.errors.contains("Employee.age"), "\(refused.errors)")
    let done = try run("migrate", office.url.path, model, "--drop", "Employee.age")
    #expect(done.status == 0 && done.output.contains("no problems"), "\(done.errors)")
    let back = try run("revert", office.url.path)
    #expect(back.status == 0, "\(back.errors)")
    #expect(back.output == "The store was reverted to model \(office.model.fingerprint).\n")
    let again = try run("revert", office.url.path)
    #expect(again.status == 1 && again.errors.contains("no migration to revert"))
  }

  @Test("Reverting requires that the lost properties be listed")
  func whatWasWrittenSinceIsLostWhereItIsNamed() throws {
    let model = try file { model in
      let index = try #require(model.entities.firstIndex { $0.name == "Employee" })
      model.entities[index].attributes.append(
        .init(name: "note", type: .string, isOptional: true))
    }
    #expect(try run("migrate", office.url.path, model).status == 0)
    let store = try PersistentStore(at: .file(office.url))
    let context = store.makeContext()
    try #require(try context.fetchOne("Employee"))["note"] = "new"
    try context.commit()
    store.close()
    let refused = try run("revert", office.url.path)
    #expect(refused.status == 1 && refused.errors.contains("Employee.note"), "\(refused.errors)")
    let done = try run("revert", office.url.path, "--drop", "Employee.note")
    #expect(done.status == 0, "\(done.errors)")
    let former = try PersistentStore(at: .file(office.url))
    defer { former.close() }
    #expect(former.model.fingerprint == office.model.fingerprint)
    try former.check()
  }

  @Test("A database keeps its original name, but is also listed and found under its current one")
  func tablesHaveTheirPresentNames() throws {
    let model = try file { model in
      let index = try #require(model.entities.firstIndex { $0.name == "Employee" })
      model.entities[index].name = "Worker"
      model.entities[index].className = nil
      model.entities[index].renamingIdentifier = "Employee"
      for entity in model.entities.indices {
        if model.entities[entity].parent == "Employee" { model.entities[entity].parent = "Worker" }
        for relationship in model.entities[entity].relationships.indices
        where model.entities[entity].relationships[relationship].destination == "Employee" {
          model.entities[entity].relationships[relationship].destination = "Worker"
        }
      }
      model.fetchRequestTemplates = []
    }
    let done = try run("migrate", office.url.path, model)
    #expect(done.status == 0, "\(done.errors)")
    #expect(
      try Inspection(office.url).run("tables").output.contains("e/Worker, stored as e/Employee"))
    let tables = try #require(try Inspection(office.url).json("tables") as? [[String: Any]])
    let names = tables.filter { $0["presentName"] as? String != $0["name"] as? String }
      .map { ($0["name"] as? String ?? "", $0["presentName"] as? String ?? "") }
    #expect(names.contains { $0 == ("e/Employee", "e/Worker") })
    #expect(
      names.allSatisfy { $0.replacingOccurrences(of: "Employee", with: "Worker") == $1 },
      "\(names)")
    let dumps = try ["e/Worker", "e/Employee"].map { try Inspection(office.url).run("dump", $0) }
    #expect(dumps[0].status == 0 && dumps[0].output == dumps[1].output)
  }

  @Test("A store is migrated in a copy and reverted")
  func migratesInACopyAndReverts() throws {
    let model = try file { model in
      let index = try #require(model.entities.firstIndex { $0.name == "Employee" })
      let projects = try #require(
        model.entities[index].relationships.firstIndex { $0.name == "projects" })
      model.entities[index].relationships[projects].isOrdered = true
    }
    let done = try run("migrate", office.url.path, model)
    #expect(done.status == 0, "\(done.errors)")
    #expect(done.errors.isEmpty, "\(done.errors)")
    #expect(try run("revert", office.url.path).status == 0)
    let store = try PersistentStore(at: .file(office.url))
    defer { store.close() }
    #expect(store.model.fingerprint == office.model.fingerprint)
    try store.check()
  }
}
