import ArborData
import Foundation
import TestSupport
import Testing

@testable import lmdb_inspect

/// Equal causes have equal exit codes, and error messages are free of API terms.
@Suite struct ExitCodeTests {
  private let office: OfficeStore

  init() throws { office = try OfficeStore() }

  /// Runs the program, with `STORE`, `FOREIGN` and `FOLDER` in the arguments replaced by paths.
  private func run(_ arguments: [String]) throws -> BuiltProgram.Outcome {
    let foreign = try ForeignFile()
    defer { foreign.remove() }
    let paths = [
      "STORE": office.url.path, "FOREIGN": foreign.data.path, "FOLDER": office.folder.url.path,
    ]
    return try Inspection.program.run(
      arguments.map { argument in
        paths.reduce(argument) { $0.replacing($1.key, with: $1.value) }
      })
  }

  private func expect(_ status: Int32, _ arguments: String) throws {
    let words = arguments.split(separator: " ").map { String($0).replacing("_", with: " ") }
    let outcome = try run(words)
    #expect(outcome.status == status, "\(arguments): \(outcome)")
    for word in ["Error Domain", "NSCocoa", "(_:", "options.", "PersistentStore", "Optional("] {
      #expect(!outcome.errors.contains(word), "\(arguments): \(outcome.errors)")
    }
    if status != 0, status != 64 {
      #expect(outcome.errors.hasPrefix("lmdb-inspect: "), "\(arguments): \(outcome.errors)")
    }
  }

  @Test(
    "Answers exit with code 0",
    arguments: [
      "--version", "help", "help info", "help help", "--help", "info --help", "info STORE",
    ])
  func answers(_ arguments: String) throws { try expect(0, arguments) }

  @Test(
    "Missing or invalid arguments exit with code 1",
    arguments: [
      "query STORE Nobody", "count STORE Nobody age>1", "explain STORE Nobody",
      "index STORE Nobody",
      "schema STORE Nobody", "show STORE Nobody/1", "show STORE Employee/999", "show STORE x",
      "show STORE arbor://x", "get STORE e/Nobody 1", "get FOREIGN words nothing",
      "dump STORE Nobody", "dump STORE Nobody --ndjson", "dump STORE Employee --where nobody>1",
      "dump STORE Employee --where age_> --ndjson", "count STORE Employee age_>",
      "query STORE Employee age_>", "query STORE Employee --sort nobody",
      "query STORE Employee --sort sum(", "query STORE Employee --columns sum(",
      "query STORE Employee --columns age,age", "query STORE Employee --group nobody",
      "explain STORE Employee nobody>1", "explain STORE Employee --sort nobody",
      "query STORE --request nothing", "query STORE --named nothing", "queries STORE --remove x",
    ])
  func unknown(_ arguments: String) throws { try expect(1, arguments) }

  @Test(
    "An output file that already exists exits with code 1",
    arguments: [
      "copy STORE FOREIGN", "salvage STORE FOREIGN", "space STORE --svg FOREIGN",
      "query STORE Employee -o FOREIGN",
    ])
  func occupied(_ arguments: String) throws { try expect(1, arguments) }

  @Test(
    "A file that cannot be used exits with code 2",
    arguments: [
      "info STOREx", "query STOREx Employee", "check STOREx", "scrub STOREx", "compact STOREx",
      "serve STOREx", "load STOREx STORE", "load STOREx STOREy --like STORE",
      "load STOREx STORE --model STOREy", "load STOREx STORE --like STOREy", "migrate STOREx STORE",
      "plan STOREx STOREy", "salvage STOREx STOREy", "backup STOREx FOLDER/log",
      "diff STORE STOREx",
      "query FOREIGN Employee", "count FOREIGN words a>1", "schema FOREIGN", "explain FOREIGN x",
      "scrub FOREIGN", "compact FOREIGN", "serve FOREIGN --write", "index FOREIGN",
      "show FOREIGN x/1",
      "schema STORE.model.json", "copy STORE FOLDER/none/copy", "space STORE --svg FOLDER/none/x",
      "space STORE --svg FOLDER/none/x", "log FOLDER", "follow FOLDER/none STOREx --once",
      "restore FOLDER/none STOREx", "dump STOREx --ndjson", "info FOLDER", "queries FOREIGN",
      "query STORE Employee -o FOLDER/none/x",
    ])
  func unusable(_ arguments: String) throws { try expect(2, arguments) }

  @Test(
    "Usage errors exit with code 64",
    arguments: [
      "help nobody", "help infoo", "nobody", "info", "info STORE --nothing", "query STORE",
    ])
  func misunderstood(_ arguments: String) throws { try expect(64, arguments) }

  @Test("A full disk is reported as unwritable output")
  func aFullDiskIsOutputThatCannotBeWritten() {
    let error = InspectError(ArborError(.diskFull, "The disk is full."), on: "Staff.arbor")
    #expect(error.code == .unwritable && error.description == "Staff.arbor: The disk is full.")
  }

  @Test("The help suggests a similar topic")
  func helpOffersTheTopicThatWasMeant() throws {
    let outcome = try run(["help", "infoo"])
    #expect(outcome.errors.hasPrefix("Error: Unknown verb “infoo”. Did you mean “info”?\n"))
  }

  @Test("The version names the store format and the engine")
  func theVersionNamesTheFormatAndTheEngine() throws {
    let outcome = try run(["--version"])
    #expect(
      outcome.output.wholeMatch(of: /lmdb-inspect, store format \d+\.\d+, LMDB \d+\.\d+\.\d+\n/)
        != nil, "\(outcome.output)")
    let info = try run(["info", "STORE"]).output
    let format = try #require(info.firstMatch(of: /\nformat +(\d+\.\d+)\n/)?.output.1)
    #expect(outcome.output.contains("format \(format),"))
  }
}
