import ArborData
import Foundation
import TestSupport
import Testing

/// The verbs that are about the space of a file: `space`, `copy` and `compact`.
@Suite struct SpaceVerbTests {
  private let office: OfficeStore
  private var inspection: Inspection { Inspection(office.url) }

  init() throws { office = try OfficeStore() }

  private func run(_ arguments: String...) throws -> BuiltProgram.Outcome {
    try Inspection.program.run(arguments)
  }

  private func bytes(_ url: URL) throws -> Int { try Data(contentsOf: url).count }

  @Test func spaceTellsTheKinds() throws {
    let space = try #require(try inspection.json("space") as? [String: Int])
    #expect(
      Set(space.keys) == [
        "file", "used", "records", "indexes", "relationships", "largeBinaries", "history", "other",
        "free", "reclaimable",
      ])
    #expect(space["file"] == (try bytes(office.url)))
    #expect(space["records"] == 3 * 4096 && space["indexes"] == 3 * 4096)
    let kinds = ["records", "indexes", "relationships", "largeBinaries", "history", "other"]
    #expect(kinds.reduce(0) { $0 + (space[$1] ?? 0) } == space["used"])
    let info = try #require(try inspection.json("info") as? [String: Any])
    #expect(info["usedBytes"] as? Int == space["used"])
    #expect(info["freeBytes"] as? Int == space["free"])
    let text = try inspection.run("space").output
    #expect(text.contains("\n  large binaries      0\n") && text.contains("\nreclaimable  "))
  }

  @Test func spaceOfAnyFile() throws {
    let file = try ForeignFile()
    defer { file.remove() }
    let space = try #require(
      try Inspection(file.folder, data: file.data).json("space") as? [String: Int])
    #expect(Set(space.keys) == ["file", "used", "free", "reclaimable"])
    #expect((space["used"] ?? 0) > 0)
  }

  @Test(arguments: [[], ["--compact"]]) func copies(_ options: [String]) throws {
    let copy = office.folder.url.appending(path: "Copy.arbor")
    let before = try Data(contentsOf: office.url)
    let outcome = try Inspection.program.run(["copy", office.url.path, copy.path] + options)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output == "path   \(copy.path)\nbytes  \(try bytes(copy))\n")
    #expect(try Data(contentsOf: office.url) == before)
    #expect(try run("check", copy.path).status == 0)
    #expect(try run("dump", copy.path).output == run("dump", office.url.path).output)
    let again = try Inspection.program.run(["copy", office.url.path, copy.path] + options)
    #expect(again.status == 1)
    #expect(
      again.errors
        == "lmdb-inspect: There is something at \(copy.path) already, which is not written over; "
        + "choose another path.\n")
  }

  @Test func copiesAnyFile() throws {
    let file = try ForeignFile()
    defer { file.remove() }
    let copy = office.folder.url.appending(path: "foreign.mdb")
    #expect(try run("copy", file.folder.path, copy.path, "--compact").status == 0)
    #expect(try run("check", copy.path).output == run("check", file.folder.path).output)
  }

  @Test func compactGivesSpaceBack() throws {
    let store = try PersistentStore(model: office.model, at: .file(office.url))
    let context = store.makeContext()
    for number in 0..<2000 { try context.insert("Project")["title"] = "project \(number)" }
    try context.commit()
    let projects = FetchRequest<ManagedObject>(
      entity: "Project", predicate: "title BEGINSWITH 'project'")
    for project in try context.fetch(projects) { context.delete(project) }
    try context.commit()
    store.close()
    let before = try bytes(office.url)
    let objects = try run("dump", office.url.path).output
    let outcome = try run("compact", office.url.path, "--json")
    #expect(outcome.status == 0, "\(outcome.errors)")
    let answer = try #require(
      try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Int])
    #expect(answer == ["before": before, "after": try bytes(office.url)])
    #expect(try bytes(office.url) < before / 2)
    #expect(try run("check", office.url.path).status == 0)
    #expect(try run("dump", office.url.path).output == objects)
  }

  @Test func readersAreNamed() throws {
    #expect(try inspection.run("readers").output == "no readers\n")
    let store = try PersistentStore(at: .file(office.url))
    defer { store.close() }
    let context = store.makeContext()
    try context.withSnapshot {
      let list = try #require(try inspection.json("readers") as? [[String: Int]])
      #expect(list.map { $0["process"] } == [Int(getpid())])
      #expect(list.map { $0["behind"] } == [0])
      #expect(try inspection.run("readers").output.contains("pinned bytes"))
    }
  }

  @Test func compactSaysWhyNot() throws {
    let store = try PersistentStore(at: .file(office.url))
    let used = try run("compact", office.url.path)
    #expect(used.status == 2)
    #expect(used.errors.contains("is in use by something else; close it there, then try again."))
    store.close()
    let foreign = try ForeignFile()
    defer { foreign.remove() }
    #expect(try run("compact", foreign.data.path).errors.contains("is no store"))
    #expect(try run("compact", office.folder.path("none")).status == 2)
  }
}
