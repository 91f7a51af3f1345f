import ArborData
import ArborService
import Foundation
import Logging
import ServiceLifecycle
import TestSupport
import Testing
import UnixSignals

/// A service in a process of its own, which is told to end as an operating system tells it.
@Suite struct ServiceSignalTests {
  /// The signal comes while several bodies commit: each has committed or throws, the store is
  /// closed, and the process ends without an error.
  @Test func aProcessEndsGracefullyAtSIGTERM() async throws {
    let folder = try TemporaryFolder()
    let (path, acknowledged) = (folder.path("parts.arbor"), folder.path("acknowledged"))
    #expect(FileManager.default.createFile(atPath: acknowledged, contents: nil))
    await #expect(processExitsWith: .success) {
      [path = path as String, acknowledged = acknowledged as String] in
      let model = ManagedObjectModel(entities: [
        EntityDescription(
          name: "Part", attributes: [AttributeDescription(name: "code", type: .integer64)])
      ])
      let service = try ArborService("parts", model: model, at: .path(path))
      let group = ServiceGroup(
        services: [service], gracefulShutdownSignals: [.sigterm],
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
      async let running: Void = group.run()
      // Short lines at the end of a file are written whole.
      let notes = open(acknowledged, O_WRONLY | O_APPEND)
      await withTaskGroup { tasks in
        for task in 0..<4 {
          tasks.addTask {
            // Until the store takes no more.
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
}
