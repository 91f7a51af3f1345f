import Foundation
import Glibc
import TestSupport

@testable import ArborPostgres

/// A PostgreSQL server for a test, with its own folder and socket. It is killed with the last
/// reference to it, or when the test process ends.
final class PostgresServer: Sendable {
  /// A server without durability, for all tests that only need a server.
  static let shared = Result { try PostgresServer() }

  /// The folder of the server's executables; `nil` if it isn't installed.
  static let programs: URL? = {
    let versions = URL(filePath: "/usr/lib/postgresql")
    let folders =
      (try? FileManager.default.contentsOfDirectory(at: versions, includingPropertiesForKeys: nil))
      ?? []
    let found = folders.map { $0.appending(path: "bin") }
      .filter { FileManager.default.isExecutableFile(atPath: $0.appending(path: "initdb").path) }
    return found.max { $0.path.compare($1.path, options: .numeric) == .orderedAscending }
  }()
  static var isInstalled: Bool { programs != nil }

  struct Problem: Error, CustomStringConvertible {
    let description: String
  }

  /// The folder of all servers. A background process removes it and kills the servers when the
  /// tests end.
  private static let area = Result { () throws -> URL in
    let url = FileManager.default.temporaryDirectory.appending(path: "pg-\(getpid())")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    if let user { chown(url.path, user.id, user.group) }
    let watch = """
      (while kill -0 \(getpid()) 2> /dev/null; do sleep 0.5; done
      for file in "$0"/*/data/postmaster.pid; do kill -9 "$(head -n 1 "$file")"; done
      rm -rf "$0") > /dev/null 2>&1 &
      """
    _ = try BuiltProgram(at: URL(filePath: "/bin/sh")).run(["-c", watch, url.path])
    return url
  }

  /// The user that runs the server, because it refuses to run as root; `nil` for the current user.
  private static let user: (name: String, id: uid_t, group: gid_t)? = {
    guard geteuid() == 0 else { return nil }
    for name in ["postgres", "nobody"] {
      if let found = getpwnam(name) { return (name, found.pointee.pw_uid, found.pointee.pw_gid) }
    }
    return nil
  }()

  /// A data folder that is copied for each server.
  private static let template = Result { () throws -> URL in
    let data = try area.get().appending(path: "template")
    try run(
      "initdb", "--no-sync", "--no-instructions", "-A", "trust", "-U", "postgres", "-D", data.path,
      "--locale=C", "--encoding=UTF8", "--wal-segsize=1")
    let access = """
      local all secretive scram-sha-256
      local all all trust
      local replication all trust
      hostssl all all 127.0.0.1/32 trust
      """
    let file = data.appending(path: "pg_hba.conf")
    try access.write(to: file, atomically: false, encoding: .utf8)
    return data
  }

  /// The name of the server when it is a standby.
  var name: String { folder.lastPathComponent }
  let folder: URL
  private var data: URL { folder.appending(path: "data") }
  private let settings: [String: String]

  /// The connection string of a log, as a superuser.
  var connection: String { "host=\(folder.path) dbname=postgres user=postgres" }

  /// Starts a server.
  ///
  /// - Parameters:
  ///   - name: The name of the server's folder; random by default.
  ///   - files: The files to copy into the data folder, by their names there.
  ///   - primary: The primary server if this one is a standby.
  init(
    _ name: String = UUID().uuidString.prefix(8).lowercased(), settings: [String: String] = [:],
    files: [String: String] = [:], standbyOf primary: PostgresServer? = nil
  ) throws {
    folder = try Self.area.get().appending(path: name)
    let usual = [
      "fsync": "off", "shared_buffers": "16MB", "listen_addresses": "", "max_connections": "200",
      "autovacuum": "off",
      "unix_socket_directories": folder.path, "full_page_writes": "off", "lc_messages": "C",
    ]
    self.settings = usual.merging(settings) { $1 }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    if let user = Self.user { chown(folder.path, user.id, user.group) }
    if let primary {
      try copy(primary)
    } else {
      _ = try BuiltProgram(at: URL(filePath: "/bin/cp"))
        .run(["-a", try Self.template.get().path, data.path])
    }
    for (name, path) in files {
      let copy = data.appending(path: name)
      try FileManager.default.copyItem(at: URL(filePath: path), to: copy)
      chmod(copy.path, 0o600)
      if let user = Self.user { chown(copy.path, user.id, user.group) }
    }
    try start()
  }

  deinit {
    kill()
    try? FileManager.default.removeItem(at: folder)
  }

