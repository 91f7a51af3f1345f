import ArborLog
import ArborModel
import ArborObjects
import Foundation
import TestLength
import TestSupport
import Testing

@testable import ArborPostgres

/// Stores in separate processes that write while the servers, and the processes themselves, are
/// killed, stopped and replaced.
@Suite("Stores that share a log during failures", .enabled(if: PostgresServer.isInstalled))
struct SharedStoresStormTests {
  private static let length = TestLength.of(20, long: 600)

  /// A machine: a folder and its current process.
  private final class Machine {
    let folder: TemporaryFolder
    let name: String
    private let connection: String
    private let output: FileHandle
    private let errors: FileHandle
    private var program: StartedProgram?

    var store: String { folder.path("store.arbor") }

    init(_ name: String, _ connection: String) throws {
      (self.name, self.connection) = (name, connection)
      folder = try TemporaryFolder()
      for file in ["told", "errors"] { try Data().write(to: folder.url.appending(path: file)) }
      output = try FileHandle(forWritingTo: folder.url.appending(path: "told"))
      errors = try FileHandle(forWritingTo: folder.url.appending(path: "errors"))
    }

    func start(seconds: Int) throws {
      program = try StartedProgram(
        BuiltProgram("log-writer").executable, [store, connection, name, String(seconds)],
        output: .file(output), errors: .file(errors))
    }

    func kill() {
      program?.kill()
      _ = program?.wait()
    }

    func wait() -> Int32 { program?.wait() ?? -1 }

    /// Returns the acknowledged marks. An incomplete line wasn't acknowledged.
    func told() throws -> [String] {
      let text = try String(contentsOf: folder.url.appending(path: "told"), encoding: .utf8)
      return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        .map(String.init)
    }

    /// Returns the codes of the logged errors.
    func problems() throws -> [Substring] {
      try String(contentsOf: folder.url.appending(path: "errors"), encoding: .utf8)
        .split(separator: "\n").compactMap { $0.split(separator: ":").first }
    }
  }

  @Test("All copies agree, and nothing is lost or duplicated")
  func allCopiesAgreeAndNothingIsLostOrDoubled() throws {
    let seed = UInt64.random(in: 0...(.max))
    print("SharedStoresStormTests: seed \(seed), \(Self.length) s")
    let cluster = try PostgresCluster()
    try cluster.waitForStandbys()
    let machines = try (1...4).map { try Machine("w\($0)", cluster.connection) }
    for machine in machines {
      try machine.start(seconds: Self.length + 3)
      // The log is started and each machine has its file before anything fails.
      let patience = Deadline(.seconds(120))
      while try machine.told().isEmpty, !patience.isOver { usleep(10_000) }
    }
    var storm = Storm(cluster, seed: seed)
    let end = Deadline(.seconds(Self.length))
    while !end.isOver {
      try storm.next()
      let left = Int(end.milliseconds) / 1000
      if Int.random(in: 0..<4, using: &storm.random) == 0, left > 0 {
        let machine = machines[Int.random(in: 0..<4, using: &storm.random)]
        machine.kill()
        try machine.start(seconds: left + 3)
        storm.events.append("writer killed")
      }
    }
    try cluster.waitForStandbys()
    for machine in machines { #expect(machine.wait() == 0) }

    let told = try machines.flatMap { try $0.told() }
    let log = try PostgresLog(cluster.connection)
    let contents = try machines.map { try copy(at: $0.store, log) }
    for other in contents.dropFirst() {
      #expect(other.marks == contents[0].marks, "seed \(seed)")
      #expect(other.tally == contents[0].tally, "seed \(seed)")
    }
    let counts = Dictionary(contents[0].marks.map { ($0, 1) }, uniquingKeysWith: +)
    #expect(told.filter { counts[$0] == nil } == [], "lost, seed \(seed)")
    #expect(counts.filter { $0.value > 1 }.isEmpty, "doubled, seed \(seed)")
    // Each commit saw the previous one.
    #expect(contents[0].tally == contents[0].marks.count, "seed \(seed)")
    #expect(Set(told).count == told.count && told.count > 20)
    let problems = Dictionary(
      try machines.flatMap { try $0.problems() }.map { ($0, 1) }, uniquingKeysWith: +)
    print(
      "SharedStoresStormTests: \(told.count) acknowledged of \(contents[0].marks.count), "
        + "\(storm.summary), \(problems)")
  }

  /// Returns the contents of a copy that is up to date, and checks it.
  private func copy(at path: String, _ log: PostgresLog) throws -> (marks: [String], tally: Int) {
    let found: (marks: [String], tally: Int)
    do {
      let store = try open(path, log)
      defer { store.close() }
      try store.catchUp()
      let context = store.makeContext()
      let marks = try context.objects("Mark").fetch().map { $0["code"] as String }
      found = (marks.sorted(), (try context.fetchOne("Tally")?["count"] as Int?) ?? 0)
    }
    try TemporaryStore.check(path: path)
    return found
  }

  /// Opens a copy. If it has entries that a server then lost, it reports that once and is rebuilt.
  private func open(_ path: String, _ log: PostgresLog) throws -> PersistentStore {
    do { return try PersistentStore(at: .path(path), following: log) } catch {
      guard error.code == .forked else { throw error }
      return try PersistentStore(at: .path(path), following: log)
    }
  }
}
