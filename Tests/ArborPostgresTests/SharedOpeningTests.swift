import ArborLog
import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

@testable import ArborPostgres

/// Stores that are opened concurrently, by machines without a file and by processes with one.
@Suite(
  "Stores that are opened concurrently", .enabled(if: PostgresServer.isInstalled),
  .timeLimit(.minutes(40)))
struct SharedOpeningTests {
  @Test("Machines that begin a log at the same time share one store")
  func beginningAtOnce() throws {
    let connection = try PostgresServer.shared.get().makeDatabase()
    let folder = try TemporaryFolder()
    let model = try OfficeModel.make()
    let stores = try inThreads(5) { number in
      try PersistentStore(
        model: model, at: .path(folder.path("\(number).arbor")),
        following: PostgresLog(connection))
    }
    #expect(Set(stores.map(\.id)).count == 1)
    for (number, store) in stores.enumerated() {
      let context = store.makeContext()
      try context.insert("Tag")["name"] = "\(number)"
      try context.commit()
    }
    for store in stores {
      try store.catchUp()
      #expect(try store.makeContext().count("Tag") == stores.count)
      try store.check()
      store.close()
    }
  }

  @Test("Processes that open their common file with a newer model take turns")
  func newerModels() throws {
    let connection = try PostgresServer.shared.get().makeDatabase()
    let folder = try TemporaryFolder()
    let path = folder.path("marks.arbor")
    let errors = folder.url.appending(path: "errors")
    try Data().write(to: errors)
    let output = try FileHandle(forWritingTo: errors)
    for version in 1...4 {
      let programs = try (1...3).map { number in
        try StartedProgram(
          BuiltProgram("log-writer").executable,
          [path, connection, "\(version)-\(number)", "version", "\(version)"],
          errors: .file(output))
      }
      for program in programs {
        let status = program.wait()
        let text = try String(contentsOf: errors, encoding: .utf8)
        try #require(status == 0, "version \(version): \(text)")
      }
    }
    let store = try PersistentStore(at: .path(path), following: PostgresLog(connection))
    #expect(try store.makeContext().count("Mark") == 12)
    #expect(store.model.versionIdentifier == "4")
    try store.check()
    store.close()
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(names.sorted() == ["errors", "marks.arbor", "marks.arbor-lock"])
  }

  @Test("A log's threads end when the last store is closed")
  func closing() throws {
    let connection = try PostgresServer.shared.get().makeDatabase()
    let folder = try TemporaryFolder()
    let model = try OfficeModel.make()
    let log = try PostgresLog(connection)
    let stores = try (0..<2).map { number in
      try PersistentStore(
        model: model, at: .path(folder.path("\(number).arbor")), following: log)
    }
    let context = stores[0].makeContext()
    try context.insert("Tag")["name"] = "shared"
    try context.commit()
    #expect(log.listener.isListening)
    stores[0].close()
    #expect(log.listener.isListening)
    stores[1].close()
    #expect(!log.listener.isListening)
  }
}
