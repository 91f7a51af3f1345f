import ArborData
import ArborPostgres
import Foundation

/// One of several machines that write to a store.
struct MarkWriter {
  private let path: String
  private let log: PostgresLog
  private let model: ManagedObjectModel
  private let name: String
  private let end: ContinuousClock.Instant
  /// Distinguishes the marks of this process from those of an earlier process of the same name.
  private let process = ProcessInfo.processInfo.processIdentifier

  init(
    path: String, connection: String, name: String, until end: ContinuousClock.Instant,
    log store: String?
  ) throws {
    var options = PostgresLog.Options()
    options.timeout = .seconds(5)
    options.connectTimeout = .seconds(1)
    options.statementTimeout = .seconds(2)
    log = try PostgresLog(connection, store: store ?? Self.mainLog, options: options)
    model = try Self.model(version: 1)
    self.path = path
    self.name = name
    self.end = end
  }

  /// Returns a version of the model; each version has one more attribute than the previous one.
  private static func model(version: Int) throws -> ManagedObjectModel {
    try ManagedObjectModel(versionIdentifier: "\(version)") {
      EntityDescription("Mark") {
        AttributeDescription("code", .string, .indexed)
        for number in 1..<version { AttributeDescription("note\(number)", .string, .optional) }
      }
      EntityDescription("Tally") {
        AttributeDescription("name", .string, .unique)
        AttributeDescription("count", .integer64, .default(0))
      }
    }
  }

  /// The name of the log that is used by default.
  private static let mainLog = "main"

  /// Opens the store with a version of the model and adds a mark.
  static func addMark(
    _ name: String, path: String, connection: String, version: Int, log: String?
  ) throws {
    let store = try PersistentStore(
      model: model(version: version), at: .path(path),
      following: PostgresLog(connection, store: log ?? mainLog))
    defer { store.close() }
    let context = store.makeContext()
    try context.insert("Mark")["code"] = name
    try context.commit()
    FileHandle.standardOutput.write(Data("\(name)\n".utf8))
  }

  /// Writes until the time is up or the model has changed, reopening the store after each error.
  func run() async {
    var count = 0
    while ContinuousClock.now < end {
      do {
        let store = try PersistentStore(model: model, at: .path(path), following: log)
        defer { store.close() }
        try await write(to: store, &count)
      } catch {
        tell(error)
        if (error as? ArborError)?.code == .modelChanged { return }
        try? await Task.sleep(for: .milliseconds(50))
      }
    }
  }

  private func write(to store: PersistentStore, _ count: inout Int) async throws {
    while ContinuousClock.now < end {
      count += 1
      let code = "\(name)-\(process)-\(count)"
      do {
        try await store.perform(maximumRetries: 100) { context in
          try context.insert("Mark")["code"] = code
          let tally = try context.fetchOne("Tally") ?? context.insert("Tally")
          tally["name"] = "all"
          tally["count"] = (tally["count"] as Int) + 1
        }
      } catch let error as ArborError {
        tell(error)
        switch error.code {
        case .outcomeUnknown: guard try await finds(error.batch, store) else { continue }
        case .logUnavailable, .conflict, .notUnique: continue
        default: throw error
        }
      }
      FileHandle.standardOutput.write(Data("\(code)\n".utf8))
    }
  }

  /// Returns whether a commit was made whose result was lost.
  private func finds(_ batch: UUID?, _ store: PersistentStore) async throws -> Bool {
    guard let batch else { return false }
    while ContinuousClock.now < end {
      switch try? store.outcome(of: batch) {
      case .committed: return true
      case .notCommitted: return false
      case .unknown, nil: try await Task.sleep(for: .milliseconds(50))
      }
    }
    return false
  }

  private func tell(_ error: any Error) {
    let code = (error as? ArborError)?.code.rawValue ?? "other"
    FileHandle.standardError.write(Data("\(code): \(error)\n".utf8))
  }
}
