import ArborData
import ArborLog
import ArborService
import Foundation
import Logging
import ServiceLifecycle
import TestSupport
import Testing
import UnixSignals

/// A service in a separate process that is terminated with a signal.
@Suite("A service that is terminated by a signal") struct ServiceSignalTests {
  /// At the signal, concurrent bodies either commit or throw, the store is closed, and the process
  /// exits without an error.
  @Test("At SIGTERM, a process ends without an error")
  func aProcessEndsGracefullyAtSIGTERM() async throws {
    let folder = try TemporaryFolder()
    let (path, acknowledged) = (folder.path("parts.arbor"), folder.path("acknowledged"))
    #expect(FileManager.default.createFile(atPath: acknowledged, contents: nil))
    await #expect(processExitsWith: .success) {
      [path = path as String, acknowledged = acknowledged as String] in
      let service = try ArborService("parts", model: .parts, at: .path(path))
      let group = ServiceGroup(
        services: [service], gracefulShutdownSignals: [.sigterm],
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
      async let running: Void = group.run()
      // Short lines are appended atomically.
      let notes = open(acknowledged, O_WRONLY | O_APPEND)
      await withTaskGroup { tasks in
        for task in 0..<4 {
          tasks.addTask {
            // Until the store rejects further commits.
            for count in 0... {
              let code = task * 1_000_000 + count
              do { try await service.store.perform { try $0.insert("Part")["code"] = code } } catch
              {
                return
              }
              let line = "\(code)\n"
              _ = unsafe write(notes, line, line.utf8.count)
              if task == 0, count == 10 { kill(getpid(), SIGTERM) }
            }
          }
        }
      }
      try await running
      guard service.store.isClosed else { exit(3) }
    }
    let codes = try String(contentsOfFile: acknowledged, encoding: .utf8)
      .split(separator: "\n").compactMap { Int($0) }
    #expect(codes.count > 10)
    let store = try PersistentStore(at: .path(path))
    defer { store.close() }
    try store.check()
    let found = try store.makeContext().fetch("Part").map { $0["code"] as Int }
    #expect(found.sorted() == codes.sorted())
  }

  /// If a commit is waiting for its log at the signal, the service closes the store after its
  /// limit. The commit ends with the response of the log and reports the actual outcome.
  @Test(
    "A commit that waits for its log at SIGTERM reports its actual outcome",
    arguments: ["written", "unavailable"])
  func aSharedCommitThatWaitsEndsTruly(_ answer: String) async throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = folder.path("parts.arbor")
    await #expect(processExitsWith: .success) {
      [path = path as String, answer = answer as String] in
      let log = HeldLog(SimulatedLog())
      var configuration = ArborService.Configuration()
      configuration.shutdownLimit = .milliseconds(50)
      let service = try ArborService(
        "parts", model: .parts, at: .path(path), following: log, configuration: configuration)
      let group = ServiceGroup(
        services: [service], gracefulShutdownSignals: [.sigterm],
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
      async let running: Void = group.run()
      try await service.store.perform { try $0.insert("Part")["code"] = 1 }
      log.hold()
      async let second: Bool = {
        do {
          try await service.store.perform { try $0.insert("Part")["code"] = 2 }
          return true
        } catch let error as ArborError {
          guard [.logUnavailable, .closed, .cancelled].contains(error.code) else { exit(4) }
          return false
        }
      }()
      while !log.isHolding { try await Task.sleep(for: .milliseconds(1)) }
      kill(getpid(), SIGTERM)
      // The body is cancelled after the limit, while the commit is still waiting.
      try await Task.sleep(for: .milliseconds(300))
      log.release(isAvailable: answer == "written")
      let isCommitted = try await second
      try await running
      guard service.store.isClosed else { exit(3) }
      guard isCommitted == (answer == "written") else { exit(5) }
      let store = try PersistentStore(model: .parts, at: .path(path), following: log)
      defer { store.close() }
      try store.check()
      let codes = try store.makeContext().fetch("Part").map { $0["code"] as Int }
      guard codes.sorted() == (isCommitted ? [1, 2] : [1]) else { exit(6) }
    }
  }
}

/// A log whose response to an entry can be delayed.
private final class HeldLog: PassedLog, @unchecked Sendable {
  private let condition = NSCondition()
  private var isHeld = false
  private var isAvailable = true
  private var held = 0

  /// Whether an append is waiting for its response.
  var isHolding: Bool { condition.withLock { held > 0 } }

  func hold() { condition.withLock { isHeld = true } }

  func release(isAvailable: Bool) {
    condition.withLock {
      self.isAvailable = isAvailable
      isHeld = false
      condition.broadcast()
    }
  }

  override func append(_ entry: CommitLogEntry) throws(ArborError) -> AppendResult {
    let isReached = condition.withLock {
      held += 1
      while isHeld { condition.wait() }
      held -= 1
      defer { isAvailable = true }
      return isAvailable
    }
    guard isReached else { throw ArborError(.logUnavailable, "The log cannot be reached.") }
    return try super.append(entry)
  }
}
