import ArborData
import Foundation
import TestSupport
import Testing

@testable import lmdb_inspect

/// The commands for the space of a file: `space`, `copy` and `compact`.
@Suite struct SpaceVerbTests {
  private let office: OfficeStore
  private var inspection: Inspection { Inspection(office.url) }

  init() throws { office = try OfficeStore() }

  private func run(_ arguments: String...) throws -> BuiltProgram.Outcome {
    try Inspection.program.run(arguments)
  }

  private func bytes(_ url: URL) throws -> Int { try Data(contentsOf: url).count }

  @Test("`space` lists the kinds of data")
  func spaceTellsTheKinds() throws {
    let answer = try #require(try inspection.json("space") as? [String: Any])
    let space = answer.compactMapValues { $0 as? Int }
    #expect(
      Set(space.keys) == [
        "file", "used", "records", "indexes", "relationships", "largeBinaries", "history", "other",
        "free", "pinned", "reclaimable",
      ])
    #expect(space["file"] == (try bytes(office.url)))
    #expect(space["records"] == 3 * 4096 && space["indexes"] == 3 * 4096)
    let kinds = ["records", "indexes", "relationships", "largeBinaries", "history", "other"]
    #expect(kinds.reduce(0) { $0 + (space[$1] ?? 0) } == space["used"])
    let info = try #require(try inspection.json("info") as? [String: Any])
    #expect(info["usedBytes"] as? Int == space["used"])
    #expect(info["freeBytes"] as? Int == space["free"])
    let text = try inspection.run("space").output
    #expect(text.contains(/\n  large binaries +0 B\n/) && text.contains("\nreclaimable  "))
  }

  @Test("`space` describes files of other programs")
  func spaceOfAnyFile() throws {
    let file = try ForeignFile()
    defer { file.remove() }
    let space = try #require(
      try Inspection(file.folder, data: file.data).json("space") as? [String: Any])
    #expect(
      Set(space.keys) == [
        "file", "used", "free", "pinned", "reclaimable", "databases", "longReaders",
      ])
    #expect(space["used"] as? Int ?? 0 > 0)
    let tables = try #require(space["databases"] as? [[String: Any]])
    #expect(tables.compactMap { $0["table"] as? String } == ["numbers", "sets", "words"])
    #expect(tables.map { $0["entries"] as? Int } == [2, 3, 3])
    #expect(tables.map { $0["pages"] as? Int } == [1, 1, 1])
  }

  @Test("`space` lists every database")
  func spaceNamesEveryDatabase() throws {
    let space = try #require(try inspection.json("space") as? [String: Any])
    let databases = try #require(space["databases"] as? [[String: Any]])
    let employees = try #require(databases.first { $0["table"] as? String == "e/Employee" })
    #expect(employees["kind"] as? String == "records")
    #expect(employees["entity"] as? String == "Employee" && employees["name"] is NSNull)
    #expect(employees["entries"] as? Int == 3 && employees["pages"] as? Int == 1)
    #expect(employees["estimated"] as? Bool == false)
    let fill = try #require(employees["fill"] as? Double)
    #expect((0.01...0.5).contains(fill))
    let indexes = databases.filter { $0["kind"] as? String == "index" }
    #expect(Set(indexes.compactMap { $0["name"] as? String }) == ["age", "badge", "name"])
    #expect(space["longReaders"] as? [String] == [])
    let text = try inspection.run("space").output
    #expect(text.contains("  index Employee.badge\n") && text.contains("  records of Office\n"))
  }

  @Test("The picture of the space covers every byte")
  func aPictureShowsEveryByte() throws {
    let picture = office.folder.url.appending(path: "space.svg")
    #expect(try run("space", office.url.path, "--svg", picture.path).status == 0)
    let text = try String(contentsOf: picture, encoding: .utf8)
    let titles = text.matches(of: /<g class="\w+"><title>([^<]*)<\/title><rect [^>]*\/>/)
      .map { String($0.output.1) }
    #expect(text.hasPrefix("<svg xmlns=") && text.hasSuffix("\n</svg>\n"))
    #expect(titles.contains { $0.hasPrefix("records of Employee: 4096 bytes, ") })
    let sum = titles.compactMap { title in
      title.firstMatch(of: /: (\d+) bytes/).flatMap { Int($0.output.1) }
    }.reduce(0, +)
    #expect(sum == (try bytes(office.url)))
    // The legend lists the kinds that occur, in the colors of the browser's page.
    #expect(text.contains(">records</text>") && text.contains(">free</text>"))
    #expect(!text.contains(">large binaries</text>"))
    let style = try String(
      contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources/ArborBrowser/Page/style.css"), encoding: .utf8)
    let colors = style.matches(of: /--part-\d: (#[0-9a-f]{6})/).map { String($0.output.1) }
    #expect(colors.count == 7 && colors.allSatisfy(text.contains))
    let again = try run("space", office.url.path, "--svg", picture.path)
    #expect(again.status == 1 && again.errors.contains("will not be overwritten"))
  }

  @Test("`copy` copies the store and never overwrites a file", arguments: [[], ["--compact"]])
  func copies(_ options: [String]) throws {
    let copy = office.folder.url.appending(path: "Copy.arbor")
    let before = try Data(contentsOf: office.url)
    let outcome = try Inspection.program.run(["copy", office.url.path, copy.path] + options)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output == "path  \(copy.path)\nsize  \(SizeText.text(try bytes(copy)))\n")
    #expect(try Data(contentsOf: office.url) == before)
    #expect(try run("check", copy.path).status == 0)
    #expect(try run("dump", copy.path).output == run("dump", office.url.path).output)
    let again = try Inspection.program.run(["copy", office.url.path, copy.path] + options)
    #expect(again.status == 1)
    #expect(
      again.errors
        == "lmdb-inspect: \(copy.path) already exists and will not be overwritten. "
        + "Choose another path.\n")
  }

  @Test("`copy` accepts files of other programs")
  func copiesAnyFile() throws {
    let file = try ForeignFile()
    defer { file.remove() }
    let copy = office.folder.url.appending(path: "foreign.mdb")
    #expect(try run("copy", file.folder.path, copy.path, "--compact").status == 0)
    #expect(try run("check", copy.path).output == run("check", file.folder.path).output)
  }

  @Test("`compact` reduces the size of the file")
  func compactGivesSpaceBack() throws {
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

  @Test("The error says why a file can't be compacted")
  func compactSaysWhyNot() throws {
    let store = try PersistentStore(at: .file(office.url))
    let used = try run("compact", office.url.path)
    #expect(used.status == 2)
    #expect(
      used.errors.contains(
        "is in use by another process or store. Close the store there, then try again."))
    store.close()
    let foreign = try ForeignFile()
    defer { foreign.remove() }
    #expect(try run("compact", foreign.data.path).errors.contains("is not a store"))
    #expect(try run("compact", office.folder.path("none")).status == 2)
  }

  /// A full-text index with a skewed distribution of entries, and more leaf pages than are sampled.
  @Test("`space` agrees with the file for skewed indexes")
  func skewedIndexesAgreeWithTheFile() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Note") {
        AttributeDescription("text", .string)
        RelationshipDescription("others", to: "Note", inverse: "others", .toMany)
        FetchIndexDescription(text: "text")
      }
    }
    let url = office.folder.url.appending(path: "Notes.arbor")
    let store = try PersistentStore(model: model, at: .file(url))
    let context = store.makeContext()
    let hub = try context.insert("Note")
    hub["text"] = "the hub"
    var others: [ManagedObject] = []
    for number in 0..<6000 {
      let note = try context.insert("Note")
      note["text"] = "the a of number\(number) word\(number * 31) \(number * 7)x"
      others.append(note)
    }
    try hub.setValue(.list(others.map { .objectID($0.objectID) }), forKey: "others")
    try context.commit()
    try store.check()
    store.close()
    let notes = Inspection(url)
    let space = try #require(try notes.json("space") as? [String: Any])
    let numbers = space.compactMapValues { $0 as? Int }
    let kinds = ["records", "indexes", "relationships", "largeBinaries", "history", "other"]
    #expect(kinds.reduce(0) { $0 + (numbers[$1] ?? 0) } == numbers["used"])
    let databases = try #require(space["databases"] as? [[String: Any]])
    func bytes(_ kind: String) -> Int {
      databases.filter { $0["kind"] as? String == kind }.reduce(0) {
        $0 + ($1["bytes"] as? Int ?? 0)
      }
    }
    #expect(bytes("index") == numbers["indexes"] && bytes("index") > 20 * 4096)
    #expect(bytes("relationship") + bytes("order") == numbers["relationships"])
    #expect(bytes("relationship") > 10 * 4096)
    // The rest consists of the names and the free lists.
    #expect(try #require(numbers["other"]) < 24 * 4096)
    let tables = try #require(try notes.json("tables") as? [[String: Any]])
    let info = try #require(try notes.json("info") as? [String: Any])
    let pages = try #require(info["tablePages"] as? [String: Int])
    for database in databases {
      let name = try #require(database["table"] as? String)
      let table = try #require(tables.first { $0["name"] as? String == name })
      #expect(table["bytes"] as? Int == database["bytes"] as? Int)
      #expect(pages[name] == database["pages"] as? Int)
    }
  }

  /// An index with more leaf pages than are examined.
  @Test("An estimated size says so everywhere")
  func estimatesSayThatTheyAre() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Note") { AttributeDescription("text", .string, .indexed) }
    }
    let url = office.folder.url.appending(path: "Long.arbor")
    let store = try PersistentStore(model: model, at: .file(url))
    let context = store.makeContext()
    let rest = String(repeating: "x", count: 450)
    for number in 0..<36_000 {
      try context.insert("Note")["text"] = PropertyValue.string("\(100_000 + number) \(rest)")
    }
    try context.commit()
    store.close()
    let notes = Inspection(url)
    let space = try #require(try notes.json("space") as? [String: Any])
    let databases = try #require(space["databases"] as? [[String: Any]])
    let estimated = databases.filter { $0["estimated"] as? Bool == true }
    #expect(estimated.map { $0["table"] as? String } == ["i/Note/text"])
    let text = try notes.run("space").output
    #expect(text.contains("\n  about indexes ") && text.contains("\n  about other "), "\(text)")
    #expect(text.contains("  about index Note.text\n"), "\(text)")
    #expect(text.contains("\n  records ") && text.contains("  records of Note\n"), "\(text)")
    let tables = try #require(try notes.json("tables") as? [[String: Any]])
    #expect(
      tables.filter { $0["estimated"] as? Bool == true }.map { $0["name"] as? String }
        == ["i/Note/text"])
    let list = try notes.run("tables").output
    #expect(list.contains("  about i/Note/text") && list.contains("  e/Note"), "\(list)")
    let info = try notes.run("info").output
    #expect(info.contains("i/Note/text about ") && !info.contains("e/Note about "), "\(info)")
    let picture = office.folder.url.appending(path: "long.svg")
    #expect(try run("space", url.path, "--svg", picture.path).status == 0)
    let svg = try String(contentsOf: picture, encoding: .utf8)
    #expect(svg.contains(/index Note\.text: \d+ bytes, estimated/), "\(svg)")
    #expect(svg.matches(of: /estimated/).count == 1)
  }
}
