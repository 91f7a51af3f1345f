import ArborLog
import ArborModel
import ArborObjects
import ArborPostgres
import Foundation
import TestLength
import TestSupport
import Testing

/// Changes of the model while other processes commit to the same files.
@Suite(
  "Model changes of shared stores during commits", .enabled(if: PostgresServer.isInstalled),
  .timeLimit(.minutes(120)))
struct ModelChangeStormTests {
  private static let rounds = TestLength.of(3, long: 500)

  @Test("No acknowledged commit is lost when several processes change the model at once")
  func openers() throws {
    let connection = try PostgresServer.shared.get().makeDatabase()
    var random = SeededRandom()
    print("ModelChangeStormTests: seed \(random.seed), \(Self.rounds) rounds")
    var (acknowledged, killed, lost) = (0, 0, 0)
    for round in 0..<Self.rounds {
      let storm = try ModelStorm(connection, log: "round-\(round)")
      try storm.run(&random)
      acknowledged += storm.acknowledged.count
      killed += storm.killed
      let copies = try storm.copies()
      for copy in copies {
        let marks = copy.marks
        let missing = storm.acknowledged.filter { !marks.contains($0) }
        lost += missing.count
        #expect(missing == [], "lost in \(copy.name), round \(round), seed \(random.seed)")
        #expect(Set(marks).count == marks.count, "round \(round), seed \(random.seed)")
        #expect(marks == copies[0].marks, "\(copy.name), round \(round), seed \(random.seed)")
      }
      try storm.removeLog()
    }
    #expect(acknowledged > 10 * Self.rounds)
    print(
      "ModelChangeStormTests: \(acknowledged) acknowledged, \(lost) lost, \(killed) openers killed")
  }
}

/// A store of two machines whose processes commit with the former model, while other processes open
/// the same files, and new ones, with a newer model.
private final class ModelStorm {
  private static let newest = 3

  private let connection: String
  private let log: String
  private let folder: TemporaryFolder
  private var outputs: [URL] = []
  /// The number of openers that were killed.
  private(set) var killed = 0
  /// The marks of acknowledged commits.
  private(set) var acknowledged: [String] = []

  init(_ connection: String, log: String) throws {
    (self.connection, self.log) = (connection, log)
    folder = try TemporaryFolder()
  }

  private func path(_ machine: String) -> String { folder.path("\(machine).arbor") }

  private func start(_ machine: String, _ name: String, _ arguments: [String]) throws
    -> StartedProgram
  {
    let files = try ["told", "errors"].map { kind in
      let url = folder.url.appending(path: "\(name).\(kind)")
      try Data().write(to: url)
      return (url, try FileHandle(forWritingTo: url))
    }
    outputs.append(files[0].0)
    return try StartedProgram(
      BuiltProgram("log-writer").executable,
      [path(machine), connection, name] + arguments + [log], output: .file(files[0].1),
      errors: .file(files[1].1))
  }

  private func told(_ url: URL) throws -> [String] {
    try String(contentsOf: url, encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
  }

  func run(_ random: inout SeededRandom) throws {
    let writers = try ["a", "b"].map { try start($0, "writer-\($0)", ["8"]) }
    // Both machines are committing before the model changes.
    let patience = ContinuousClock.now + .seconds(60)
    while try outputs.contains(where: { try told($0).isEmpty }), ContinuousClock.now < patience {
      usleep(5_000)
    }
    usleep(.random(in: 0...150_000, using: &random))
    var openers: [StartedProgram] = []
    for number in 0..<Int.random(in: 2...4, using: &random) {
      let machine = ["a", "b", "c"].randomElement(using: &random) ?? "a"
      let version = Int.random(in: 2...Self.newest, using: &random)
      openers.append(try start(machine, "opener-\(number)", ["version", "\(version)"]))
      usleep(.random(in: 0...60_000, using: &random))
    }
    if Int.random(in: 0..<3, using: &random) == 0,
      let victim = openers.randomElement(using: &random)
    {
      usleep(.random(in: 0...250_000, using: &random))
      victim.kill()
      killed += 1
    }
    // An opener with a model that is older than the log's fails.
    for opener in openers { _ = opener.wait() }
    let last = try start("c", "last", ["version", "\(Self.newest)"])
    let status = last.wait()
    let errors = try String(contentsOf: folder.url.appending(path: "last.errors"), encoding: .utf8)
    #expect(status == 0, "\(errors)")
    for writer in writers { #expect(writer.wait() == 0) }
    acknowledged = try outputs.flatMap(told)
  }

  /// Returns the marks of every machine's copy and of a new one, all of which are checked.
  func copies() throws -> [(name: String, marks: [String])] {
    let log = try PostgresLog(connection, store: log)
    return try ["new", "a", "b", "c"].map { name in
      let store = try PersistentStore(at: .path(path(name)), following: log)
      defer { store.close() }
      try store.catchUp()
      try store.check()
      return (name, try store.makeContext().fetch("Mark").map { $0["code"] as String }.sorted())
    }
  }

  func removeLog() throws { try PostgresLog(connection, store: log).remove() }
}
