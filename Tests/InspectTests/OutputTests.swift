import ArborData
import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// Output and error messages, including to closed or full destinations.
@Suite struct OutputTests {
  private let office: OfficeStore
  private var path: String { office.url.path }

  init() throws { office = try OfficeStore() }

  /// Runs the program in a shell that redirects its streams.
  private func run(_ arguments: [String], _ redirections: String) throws -> BuiltProgram.Outcome {
    try BuiltProgram(at: URL(filePath: "/bin/sh")).run(
      ["-c", "exec \"$@\" \(redirections)", "sh", Inspection.program.executable.path] + arguments)
  }

  private func document(_ text: String) throws -> Any {
    try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
  }

  private func check() throws {
    #expect(try Inspection.program.run(["check", path]).status == 0)
  }

  @Test(
    "Output that cannot be written is reported in one line and exits with code 74",
    arguments: [
      ["info"], ["tables", "--json"], ["dump"], ["dump", "--ndjson"], ["query", "Employee"],
      ["query", "Employee", "--json"], ["schema"], ["explain", "Employee"],
    ], [">/dev/full", ">&-"])
  func outputThatCannotBeWritten(_ arguments: [String], _ redirection: String) throws {
    let outcome = try run([arguments[0], path] + arguments.dropFirst(), redirection)
    #expect(outcome.status == 74)
    let lines = outcome.errors.split(separator: "\n")
    #expect(lines.count == 1, "\(outcome.errors)")
    let reason = redirection == ">&-" ? "Bad file descriptor" : "No space left on device"
    let message = "The output cannot be written: \(reason). It is incomplete."
    if arguments.contains("--json") {
      let error = (try document(outcome.errors) as? [String: [String: Any]])?["error"]
      #expect(error?["message"] as? String == message && error?["exitCode"] as? Int == 74)
    } else {
      #expect(outcome.errors == "lmdb-inspect: \(message)\n")
    }
    try check()
  }

  @Test(
    "Help texts that cannot be written exit with code 74",
    arguments: [["--help"], ["help", "info"], ["manual"], ["--version"]])
  func textsThatCannotBeWritten(_ arguments: [String]) throws {
    #expect(try run(arguments, ">/dev/full").status == 74)
  }

  @Test("With closed streams, no output is written into the store")
  func closedStreams() throws {
    let before = try Data(contentsOf: office.url)
    for redirection in [">&-", "<&- >&-", "2>&- >&-", "<&- >&- 2>&-"] {
      #expect(try run(["dump", path], redirection).status == 74, "\(redirection)")
      #expect(try run(["dump", path, "Nobody"], redirection).status == 1, "\(redirection)")
    }
    #expect(try Data(contentsOf: office.url) == before)
    let lock = try? Data(contentsOf: URL(filePath: path + "-lock"))
    #expect(lock?.range(of: Data("lmdb-inspect".utf8)) == nil)
    #expect(lock?.range(of: Data("Grace".utf8)) == nil)
    #expect(try run(["info", path], "2>/dev/full").status == 0)
    #expect(try run(["info", path + "x"], "2>/dev/full").status == 2)
    try check()
  }

