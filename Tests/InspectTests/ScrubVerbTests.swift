import ArborData
import Foundation
import TestSupport
import Testing

/// The `scrub` command, which reads a whole store.
@Suite struct ScrubVerbTests {
  private let office: OfficeStore

  init() throws { office = try OfficeStore() }

  private func run(_ arguments: String...) throws -> BuiltProgram.Outcome {
    try Inspection.program.run(["scrub", office.url.path] + arguments)
  }

  private var lastScrub: String {
    get throws {
      let info = try Inspection.program.run(["info", office.url.path, "--json"]).output
      let facts = try JSONSerialization.jsonObject(with: Data(info.utf8)) as? [String: Any]
      return try #require(facts?["lastScrub"] as? String)
    }
  }

  @Test("A scrub shows its progress in a terminal")
  func progressIsShownOnATerminal() throws {
    let terminal = try PseudoTerminal(Inspection.program.executable, ["scrub", office.url.path])
    #expect(terminal.waitForEnd() == 0)
    let text = String(decoding: terminal.output, as: UTF8.self)
    let percents = text.matches(of: /scrubbing: (\d+) %/).compactMap { Int($0.output.1) }
    #expect(percents.first == 0 && percents.last == 100 && percents == percents.sorted())
  }

  @Test("A sound store has no problems")
  func aSoundStore() throws {
    let before = try lastScrub
    let outcome = try run()
    #expect(outcome.status == 0)
    let date = try lastScrub
    #expect(date > before)
    #expect(outcome.output == "last scrub  \(date)\nproblems    no problems\n")
    #expect(outcome.errors.isEmpty)
    let json = try run("--json")
    #expect(json.status == 0)
    #expect(
      try json.output == """
        {
          "lastScrub": "\(lastScrub)",
          "problems": []
        }

        """)
    #expect(json.errors.isEmpty)
    #expect(try Inspection.program.run(["check", office.url.path]).status == 0)
  }

  @Test("A flipped bit in a record is reported")
  func aDamagedStore() throws {
    let date = try lastScrub
    var bytes = try Data(contentsOf: office.url)
    let title = try #require(bytes.range(of: Data("ngström".utf8)))
    bytes[title.lowerBound] ^= 1
    try bytes.write(to: office.url)
    let outcome = try run()
    #expect(outcome.status == 1)
    let finding = """
      The store is damaged: the record's checksum doesn't match its bytes. Restore a backup, or \
      recover intact objects with lmdb-inspect salvage STORE TARGET; lmdb-inspect check lists the \
      damage. (Project 1)
      """
    #expect(outcome.output == "last scrub  \(date)\nproblems    \(finding)\n")
    #expect(outcome.errors.isEmpty)
    let json = try run("--json")
    #expect(json.status == 1)
    let facts = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
    #expect(facts?["problems"] as? [String] == [finding])
    #expect(facts?["lastScrub"] as? String == date)
    #expect(try Inspection.program.run(["check", office.url.path]).status == 1)
  }

  @Test("Scrubbing a missing store is an error")
  func whatIsNoStore() throws {
    try FileManager.default.removeItem(at: office.url)
    let missing = try run()
    #expect(missing.status == 2 && missing.output.isEmpty)
    #expect(
      missing.errors
        == "lmdb-inspect: \(office.url.path): There is no store at \(office.url.path). Check the "
        + "path, or pass a model to create the store.\n")
  }
}
