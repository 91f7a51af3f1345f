import ArborData
import Foundation
import TestSupport
import Testing

/// The command that keeps a replica up to date with a log.
@Suite struct FollowVerbTests {
  private let office: OfficeStore
  private var folder: String { office.folder.path("log") }
  private var replica: String { office.folder.path("replica.arbor") }

  init() throws { office = try OfficeStore() }

  private func run(_ arguments: String...) throws -> BuiltProgram.Outcome {
    try Inspection.program.run(arguments)
  }

  private func insert(_ city: String) throws {
    let store = try PersistentStore(at: .file(office.url))
    defer { store.close() }
    let context = store.makeContext()
    try context.insert("Office")["city"] = city
    try context.commit()
    try store.backUp(to: FolderLog(office.folder.url.appending(path: "log")))
  }

  private func read(_ program: StartedProgram) throws -> String {
    let bytes = program.read()
    try #require(!bytes.isEmpty)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test("Following once updates the replica")
  func bringsACopyUpOnce() throws {
    try insert("Oslo")
    #expect(try run("follow", folder, replica, "--once").output == "sequence 2\n")
    #expect(try run("dump", replica).output == run("dump", office.url.path).output)
    try insert("Kyiv")
    #expect(
      try run("follow", folder, replica, "--once", "--json").output == "{\"sequence\":3}\n")
    #expect(try run("dump", replica).output == run("dump", office.url.path).output)
    #expect(try run("check", replica).status == 0)
  }

  @Test("Without `--once`, the replica is kept up to date until the program is interrupted")
  func goesOnUntilItIsInterrupted() throws {
    try insert("Oslo")
    let program = try StartedProgram(
      Inspection.program.executable, ["follow", folder, replica, "--every", "0.01"], output: .pipe)
    defer { program.kill() }
    var told = ""
    while !told.contains("sequence 2\n") { told += try read(program) }
    try insert("Kyiv")
    while !told.contains("sequence 3\n") { told += try read(program) }
    #expect(told == "sequence 2\nsequence 3\n")
    let reader = try PersistentStore(
      at: .path(replica), options: StoreOptions(isReadOnly: true))
    #expect(reader.sequence == 3)
    reader.close()
  }

  @Test("The error contains the reason if a replica cannot follow a log")
  func tellsWhyItDoesNotFollow() throws {
    let none = try run("follow", folder, replica)
    #expect(none.status == 2)
    #expect(
      none.errors
        == "lmdb-inspect: \(folder): There is no log in \(folder). Check the path, or create the "
        + "log with a backup.\n")
    try insert("Oslo")
    let own = try run("follow", folder, office.url.path, "--once")
    #expect(own.status == 2)
    #expect(own.errors.contains("is an independent store, which doesn't follow the log"))
    #expect(try run("follow", folder, replica, "--every", "0").status == 64)
  }
}
