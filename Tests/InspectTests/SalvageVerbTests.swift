import ArborData
import Foundation
import TestSupport
import Testing

/// The `salvage` command, which recovers objects from a damaged store.
@Suite struct SalvageVerbTests {
  private let office: OfficeStore
  private var target: URL { office.folder.url.appending(path: "Rescued.arbor") }
  private static let pageSize = 4096

  init() throws { office = try OfficeStore() }

  private func run(_ arguments: String...) throws -> BuiltProgram.Outcome {
    try Inspection.program.run(["salvage", office.url.path, target.path] + arguments)
  }

  /// Zeroes every page that contains the given bytes.
  private func zeroPages(with bytes: [UInt8]) throws {
    var file = try Data(contentsOf: office.url)
    for start in stride(from: 0, to: file.count, by: Self.pageSize) {
      let page = start..<min(start + Self.pageSize, file.count)
      if file[page].range(of: Data(bytes)) != nil { file.resetBytes(in: page) }
    }
    try file.write(to: office.url)
  }

  private func replace(_ text: String, by other: String) throws {
    var file = try Data(contentsOf: office.url)
    while let range = file.range(of: Data(text.utf8)) {
      file.replaceSubrange(range, with: Data(other.utf8))
    }
    try file.write(to: office.url)
  }

  @Test("A sound store is salvaged completely")
  func aSoundStore() throws {
    let before = try Data(contentsOf: office.url)
    let outcome = try run()
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(
      outcome.output == """
        Read the newest state, from commit 1.
        Employee: 3 kept, 0 doubtful, 0 lost
        Office: 1 kept, 0 doubtful, 0 lost
        Project: 1 kept, 0 doubtful, 0 lost

        """)
    #expect(try Data(contentsOf: office.url) == before)
    let dump = try Inspection.program.run(["dump", target.path]).output
    #expect(try Inspection.program.run(["dump", office.url.path]).output == dump)
    #expect(try Inspection.program.run(["check", target.path]).status == 0)
  }

  @Test("A store without its root pages is salvaged")
  func withoutItsRootPages() throws {
    var bytes = try Data(contentsOf: office.url)
    bytes.resetBytes(in: 0..<2 * Self.pageSize)
    try bytes.write(to: office.url)
    #expect(try Inspection.program.run(["check", office.url.path]).status == 2)
    let outcome = try run("--json")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(
      outcome.output == """
        {
          "state": "withoutRoot",
          "sequence": 1,
          "isSequenceCertain": false,
          "entities": [
            {
              "name": "Employee",
              "kept": 3,
              "doubtful": 0,
              "lost": 0
            },
            {
              "name": "Office",
              "kept": 1,
              "doubtful": 0,
              "lost": 0
            },
            {
              "name": "Project",
              "kept": 1,
              "doubtful": 0,
              "lost": 0
            }
          ],
          "doubtful": [],
          "leftOutCount": 0,
          "leftOut": [],
          "lostLinkCount": 0,
          "lostLinks": [],
          "lostBinaryCount": 0,
          "lostBinaries": [],
          "doubtfulMetadata": [],
          "isModelGiven": false,
          "isCatalogMade": false,
          "isUniqueIDLost": false
        }

        """)
    #expect(try Inspection.program.run(["check", target.path]).status == 0)
  }

  @Test("Objects on damaged pages are reported as lost")
  func withoutItsOffice() throws {
    try zeroPages(with: Array("Riga".utf8))
    let outcome = try run()
    #expect(
      outcome.output == """
        Read the newest state, from commit 1.
        Employee: 3 kept, 0 doubtful, 0 lost
        Office: 0 kept, 0 doubtful, 1 lost
        Project: 1 kept, 0 doubtful, 0 lost
        lost link: Employee 1.office to Office 1
        lost link: Employee 2.office to Office 1
        lost link: Employee 3.office to Office 1

        """)
    #expect(outcome.status == 0)
    #expect(try Inspection.program.run(["check", target.path]).status == 0)
    let again = try run()
    #expect(again.status == 1)
    #expect(
      again.errors
        == "lmdb-inspect: \(target.path) already exists and will not be overwritten. "
        + "Choose another path.\n")
  }

  @Test("A store without its model is salvaged with a given one")
  func withoutItsModel() throws {
    try replace("{\"entities\":{", by: "#\"entities\":{")
    let outcome = try run()
    #expect(outcome.status == 2)
    #expect(
      outcome.errors
        == "lmdb-inspect: \(office.url.path): \(office.url.path) cannot be salvaged: no page of "
        + "the file contains its model. Pass the model that the file was written with.\n")
    let model = office.folder.url.appending(path: "Office.model.json")
    try office.model.jsonData().write(to: model)
    let given = try run("--model", model.path)
    #expect(
      given.output == """
        Read the newest state, from commit 1.
        Employee: 3 kept, 0 doubtful, 0 lost
        Office: 1 kept, 0 doubtful, 0 lost
        Project: 1 kept, 0 doubtful, 0 lost
        The file no longer contains its model. The given model was used.

        """)
    #expect(given.status == 0, "\(given.errors)")
    #expect(try Inspection.program.run(["check", target.path]).status == 0)
  }

  @Test("A file that is in use, missing or not a store cannot be salvaged")
  func whatCannotBeSalvaged() throws {
    let store = try PersistentStore(at: .file(office.url))
    let used = try run()
    store.close()
    #expect(used.status == 2)
    #expect(
      used.errors
        == "lmdb-inspect: \(office.url.path): \(office.url.path) is in use by another process or "
        + "store. Close the store there, then try again.\n")
    try Data("no store at all".utf8).write(to: office.url)
    let foreign = try run()
    #expect(foreign.status == 2)
    #expect(
      foreign.errors
        == "lmdb-inspect: \(office.url.path): \(office.url.path) is not a store: the file is not "
        + "an LMDB file. Choose another file.\n")
    try FileManager.default.removeItem(at: office.url)
    let missing = try run()
    #expect(missing.status == 2)
    #expect(
      missing.errors
        == "lmdb-inspect: \(office.url.path): There is no store at \(office.url.path). Check the "
        + "path, or pass a model to create the store.\n")
    #expect(!FileManager.default.fileExists(atPath: target.path))
  }
}
