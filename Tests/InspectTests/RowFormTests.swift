import ArborData
import Foundation
import TestSupport
import Testing

/// The forms of rows, and the file that they can be written to.
@Suite("The forms of rows") struct RowFormTests {
  private let office: OfficeStore
  private var path: String { office.url.path }

  init() throws { office = try OfficeStore() }

  private func run(_ arguments: String...) throws -> BuiltProgram.Outcome {
    try Inspection.program.run(
      [arguments[0], path] + arguments.dropFirst().map { $0.replacing("STORE", with: path) })
  }

  private func setTitle(_ title: PropertyValue, name: String = "Ada") throws {
    let store = try PersistentStore(at: .file(office.url))
    defer { store.close() }
    let context = store.makeContext()
    try #require(try context.fetchOne("Project"))["title"] = title
    try #require(try context.fetchOne("Employee", matching: "age == 36"))["name"] = name
    try context.commit()
  }

  @Test("Comma-separated values are quoted")
  func commaSeparatedValuesAreQuoted() throws {
    try setTitle("a,\"b\u{301}\"\r\nc", name: "")
    #expect(
      try run("query", "Project", "--columns", "title", "--csv").output
        == "title\n\"a,\"\"b\u{301}\"\"\r\nc\"\n")
    // An empty string is not an absent value.
    let row = try run(
      "query", "Employee", "age == 36 OR name == 'Grace'", "--columns", "name,born,age", "--sort",
      "age", "--csv")
    #expect(
      row.output == "name,born,age\n\"\",2001-09-09T01:46:40.250Z,36\nGrace,,45\n", "\(row)")
  }

  @Test("Tab-separated values are escaped")
  func tabSeparatedValuesAreEscaped() throws {
    try setTitle("a\tb\\c\r\nd")
    #expect(
      try run("query", "Project", "--columns", "title", "--tsv").output
        == "title\na\\tb\\\\c\\r\\nd\n")
  }

  @Test("Markdown in values is escaped")
  func markdownIsShownAsItIs() throws {
    try setTitle("a|b <i>*x*\n\u{202E}")
    #expect(
      try run("query", "Project", "--columns", "title", "--markdown").output
        == "| title |\n| --- |\n| a\\|b \\<i\\>\\*x\\*\\\\n\\\\u{202E} |\n")
  }

  @Test("Every row is a JSON document in its own line")
  func linesAreDocuments() throws {
    let outcome = try run("query", "Employee", "--columns", "name,age", "--sort", "age", "--ndjson")
    #expect(
      outcome.output == """
        {"name":"Ada","age":36}
        {"name":"Edsger","age":41}
        {"name":"Grace","age":45}

        """)
  }

  @Test("Other verbs have the same forms", arguments: ["--csv", "--tsv", "--ndjson", "--markdown"])
  func otherVerbsHaveThemToo(_ form: String) throws {
    for verb in [["tables"], ["index"], ["readers"], ["count"], ["count", "Office"]] {
      let outcome = try Inspection.program.run([verb[0], path] + verb.dropFirst() + [form])
      #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(verb): \(outcome)")
      let json = try Inspection.program.run([verb[0], path] + verb.dropFirst() + ["--json"])
      let document = try JSONSerialization.jsonObject(
        with: Data(json.output.utf8), options: .fragmentsAllowed)
      let count = (document as? [Any])?.count ?? (document as? [String: Any])?.count ?? 1
      let header = ["--ndjson": 0, "--markdown": 2][form] ?? 1
      #expect(outcome.output.split(separator: "\n").count == header + count, "\(outcome.output)")
    }
  }

  @Test("Dumped objects have the columns of their entity")
  func dumpedObjectsHaveTheColumnsOfTheirEntity() throws {
    let lines = try run("dump", "Person", "--csv").output.split(separator: "\n")
    #expect(
      lines.first == "@id,name,born,badge,age,salary,rate,isActive,photo,page,office")
    #expect(lines.count == 4)
    #expect(
      lines[1] == "Employee/1,Ada,2001-09-09T01:46:40.250Z,\(OfficeStore.badge),36,"
        + "1234567890123456789.25,0.5,true,yv4A,https://example.com/ada,Office/1")
    let all = try run("dump", "--csv")
    #expect(all.status == 64 && all.errors.contains("need the name of an entity"))
    let table = try run("dump", "e/Office", "--tsv").output.split(separator: "\n")
    #expect(table.first == "table\tkey\tkeyText\tvalue\tvalueText" && table.count == 2)
  }

  @Test(
    "Forms that contradict each other are refused",
    arguments: [
      ["--csv", "--tsv"], ["--json", "--csv"], ["--force"], ["--ndjson", "--markdown"],
    ])
  func formsThatContradict(_ options: [String]) throws {
    let outcome = try Inspection.program.run(["query", path, "Office"] + options)
    #expect(outcome.status == 64 && outcome.output.isEmpty, "\(outcome)")
  }

  @Test("An output file is written completely")
  func aFileIsWrittenWhole() throws {
    let target = office.folder.path("rows.csv")
    let printed = try run("query", "Employee", "--csv")
    for verb in [["query", "Employee", "--csv"], ["dump", "Employee", "--csv"]] {
      try? FileManager.default.removeItem(atPath: target)
      let outcome = try Inspection.program.run(
        [verb[0], path] + verb.dropFirst() + ["-o", target])
      #expect(outcome.status == 0 && outcome.output.isEmpty && outcome.errors.isEmpty)
      #expect(try String(contentsOfFile: target, encoding: .utf8).hasPrefix("@id,name,"))
    }
    let again = try run("query", "Employee", "--csv", "-o", target)
    #expect(again.status == 1 && again.errors.contains("add --force"))
    #expect(try run("query", "Employee", "--csv", "-o", target, "--force").status == 0)
    #expect(try String(contentsOfFile: target, encoding: .utf8) == printed.output)
    // A verb that fails leaves the former file.
    #expect(try run("query", "Nobody", "--csv", "-o", target, "--force").status == 1)
    #expect(try String(contentsOfFile: target, encoding: .utf8) == printed.output)
    let seeds = office.folder.path("seeds.ndjson")
    #expect(try run("dump", "--ndjson", "-o", seeds).status == 0)
    #expect(
      try String(contentsOfFile: seeds, encoding: .utf8) == run("dump", "--ndjson").output)
    try expectNoLeftovers()
  }

  @Test("The store is never replaced by the output")
  func theStoreIsNeverReplaced() throws {
    let before = try Data(contentsOf: office.url)
    for target in ["STORE", "STORE-lock"]
    where FileManager.default.fileExists(
      atPath: target.replacing("STORE", with: path))
    {
      let outcome = try run("query", "Employee", "-o", target, "--force")
      #expect(outcome.status == 1 && outcome.errors.contains("being read"), "\(outcome)")
    }
    let device = try run("query", "Employee", "-o", "/dev/null", "--force")
    #expect(device.status == 1 && device.errors.contains("not a regular file"))
    #expect(try run("query", "Employee", "-o", "STOREx/rows").status == 2)
    #expect(try Data(contentsOf: office.url) == before)
  }

  @Test("A full disk leaves no output file")
  func aFullDiskLeavesNothing() throws {
    let target = office.folder.path("rows")
    // The message passes through a process without the limit.
    let script = "(ulimit -f 0; trap '' XFSZ; exec \"$@\") 2>&1 | cat; exit ${PIPESTATUS[0]}"
    let outcome = try BuiltProgram(at: URL(filePath: "/bin/bash")).run([
      "-c", script, "bash",
      Inspection.program.executable.path, "dump", path, "--immutable", "-o", target,
    ])
    #expect(outcome.status == 74, "\(outcome)")
    #expect(outcome.output.contains("\(target) cannot be written: File too large"))
    #expect(!FileManager.default.fileExists(atPath: target))
    try expectNoLeftovers()
  }

  @Test("An interruption leaves no partial file", arguments: [SIGINT, SIGTERM])
  func anInterruptionLeavesNothing(_ signal: Int32) throws {
    let store = try PersistentStore(at: .file(office.url))
    let context = store.makeContext()
    for number in 0..<20_000 { try context.insert("Project")["title"] = "project \(number)" }
    try context.commit()
    store.close()
    let target = office.folder.path("rows")
    // The file is created before the store is read, so the signal almost always interrupts.
    let program = try StartedProgram(
      Inspection.program.executable, ["dump", path, "--json", "-o", target])
    func files() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: office.folder.url.path)
        .filter { $0.hasPrefix("rows") }
    }
    while try files().isEmpty { usleep(100) }
    kill(program.identifier, signal)
    let status = program.wait()
    let left = try files()
    #expect(left == (status == 0 ? ["rows"] : []), "\(status)")
    #expect(status == 0 || status == signal)
  }

  private func expectNoLeftovers() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: office.folder.url.path)
    #expect(!names.contains { $0.contains(".new-") }, "\(names)")
  }
}
