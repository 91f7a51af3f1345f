import ArborLog
import ArborModel
import Foundation
import TestSupport
import Testing

@testable import ArborPostgres

@Suite(.enabled(if: PostgresServer.isInstalled)) struct PostgresLogTests {
  private let server: PostgresServer
  private let connection: String

  init() throws {
    server = try PostgresServer.shared.get()
    connection = try server.makeDatabase()
  }

  @Test("The log fulfills the contract of every log")
  func keepsThePromisesOfALog() throws {
    let seed = UInt64.random(in: 0...(.max))
    print("PostgresLogTests: seed \(seed)")
    // Several logs in one database, one of which has special characters in its name.
    for store in ["main", "O'Neill \"x\" $1 🦊"] {
      let logs = try (0..<2).map { _ in try PostgresLog(connection, store: store) }
      try CommitLogContract(logs[0], logs[1], seed: seed).check()
    }
  }

  @Test("One of several logs is removed")
  func removesOneLogOfSeveral() throws {
    let logs = try ["one", "two"].map { try PostgresLog(connection, store: $0) }
    let file = try TemporaryFolder()
    let url = file.url.appending(path: "snapshot")
    try Data("a store".utf8).write(to: url)
    var heads: [CommitLogHead?] = []
    for log in logs {
      var history = LogHistory(seed: 1)
      let snapshot = history.snapshot()
      try log.publish(snapshot, in: url)
      #expect(try log.begin(with: snapshot, then: [history.next()]))
      _ = try log.reserve("numbers", 1, from: 1)
      heads.append(try log.head())
    }
    try logs[0].remove()
    #expect(try logs[0].head() == nil)
    #expect(try logs[0].newestSnapshot() == nil)
    #expect(try logs[1].head() == heads[1])
    #expect(try logs[1].newestSnapshot() != nil)
    let error = #expect(throws: ArborError.self) { try logs[0].reserve("numbers", 1, from: 1) }
    #expect(error?.code == .invalidArgument)
    #expect(
      error?.message
        == "The log \(logs[0].name) doesn't exist. Share the store through it first.")
    try logs[0].remove()
    // The log can be started again.
    var history = LogHistory(seed: 2)
    let snapshot = history.snapshot()
    try logs[0].publish(snapshot, in: url)
    #expect(try logs[0].begin(with: snapshot, then: []))
    #expect(try logs[0].append(history.next()) == .written)
  }

  @Test("Invalid entries and options are refused")
  func refusesWhatNoLogTakes() throws {
    let log = try PostgresLog(connection)
    var history = LogHistory(seed: 1)
    let entry = history.draft(bytes: 0)
    let empty = #expect(throws: ArborError.self) { try log.append(entry) }
    #expect(
      empty?.message
        == "The log \(log.name) doesn't accept an entry of 0 bytes for the commits 1 to 1. Use 1 to "
        + "536870912 bytes, and ascending commits from 1 to 9223372036854775807.")
    for (first, last) in [(UInt64(0), UInt64(1)), (2, 1), (1, .max)] {
      let wrong = CommitLogEntry(
        batch: UUID(), first: first, last: last, previous: entry.previous, digest: entry.digest,
        body: [1])
      #expect(throws: ArborError.self) { try log.append(wrong) }
    }
    #expect(throws: ArborError.self) { try log.entries(after: 0, limit: 0) }
    #expect(throws: ArborError.self) { try log.reserve("n", 0, from: 1) }
    #expect(throws: ArborError.self) { try log.reserve("n", 1, from: .max) }
    let numbers = #expect(throws: ArborError.self) {
      try log.reserve("n", UInt64(Int64.max), from: 1)
    }
    #expect(
      numbers?.message
        == "The counter n of the log \(log.name) cannot reserve a range of size "
        + "9223372036854775807 from 1. Use a size of at least 1, and numbers up to "
        + "9223372036854775807.")
    for store in ["", "a\0b", String(repeating: "x", count: 201)] {
      let error = #expect(throws: ArborError.self) { try PostgresLog(connection, store: store) }
      #expect(
        error?.message == "The name of a log is not valid. Use 1 to 200 bytes of UTF-8 without NUL."
      )
    }
    var options = PostgresLog.Options()
    options.timeout = .zero
    let error = #expect(throws: ArborError.self) { try PostgresLog(connection, options: options) }
    #expect(
      error?.message
        == "PostgresLog.Options.timeout is 0.0 seconds. Use a duration from 1 millisecond to 1 day."
    )
  }

  @Test("An unreachable server is an error within the timeout")
  func anUnreachableServerIsAnErrorInTime() throws {
    var options = PostgresLog.Options()
    options.timeout = .milliseconds(200)
    let log = try PostgresLog("host=/nowhere dbname=arbor password=hush", options: options)
    let start = ContinuousClock.now
    let error = #expect(throws: ArborError.self) { try log.head() }
    #expect(start.duration(to: .now) < .seconds(10))
    #expect(error?.code == .logUnavailable)
    #expect(
      error?.message
        == "The log main in PostgreSQL database arbor on /nowhere could not be reached within 0.2 "
        + "seconds: connection to server on socket \"/nowhere/.s.PGSQL.5432\" failed: No such file "
        + "or directory. Try again when its server is available.")
    var history = LogHistory(seed: 1)
    let appended = #expect(throws: ArborError.self) { try log.append(history.draft()) }
    #expect(appended?.code == .logUnavailable)
  }

  @Test("A wrong password is reported immediately and never revealed")
  func aWrongPasswordIsToldAtOnceAndNeverSaid() throws {
    let database = connection.replacing("user=postgres", with: "user=secretive")
    try server.sql("CREATE ROLE secretive LOGIN PASSWORD 'open sesame'")
    try server.sql("GRANT ALL ON SCHEMA public TO secretive", database: "postgres")
    for password in ["hushhush", ""] {
      let log = try PostgresLog("\(database) password='\(password)'")
      let start = ContinuousClock.now
      let error = #expect(throws: ArborError.self) { try log.head() }
      #expect(start.duration(to: .now) < .seconds(8), "no wait mends it")
      #expect(error?.code == .logUnavailable)
      let message = try #require(error?.message)
      #expect(message.contains("SQLSTATE 28P01"))
      #expect(message.hasPrefix("No server of the log \(log.name) accepted the login: "))
      #expect(!error.debugDescription.contains("hush") && !log.name.contains("hush"))
    }
    // A typing mistake that would make the password a part of the host name.
    let uri = #expect(throws: ArborError.self) { try PostgresLog("postgres://ada:hush@hush@a/b") }
    #expect(uri?.debugDescription.contains("hush") == false)
  }

  @Test("The server that responds is used")
  func goesOnWithTheServerThatAnswers() throws {
    let hosts = connection.replacing("host=", with: "host=/nowhere,")
    let log = try PostgresLog(hosts)
    #expect(try log.head() == nil)
    #expect(try log.head() == nil)
  }

  @Test("Settings that make commits durable are turned on")
  func turnsOnWhatMakesCommitsLast() throws {
    let name = String(connection.split(separator: " ")[1].dropFirst("dbname=".count))
    let setting = PostgresStatement("SHOW synchronous_commit")
    for (given, found) in [("off", "on"), ("local", "on"), ("remote_write", "remote_write")] {
      try server.sql("ALTER DATABASE \(name) SET synchronous_commit = \(given)")
      let log = try PostgresLog(connection)
      #expect(try log.read(setting).text(0, 0) == found)
      #expect(try log.read(PostgresStatement("SHOW statement_timeout")).text(0, 0) == "4s")
    }
  }
}