  @Test("After damage, the list is still valid JSON, and so is the error")
  func damagedLists() throws {
    var bytes = try Data(contentsOf: office.url)
    let title = try #require(bytes.range(of: Data("ngström".utf8)))
    bytes[title.lowerBound] ^= 1
    try bytes.write(to: office.url)
    let dump = try Inspection.program.run(["dump", path, "--json"])
    #expect(dump.status == 2)
    let list = try #require(try document(dump.output) as? [[String: Any]])
    #expect(
      list.compactMap { $0["entity"] as? String } == Array(repeating: "Employee", count: 3) + [
        "Office"
      ])
    let error = (try document(dump.errors) as? [String: [String: Any]])?["error"]
    #expect(error?["exitCode"] as? Int == 2)
    let message = try #require(error?["message"] as? String)
    #expect(message.hasPrefix("\(path): The store is damaged: the record's checksum"), "\(message)")
    #expect(message.contains("(Project 1)") && !message.contains("PersistentStore"), "\(message)")
    let query = try Inspection.program.run(["query", path, "Project", "--json"])
    #expect(query.status == 2 && query.output.isEmpty)
    // In text format the objects that could be read are printed before the message.
    let text = try Inspection.program.run(["dump", path])
    #expect(text.status == 2 && text.output.split(separator: "\n").count == 4)
    #expect(text.errors == "lmdb-inspect: \(message)\n")
  }

  /// The rows before the damaged one are printed.
  @Test("Rows that are cut by damage are still valid JSON")
  func damagedRows() throws {
    let store = try PersistentStore(at: .file(office.url))
    let context = store.makeContext()
    for number in 0..<20_000 {
      try context.insert("Project")["title"] = PropertyValue.string("title \(10_000 + number).")
    }
    try context.commit()
    store.close()
    var bytes = try Data(contentsOf: office.url)
    let last = Data("title 29999.".utf8)
    try #require(bytes.range(of: last) != nil)
    while let title = bytes.range(of: last) { bytes[title.lowerBound] ^= 1 }
    try bytes.write(to: office.url)
    for form in ["--json", "--ndjson"] {
      let query = try Inspection.program.run(["query", path, "Project", form])
      #expect(query.status == 2, "\(query.errors)")
      var rows: [[String: Any]] = []
      if form == "--json" {
        rows = try #require(try document(query.output) as? [[String: Any]])
      } else {
        for line in query.output.split(separator: "\n") {
          rows.append(try #require(try document(String(line)) as? [String: Any]))
        }
      }
      #expect(rows.count > 100 && rows.count < 20_001, "\(rows.count)")
      #expect(rows.dropFirst().first?["title"] as? String == "title 10000.")
    }
    let errors = try Inspection.program.run(["query", path, "Project", "--json"]).errors
    let error = (try document(errors) as? [String: [String: Any]])?["error"]
    #expect(error?["exitCode"] as? Int == 2, "\(errors)")
  }

  @Test("Usage errors are JSON, too")
  func mistakesOfUse() throws {
    for arguments in [["peek", path], ["info"], ["query", path, "Employee", "--limit", "0"]] {
      let outcome = try Inspection.program.run(arguments + ["--json"])
      #expect(outcome.status == 64 && outcome.output.isEmpty)
      let error = (try document(outcome.errors) as? [String: [String: Any]])?["error"]
      #expect(error?["exitCode"] as? Int == 64 && error?["message"] as? String != "")
    }
  }

  @Test("An interrupted load leaves nothing", arguments: [SIGINT, SIGTERM, SIGHUP, SIGKILL])
  func interruptedLoad(_ signal: Int32) throws {
    let seed = office.folder.path("many.ndjson")
    let documents = (0..<60_000).map { "{\"Project\": {\"title\": \"number \($0)\"}}\n" }.joined()
    try Data(documents.utf8).write(to: URL(filePath: seed))
    let copy = office.folder.path("Copy.arbor")
    let load = ["load", copy, seed, "--like", path]
    let program = try StartedProgram(Inspection.program.executable, load)
    func files() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: office.folder.url.path)
        .filter { $0.hasPrefix("Copy") }
    }
    while try !files().contains(where: { $0.hasSuffix("-lock") }) { usleep(1000) }
    #expect(try !files().contains("Copy.arbor"))
    kill(program.identifier, signal)
    #expect(program.wait() == signal)
    if signal != SIGKILL { #expect(try files().isEmpty) }
    #expect(try !files().contains("Copy.arbor"))
    // The next run removes the leftovers.
    let few = office.folder.path("few.ndjson")
    try Data(documents.prefix(200).split(separator: "\n").dropLast().joined(separator: "\n").utf8)
      .write(to: URL(filePath: few))
    #expect(try Inspection.program.run(["load", copy, few, "--like", path]).status == 0)
    #expect(try files().filter { !$0.hasSuffix("-lock") } == ["Copy.arbor"])
    #expect(try Inspection.program.run(["check", copy]).status == 0)
  }
}
