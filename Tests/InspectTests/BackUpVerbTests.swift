import ArborData
import Foundation
import TestSupport
import Testing

/// The commands for logs: `backup`, `restore` and `log`.
@Suite struct BackUpVerbTests {
  private let office: OfficeStore
  private let log: FolderLog
  private var folder: String { office.folder.path("log") }
  private var store: String { office.url.path }

  init() throws {
    office = try OfficeStore()
    log = FolderLog(office.folder.url.appending(path: "log"))
  }

  private func run(_ arguments: String...) throws -> BuiltProgram.Outcome {
    try Inspection.program.run(arguments)
  }

  private func json(_ arguments: String...) throws -> Any {
    let outcome = try Inspection.program.run(arguments + ["--json"])
    #expect(outcome.status == 0, "\(outcome.errors)")
    return try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
  }

  private func insert(_ city: String, _ store: PersistentStore) throws {
    let context = store.makeContext()
    try context.insert("Office")["city"] = city
    try context.commit()
  }

  /// Returns a date as it is formatted in the output.
  private func text(_ date: Date, _ rule: FloatingPointRoundingRule = .down) -> String {
    Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.rounded(rule))
      .formatted(.iso8601)
  }

  private func dump(_ path: String) throws -> String { try run("dump", path).output }

  @Test("A store in use is backed up")
  func backsUpAStoreThatIsInUse() throws {
    let store = try PersistentStore(at: .file(office.url))
    defer { store.close() }
    let context = store.makeContext()
    try context.withSnapshot {
      let first = try run("backup", self.store, folder)
      #expect(
        first.output == "snapshot  yes\ncommits   0\nsequence  1\n")
    }
    try insert("Oslo", store)
    try insert("Kyiv", store)
    let answer = try #require(try json("backup", self.store, folder) as? [String: Any])
    #expect(answer["snapshot"] as? Bool == false)
    #expect(answer["commits"] as? Int == 2 && answer["sequence"] as? Int == 3)
    #expect(
      try run("backup", self.store, folder, "--snapshot").output
        == "snapshot  yes\ncommits   0\nsequence  3\n")
  }

  @Test("Points given by sequence or date are restored")
  func restoresPoints() throws {
    #expect(try run("backup", store, folder).status == 0)
    let first = try dump(store)
    let store = try PersistentStore(at: .file(office.url))
    let between = Date()
    try insert("Oslo", store)
    store.close()
    #expect(try run("backup", self.store, folder).status == 0)
    let path = office.folder.path("restored.arbor")
    let newest = try run("restore", folder, path, "--bytes")
    let size = try Data(contentsOf: URL(filePath: path)).count
    #expect(
      newest.output == "path      \(path)\nsequence  2\nsize      \(size)\n", "\(newest.errors)")
    #expect(try dump(path) == dump(self.store))
    #expect(try run("check", path).status == 0)
    let again = try run("restore", folder, path)
    #expect(again.status == 1)
    #expect(
      again.errors
        == "lmdb-inspect: \(path) already exists and will not be overwritten. "
        + "Choose another path.\n")
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    for (number, point) in [["--sequence", "1"], ["--at", between.formatted(style)]].enumerated() {
      let path = office.folder.path("restored-\(number).arbor")
      let outcome = try Inspection.program.run(["restore", folder, path] + point)
      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(try dump(path) == first)
    }
  }

  @Test("The error of a failed restore contains the reason")
  func tellsWhyItRestoresNothing() throws {
    let path = office.folder.path("restored.arbor")
    let none = try run("restore", folder, path)
    #expect(none.status == 2)
    #expect(
      none.errors == "lmdb-inspect: \(folder): There is no log in \(folder). Check the path, or "
        + "create the log with a backup.\n")
    #expect(try run("backup", store, folder).status == 0)
    let later = try run("restore", folder, path, "--sequence", "7")
    #expect(later.status == 1)
    #expect(
      later.errors
        == "lmdb-inspect: The log \(folder) cannot restore commit 7: it ends with commit "
        + "1. Choose another point.\n")
    let date = try run("restore", folder, path, "--at", "noon")
    #expect(date.status == 64)
    #expect(
      date.errors.hasPrefix(
        "Error: “noon” is not a valid date. Write it as 2026-11-23T12:30:00Z.\n"),
      "\(date.errors)")
    let both = try run(
      "restore", folder, path, "--at", "2026-11-23T12:30:00Z", "--sequence", "1")
    #expect(both.status == 64)
    #expect(both.errors.hasPrefix("Error: Use either --at or --sequence.\n"))
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("Snapshots and commits of a log are listed and verified")
  func listsAndVerifies() throws {
    #expect(try run("log", folder).status == 2)
    #expect(try run("backup", store, folder).status == 0)
    let store = try PersistentStore(at: .file(office.url))
    try insert("Oslo", store)
    store.close()
    #expect(try run("backup", self.store, folder).status == 0)
    let contents = try log.contents()
    let snapshot = try #require(contents.snapshots.first)
    let made = text(snapshot.date)
    let from = text(snapshot.commitDate, .up)
    let table =
      "snapshot  created               restores from         bytes  up to  bytes of commits\n"
      + "       1  \(made)  \(from)  \(snapshot.bytes)      2  "
      + String(repeating: " ", count: 16 - "\(snapshot.commitBytes)".count)
      + "\(snapshot.commitBytes)\n"
    let id = contents.storeID.uuidString
    #expect(try run("log", folder, "--bytes").output == "store   \(id)\nnewest  2\n\n" + table)
    #expect(
      try run("log", folder, "--verify", "--bytes").output
        == "store     \(id)\nnewest    2\nproblems  no problems\n\n" + table)
    let answer = try #require(try json("log", folder, "--verify") as? [String: Any])
    #expect(answer["store"] as? String == id && answer["newest"] as? Int == 2)
    #expect((answer["problems"] as? [Any])?.isEmpty == true)
    let listed = try #require(answer["snapshots"] as? [[String: Any]])
    #expect(listed.map { $0["date"] as? String } == [made])
    #expect(listed.map { $0["commitDate"] as? String } == [from])
    let numbers = ["sequence", "lastSequence", "bytes", "commitBytes"]
    let expected = [1, 2, Int(snapshot.bytes), Int(snapshot.commitBytes)]
    #expect(listed.map { snapshot in numbers.map { snapshot[$0] as? Int } } == [expected])
  }

  @Test("Verifying a damaged log reports the missing or damaged commits")
  func namesWhatIsDamaged() throws {
    #expect(try run("backup", store, folder).status == 0)
    let store = try PersistentStore(at: .file(office.url))
    try insert("Oslo", store)
    store.close()
    #expect(try run("backup", self.store, folder).status == 0)
    let segment = folder + "/base-00000001/00000000000000000002-00000000000000000002.segment"
    var bytes = try Data(contentsOf: URL(filePath: segment))
    try bytes.prefix(bytes.count - 40).write(to: URL(filePath: segment))
    let cut = try run("log", folder, "--verify")
    #expect(cut.status == 1)
    #expect(
      cut.output.contains("\nproblems  Commits 2 to 2 are missing at the end.\n"),
      "\(cut.output)")
    bytes[bytes.count - 60] ^= 1
    try bytes.write(to: URL(filePath: segment))
    let damaged = try run("log", folder, "--verify")
    #expect(damaged.status == 1)
    #expect(
      damaged.output.contains(
        "\nproblems  \(segment) is damaged: commit 2 is damaged. Restore the file from another "
          + "copy of the log.\n"), "\(damaged.output)\(damaged.errors)")
  }
}
