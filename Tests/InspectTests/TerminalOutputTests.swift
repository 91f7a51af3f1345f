import ArborData
import Foundation
import TestSupport
import Testing

@testable import lmdb_inspect

/// The layout for the terminal, colors, the pager, progress, and labels.
@Suite("Output for terminals") struct TerminalOutputTests {
  private let office: OfficeStore

  init() throws { office = try OfficeStore() }

  /// Runs a verb in a terminal and returns its lines, without control sequences unless requested.
  private func lines(
    _ arguments: [String], rows: Int = 40, columns: Int = 40, isPlain: Bool = true,
    environment: [String: String] = [:], status: Int32 = 0
  ) throws -> [String] {
    let terminal = try PseudoTerminal(
      Inspection.program.executable, [arguments[0], office.url.path] + arguments.dropFirst(),
      rows: rows, columns: columns,
      environment: [
        "PAGER": "", "NO_COLOR": "", "XDG_STATE_HOME": office.folder.url.path,
      ].merging(environment) { $1 })
    #expect(terminal.waitForEnd() == status)
    let text = String(decoding: terminal.output, as: UTF8.self).replacing("\r\n", with: "\n")
    return (isPlain ? text.replacing(/\u{1B}\[[0-9;?]*[A-Za-z]/, with: "") : text)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  @Test("Tables fit the width of the terminal", arguments: [20, 40, 79])
  func tablesFitTheTerminal(columns: Int) throws {
    for verb in [["query", "Employee"], ["tables"], ["index"]] {
      let lines = try lines(verb, columns: columns)
      #expect(lines.allSatisfy { TextWidth.of($0) <= columns }, "\(lines)")
      #expect(lines.contains { $0.contains("…") } || verb != ["query", "Employee"])
      let wide = try self.lines(verb + ["--wide"], columns: columns)
      #expect(!wide.contains { $0.contains("…") }, "\(wide)")
      let piped = try Inspection.program.run([verb[0], office.url.path] + verb.dropFirst())
      #expect(wide.joined(separator: "\n") == piped.output)
    }
    #expect(try lines(["query", "Employee", "--wide"]).contains { TextWidth.of($0) > 100 })
  }

  @Test("Differences have the color of their kind, and the progress is erased before them")
  func differencesHaveColors() throws {
    let other = office.folder.url.appending(path: "Other.arbor")
    try FileManager.default.copyItem(at: office.url, to: other)
    let store = try PersistentStore(at: .file(other))
    let context = store.makeContext()
    try #require(try context.fetchOne("Employee", matching: "name == 'Ada'"))["age"] = 37
    try context.insert("Project")["title"] = "new"
    try context.commit()
    store.close()
    let colored = try lines(["diff", other.path], columns: 200, isPlain: false, status: 1)
    #expect(
      colored.contains { $0.contains("\u{1B}[33m~ Employee/1 “Ada”\u{1B}[0m  age: 36 → 37") },
      "\(colored)")
    let text = colored.joined(separator: "\n")
    #expect(text.contains("\rcomparing"))
    try expectErased("comparing", before: "~ Employee/1", in: text)
    #expect(colored.contains { $0.contains("\u{1B}[32m+ Project/") }, "\(colored)")
    let plain = try lines(
      ["diff", other.path], columns: 200, isPlain: false, environment: ["NO_COLOR": "1"], status: 1)
    #expect(plain.contains { $0.hasSuffix("~ Employee/1 “Ada”  age: 36 → 37") }, "\(plain)")
    let piped = try Inspection.program.run(["diff", office.url.path, other.path])
    #expect(piped.errors.isEmpty && !piped.output.contains("\u{1B}"))
  }

  /// Expects that the line of progress is erased, and not shown again, before a text.
  private func expectErased(_ progress: String, before answer: String, in text: String) throws {
    // The line ends with the first sequence, and is erased by the others.
    let erased = try #require(text.range(of: "\u{1B}[K\r\u{1B}[K"), "\(text)")
    let rest = text[erased.upperBound...]
    #expect(text[..<erased.lowerBound].contains(progress) && !rest.contains(progress), "\(text)")
    #expect(rest.contains(answer), "\(text)")
  }

  @Test("The progress of sorting is erased before the rows")
  func sortingShowsItsProgress() throws {
    let query = ["query", "Employee", "--columns", "name", "--sort", "-age"]
    let text = try lines(query, isPlain: false).joined(separator: "\n")
    #expect(text.contains("\rsorting …"), "\(text)")
    try expectErased("sorting", before: "Grace", in: text)
    let piped = try Inspection.program.run([query[0], office.url.path] + query.dropFirst())
    #expect(piped.status == 0 && piped.errors.isEmpty)
    #expect(piped.output == "name\n\"Grace\"\n\"Edsger\"\n\"Ada\"\n3 rows\n")
  }

  @Test("Expanded rows have a line for each column")
  func expandedRowsHaveALineForEachColumn() throws {
    let outcome = try Inspection.program.run([
      "query", office.url.path, "Employee", "age > 40", "--columns", "name,age", "--sort", "-age",
      "--expanded",
    ])
    #expect(
      outcome.output == """
        row 1
        name  "Grace"
        age   45

        row 2
        name  "Edsger"
        age   41

        2 rows

        """)
    let tables = try Inspection.program.run(["tables", office.url.path, "--expanded"]).output
    #expect(tables.hasPrefix("row 1\nentries  "), "\(tables)")
    #expect(
      try Inspection.program.run(["tables", office.url.path, "--expanded", "--csv"]).status == 64)
  }

  @Test("Colors are used only in terminals, and can be turned off")
  func colorsAreForTerminalsThatWantThem() throws {
    let heading = "\u{1B}[1m"
    #expect(try lines(["tables"], isPlain: false)[0].hasPrefix(heading))
    #expect(try lines(["query", "Office"], isPlain: false)[0].hasPrefix(heading))
    for environment in [["NO_COLOR": "1"], ["TERM": "dumb"]] {
      let lines = try lines(["tables"], isPlain: false, environment: environment)
      #expect(!lines.joined().contains("\u{1B}"), "\(lines)")
    }
    #expect(!(try Inspection.program.run(["tables", office.url.path]).output.contains("\u{1B}")))
    let error = try lines(["count", "Nobody"], isPlain: false, status: 1)
    #expect(
      error[0].hasPrefix("\u{1B}[31mlmdb-inspect:\u{1B}[0m The model has no entity Nobody."),
      "\(error)")
  }

  @Test("Long output is shown in the pager")
  func longAnswersPassThroughThePager() throws {
    let pager = ["PAGER": "sed 's/^/paged /'"]
    let query = ["query", "Employee", "--expanded"]
    let paged = try lines(query, rows: 8, environment: pager)
    #expect(paged.contains("paged row 1") && paged.contains("paged 3 rows"), "\(paged)")
    for (arguments, rows) in [(query + ["--no-pager"], 8), (query, 80), (["count"], 8)] {
      let lines = try lines(arguments, rows: rows, environment: pager)
      #expect(!lines.contains { $0.hasPrefix("paged") }, "\(lines)")
    }
    let piped = try Inspection.program.run(
      ["query", office.url.path, "Employee", "--expanded"], environment: pager)
    #expect(!piped.output.contains("paged"))
    // An error is printed once the pager has ended.
    let store = try PersistentStore(at: .file(office.url))
    let context = store.makeContext()
    for number in 0..<5000 { try context.insert("Project")["title"] = "project \(number)" }
    try context.commit()
    store.close()
    // A reader that quits the pager has seen enough.
    let first = try lines(["dump", "Project"], rows: 8, environment: ["PAGER": "head -n 1"])
    #expect(first.count { $0.hasPrefix("Project/") } == 1, "\(first.prefix(3))")
  }

  @Test("Sizes have units")
  func sizesHaveUnits() throws {
    let tables = try Inspection.program.run(["tables", office.url.path]).output
    #expect(tables.hasPrefix("entries  pages     size  depth") && tables.contains(" 4.0 KiB "))
    let exact = try Inspection.program.run(["tables", office.url.path, "--bytes"]).output
    #expect(exact.hasPrefix("entries  pages  bytes  depth") && exact.contains(" 4096 "))
    #expect(
      [0, 1023, 1024, 1535, 1_048_575, 1 << 20, 5 << 40].map(SizeText.text) == [
        "0 B", "1023 B", "1.0 KiB", "1.4 KiB", "1023.9 KiB", "1.0 MiB", "5.0 TiB",
      ])
  }

  @Test("Objects have labels")
  func objectsHaveLabels() throws {
    let show = try Inspection.program.run(["show", office.url.path, "Employee/1"]).output
    #expect(show.contains(/office +Office\/1 “Riga”\n/), "\(show)")
    #expect(show.contains("1: Project/1 “Ångström \"two\"”"), "\(show)")
    let query = try Inspection.program.run(
      ["query", office.url.path, "Employee", "--columns", "SELF AS id, office", "--limit", "1"]
    ).output
    #expect(
      query == "id                office\nEmployee/1 “Ada”  Office/1 “Riga”\n1 row\n", "\(query)")
    let dump = try Inspection.program.run(
      ["dump", office.url.path, "Employee", "--limit", "1"]
    ).output
    #expect(dump.contains("  office=Office/1 “Riga”\n1 object\n"), "\(dump)")
    let store = try PersistentStore(at: .file(office.url))
    let context = store.makeContext()
    try #require(try context.fetchOne("Office"))["city"] = "\u{1B}[2J\u{202E}x"
    try context.commit()
    store.close()
    let hostile = try Inspection.program.run(["show", office.url.path, "Employee/1"]).output
    #expect(hostile.contains("Office/1 “\\u{1B}[2J\\u{202E}x”"), "\(hostile)")
  }

  @Test(
    "Long-running verbs show their progress",
    arguments: [
      (["check"], "checking: records of Employee, "), (["scrub"], "scrubbing: 100 %"),
      (["copy", "NEW"], "copying …"), (["compact"], "compacting …"),
      (["dump", "-o", "NEW"], "writing "), (["count", "Employee", "age > 40"], "counting …"),
      (["space", "--no-pager"], "measuring …"),
      (["explain", "Employee", "rate > 0.1", "--analyze"], "analyzing …"),
      (["explain", "Employee", "rate > 0.1", "--what-if", "rate"], "estimating the index …"),
    ])
  func longVerbsShowTheirProgress(_ arguments: [String], _ line: String) throws {
    let target = office.folder.path("new")
    let words = arguments.map { $0.replacing("NEW", with: target) }
    let terminal = try PseudoTerminal(
      Inspection.program.executable, [words[0], office.url.path] + words.dropFirst())
    #expect(terminal.waitForEnd() == 0)
    let text = String(decoding: terminal.output, as: UTF8.self)
    #expect(text.contains("\r\(line)"), "\(text)")
    // The line is erased.
    #expect(terminal.wait { _ in true }.lines.allSatisfy { !$0.contains(line) })
    try? FileManager.default.removeItem(atPath: target)
    let piped = try Inspection.program.run([words[0], office.url.path] + words.dropFirst())
    #expect(piped.status == 0 && piped.errors.isEmpty, "\(piped.errors)")
  }

  @Test("The help of every verb has an example")
  func everyVerbHasAnExample() throws {
    let all = try Inspection.program.run(["--help"]).output
    let names = all.matches(of: /\n {2}([a-z]+) {2,}/).map { String($0.output.1) }
    #expect(names.count > 25)
    for name in names where name != "help" {
      let help = try Inspection.program.run([name, "--help"]).output
      #expect(help.contains("Example: lmdb-inspect \(name)"), "\(name)")
    }
  }
}
