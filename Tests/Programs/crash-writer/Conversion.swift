import ArborData
import Foundation
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A store that is migrated to the next version of its model with custom code, by a process that
/// may kill itself at any point.
enum Conversion {
  static func first() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Entry") {
        AttributeDescription("id", .integer64)
        AttributeDescription("text", .string)
        AttributeDescription("visits", .integer32, .default(0))
      }
    }
  }

  static func second() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Entry") {
        AttributeDescription("id", .integer64)
        AttributeDescription("length", .integer32)
        AttributeDescription("visits", .integer32, .default(0))
        RelationshipDescription("receipt", to: "Receipt", inverse: "entry")
      }
      EntityDescription("Receipt") {
        AttributeDescription("number", .integer64)
        RelationshipDescription("entry", to: "Entry", inverse: "receipt")
      }
    }
  }

  static func text(_ number: Int) -> String { String(repeating: "x", count: number % 90) }

  /// Creates a store with the first version of the model.
  static func fill(_ path: String, count: Int) throws {
    let store = try PersistentStore(model: first(), at: .path(path))
    defer { store.close() }
    let context = store.makeContext()
    for number in 0..<count {
      let entry = try context.insert("Entry")
      entry["id"] = number
      entry["text"] = text(number)
    }
    try context.commit()
  }

  /// Migrates the store to the second version.
  ///
  /// - Parameters:
  ///   - event: The number of the event at which the process kills itself; 0 for never. Each commit
  ///     of the migration and every 20th object is an event.
  ///   - batch: The number of objects per commit.
  static func run(_ path: String, killingAt event: Int, batch: Int) async throws {
    try await run(path, Events(event) { kill(getpid(), SIGKILL) }, batch: batch)
  }

  /// Migrates the store, in a process that kills itself at a call of the custom code.
  static func run(_ path: String, killingAtCall call: Int, batch: Int) async throws {
    let events = Events(call, ofObjects: true, every: 1) { kill(getpid(), SIGKILL) }
    try await run(path, events, batch: batch)
  }

  /// Migrates the store, in a process that pauses in the custom code until a file appears next to
  /// the store or the parent process has ended.
  ///
  /// - Parameters:
  ///   - event: The process pauses after 20 times this number of calls.
  ///   - say: Receives a line when the pause begins.
  static func run(
    _ path: String, pausingAt event: Int, batch: Int, _ say: @escaping @Sendable (String) -> Void
  ) async throws {
    let parent = getppid()
    let events = Events(event, ofObjects: true) {
      say("paused 1")
      while access(path + continueSuffix, F_OK) != 0, getppid() == parent { usleep(10_000) }
    }
    try await run(path, events, batch: batch)
  }

  /// The suffix that, appended to the store's path, names the file that ends a pause.
  static let continueSuffix = ".go"

  private static func run(_ path: String, _ events: Events, batch: Int) async throws {
    var options = StoreOptions()
    options.migrationSteps = [
      MigrationStep(from: try first(), to: try second(), batches: .of(batch)) { migration in
        try migration.migrate("Entry") { old, new in
          events.noteObject()
          new["length"] = (old["text"] as String).count
          new["visits"] = (new["visits"] as Int) + 1
          let receipt = try migration.insert("Receipt")
          receipt["number"] = old["id"] as Int64
          new["receipt"] = receipt
        }
        // Work outside of the per-object closures is done only once, too.
        try migration.insert("Receipt")["number"] = Int64(-1)
        try migration.forEach("Entry") { _ in events.noteObject() }
      }
    ]
    try await open(path, options, events)
  }

  private static func open(
    _ path: String, _ options: StoreOptions, _ events: Events
  ) async throws {
    let url = URL(filePath: path)
    for try await _ in PersistentStore.migrate(url, to: try second(), options) {
      events.noteProgress()
    }
  }

  /// A counter of events that performs an action at one of them, such as killing the process.
  private final class Events: Sendable {
    private let last: Int
    /// Whether only objects are counted.
    private let countsObjects: Bool
    /// The number of calls that count as one event.
    private let calls: Int
    private let act: @Sendable () -> Void
    private let count = Atomic(0)
    private let objects = Atomic(0)

    init(
      _ last: Int, ofObjects countsObjects: Bool = false, every calls: Int = 20,
      _ act: @escaping @Sendable () -> Void
    ) {
      self.last = last
      self.countsObjects = countsObjects
      self.calls = calls
      self.act = act
    }

    func noteObject() {
      if objects.add(1, ordering: .relaxed).newValue.isMultiple(of: calls) { note() }
    }

    func noteProgress() {
      if !countsObjects { note() }
    }

    private func note() {
      if count.add(1, ordering: .relaxed).newValue == last { act() }
    }
  }

  /// Returns a description of the first problem in the migrated store, or `nil` if it is as
  /// expected.
  static func problem(_ path: String, count: Int) throws -> String? {
    let store = try PersistentStore(at: .path(path), options: StoreOptions(isReadOnly: true))
    defer { store.close() }
    try store.check()
    guard try store.model.fingerprint == second().fingerprint else {
      return "The model is another."
    }
    let context = store.makeContext()
    let entries = try context.fetch(FetchRequest<ManagedObject>(entity: "Entry", sortKeys: ["id"]))
    guard entries.count == count else { return "There are \(entries.count) entries." }
    for (number, entry) in entries.enumerated() {
      guard entry["id"] == number, entry["visits"] == 1, entry["length"] == number % 90,
        let receipt = entry["receipt"] as ManagedObject?, receipt["number"] == number
      else { return "Entry \(number) is wrong." }
    }
    let receipts = try context.count("Receipt")
    return receipts == count + 1 ? nil : "There are \(receipts) receipts."
  }
}