  /// Starts the server.
  func start() throws {
    let options = settings.map { "-c \($0)='\($1)'" }.joined(separator: " ")
    // The processes of a killed server end shortly after it and hold its memory until then.
    let deadline = Deadline(.seconds(60))
    while true {
      do {
        return try Self.run(
          "pg_ctl", "-D", data.path, "-w", "-t", "60", "-l", folder.appending(path: "log").path,
          "-o", options, "start")
      } catch {
        if deadline.isOver { throw error }
        usleep(200_000)
      }
    }
  }

  /// Recreates the data of a server as a standby of another one.
  func copy(_ primary: PostgresServer) throws {
    try? FileManager.default.removeItem(at: data)
    try Self.run(
      "pg_basebackup", "-D", data.path, "-R", "-X", "stream", "-c", "fast", "--no-sync", "-d",
      "\(primary.connection) application_name=\(name)")
  }

  /// Changes a setting for all sessions, and waits until new ones have it.
  func set(_ setting: String, to value: String) throws {
    try sql("ALTER SYSTEM SET \(setting) = '\(value)'")
    try sql("SELECT pg_reload_conf()::text")
    let deadline = Deadline(.seconds(60))
    while try sql("SHOW \(setting)") != [[value]] {
      guard !deadline.isOver else { throw Problem(description: "\(setting) is not \(value)") }
      usleep(10_000)
    }
  }

  /// Promotes a standby to primary.
  func promote() throws { try Self.run("pg_ctl", "-D", data.path, "-w", "promote") }

  /// Makes a standby follow another server.
  func follow(_ primary: PostgresServer) throws {
    try set("primary_conninfo", to: "\(primary.connection) application_name=\(name)")
  }

  /// Runs a statement and returns its rows, whose columns must be texts.
  @discardableResult
  func sql(_ text: String, database: String = "postgres") throws -> [[String?]] {
    let parameters = ["host": folder.path, "dbname": database, "user": "postgres"]
    let deadline = Deadline(.seconds(20))
    let rows = try PostgresConnection.open(parameters, deadline: deadline)
      .run([PostgresStatement(text)], deadline: deadline)[0]
    return (0..<rows.count).map { row in (0..<rows.width).map { rows.text(row, $0) } }
  }

  /// Creates a database and returns its connection string.
  func makeDatabase() throws -> String {
    let name = "t" + UUID().uuidString.replacing("-", with: "").lowercased()
    try sql("CREATE DATABASE \(name)")
    return "host=\(folder.path) dbname=\(name) user=postgres"
  }

  // MARK: Signals

  /// Kills all processes of the server, as a power failure would.
  func kill() { send(SIGKILL) }

  /// Suspends all processes of the server, which keeps its connections but doesn't respond.
  func stop() { send(SIGSTOP) }

  /// Resumes a suspended server.
  func resume() { send(SIGCONT) }

  private func send(_ signal: Int32) {
    let file = data.appending(path: "postmaster.pid")
    guard let text = try? String(contentsOf: file, encoding: .utf8),
      let main = text.split(separator: "\n").first.flatMap({ pid_t($0) })
    else { return }
    // The main process first, because it could start others.
    if signal != SIGCONT { Glibc.kill(main, SIGSTOP) }
    let list = "/proc/\(main)/task/\(main)/children"
    let children = (try? String(contentsOfFile: list, encoding: .utf8)) ?? ""
    for child in children.split(separator: " ").compactMap({ pid_t($0) }) {
      Glibc.kill(child, signal)
    }
    Glibc.kill(main, signal)
    // A killed server leaves files with its process ID, which another process may have by now.
    guard signal == SIGKILL else { return }
    for note in [file, folder.appending(path: ".s.PGSQL.5432.lock")] {
      try? FileManager.default.removeItem(at: note)
    }
  }

  private static func run(_ program: String, _ arguments: String...) throws {
    guard let programs else { throw Problem(description: "PostgreSQL is not installed") }
    var command = [programs.appending(path: program).path] + arguments
    if let user {
      let privileges = ["--reuid=\(user.id)", "--regid=\(user.group)", "--clear-groups"]
      command = ["/usr/bin/setpriv"] + privileges + command
    }
    let outcome = try BuiltProgram(at: URL(filePath: command[0])).run(Array(command.dropFirst()))
    guard outcome.status == 0 else {
      throw Problem(description: "\(program): \(outcome.errors)\(outcome.output)")
    }
  }
}
