import ArborJSON
import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import Synchronization
import TestSupport
import Testing

/// Imports, syncs, seeds and exports that are cancelled or exceed their deadline while they run.
@Suite(.timeLimit(.minutes(40))) struct ExchangeLimitTests {
  /// The maximum number of items started after a cancellation, which is the number between two
  /// checks.
  private static let atMostAfterwards = 1_100

  private static func items(_ count: Int) -> String {
    "[" + (1...count).map { #"{"employeeID": \#($0), "name": "n"}"# }.joined(separator: ",\n") + "]"
  }

  /// Runs work in a task of its own, which the work may cancel.
  private func inTask<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await Task { try body() }.value
  }

  private static func cancelPresentTask() { withUnsafeCurrentTask { $0?.cancel() } }

  /// A serializer that cancels its task at one of its items.
  private struct Cancelling: SyncSerializer {
    typealias Object = ManagedObject
    let seen: Counter
    let entityName: String? = "Employee"
    let identifiers = ["employeeID"]
    let deleteMissing = false
    var mapping: SyncMapping { ["employeeID": .int("employeeID"), "name": .string("name")] }
    var validators: [@Sendable (JSONValue) -> JSONValue?] {
      [
        { [seen] item in
          if seen.increment() == 3_000 { ExchangeLimitTests.cancelPresentTask() }
          return item
        }
      ]
    }
  }

  private final class Counter: Sendable {
    private let number = Atomic(0)
    var value: Int { number.load(ordering: .relaxed) }
    func increment() -> Int { number.add(1, ordering: .relaxed).newValue }
  }

  @Test("A cancelled sync stops early and leaves the context unchanged")
  func aCancelledSyncStopsInItsMidstAndLeavesTheContextAsItWas() async throws {
    let seen = Counter()
    let json = try JSONValue.parse(Self.items(20_000))
    // Only the task uses the workshop while it runs, and only the test before and after.
    nonisolated(unsafe) let workshop = try ImportWorkshop()
    try workshop.one(#"{"employeeID": 1, "name": "pending"}"#)
    let before = try workshop.context.digest()
    let error = try await inTask {
      try #require(throws: ArborError.self) {
        try workshop.context.sync(from: .value(json), using: Cancelling(seen: seen))
      }
    }
    #expect(error.code == .cancelled)
    #expect(error.message == "The task was cancelled before the operation finished.")
    #expect(try workshop.context.digest() == before)
    #expect(seen.value >= 3_000 && seen.value < 3_000 + Self.atMostAfterwards)
  }

  @Test("No operation starts in a cancelled task")
  func nothingBeginsInACancelledTask() async throws {
    try await inTask {
      let workshop = try ImportWorkshop()
      let seeds = try SeedWorkshop()
      let object = try #require(try workshop.one(#"{"employeeID": 1, "name": "a"}"#))
      let url = try seeds.write(#"{"Company": {}}"#)
      Self.cancelPresentTask()
      let context = workshop.context
      for body: () throws -> Void in [
        { try context.importObjects(from: "[]", as: "Employee") },
        { try context.importObjects(from: [], as: "Employee") },
        { try context.importObject(from: [:], as: "Employee") },
        { try context.importObject(from: [:], into: object) },
        { try context.sync(from: [], using: Cancelling(seen: Counter())) },
        { try seeds.context.seed(from: .file(url)) },
      ] {
        let error = try #require(throws: ArborError.self) { try body() }
        #expect(error.code == .cancelled)
      }
    }
  }

  @Test("No operation continues after the context's deadline")
  func aDeadlineEndsWhatIsNotDone() throws {
    let workshop = try ImportWorkshop()
    let seeds = try SeedWorkshop()
    let url = try seeds.write(#"{"Company": {}}"#)
    let object = try #require(try workshop.one(#"{"employeeID": 1, "name": "a"}"#))
    try workshop.finish()
    workshop.context.deadline = .now
    seeds.context.deadline = .now
    let context = workshop.context
    for body: () throws -> Void in [
      { try context.importObjects(from: .data(Data(Self.items(10).utf8)), as: "Employee") },
      { try context.importObject(from: ["name": "b"], into: object) },
      { try context.sync(from: [["employeeID": 3]], using: Cancelling(seen: Counter())) },
      { try seeds.context.seed(from: .file(url)) },
      { _ = try context.export(FetchRequest<ManagedObject>(entity: "Employee"), as: .json) },
    ] {
      let error = try #require(throws: ArborError.self) { try body() }
      #expect(error.code == .deadlineExceeded)
    }
    workshop.context.deadline = nil
    seeds.context.deadline = nil
    #expect(!context.hasChanges && !seeds.context.hasChanges)
    #expect(object["name"] == "a")
    #expect(
      try context.importObjects(from: .data(Data(Self.items(10).utf8)), as: "Employee").count == 10)
    try workshop.finish()
    try seeds.finish()
  }

  @Test("Scanning a long document stops when the task is cancelled")
  func aLongDocumentIsNotReadToItsEnd() async throws {
    // A single item with many parts, so that only the scanner can stop.
    let text = "[{\"name\": [" + String(repeating: "1,", count: 200_000) + "1]}"
    let error = try await inTask {
      let limit = WorkLimit()
      Self.cancelPresentTask()
      return try #require(throws: ArborError.self) {
        try JSONDocument(Data(text.utf8), work: limit)
      }
    }
    // If it were read to the end, a missing bracket would be reported.
    #expect(error.code == .cancelled)
  }

  private func withFile<R>(_ text: String, _ body: (URL) async throws -> R) async throws -> R {
    let url = FileManager.default.temporaryDirectory.appending(path: "limits-\(UUID()).json")
    defer { try? FileManager.default.removeItem(at: url) }
    #expect(FileManager.default.createFile(atPath: url.path, contents: Data(text.utf8)))
    return try await body(url)
  }

  /// An object at which the import waits.
  private final class Gated: ManagedObject {
    override class var entityDescription: EntityDescription {
      EntityDescription(
        name: "Gated", className: "Gated",
        attributes: [
          AttributeDescription(name: "employeeID", type: .integer64, defaultValue: 0),
          AttributeDescription(name: "name", type: .string, defaultValue: ""),
        ],
        uniquenessConstraints: [["employeeID"]])
    }
    static let gate = DispatchSemaphore(value: 0)
    private static let made = Counter()

    override func awakeFromInsert() {
      super.awakeFromInsert()
      if Self.made.increment() == 3_000 { Self.gate.wait() }
    }
  }

  @Test("A batched import stops when the task that iterates over it is cancelled")
  func anImportThatCommitsStopsWithTheTaskThatWaitsForIt() async throws {
    let store = try PersistentStore(for: [Gated.self], at: .inMemory)
    var options = ImportOptions()
    options.batchSize = 100
    let error = try await withFile(Self.items(20_000)) { url in
      await #expect(throws: ArborError.self) {
        try await Task { [options] in
          for try await _ in store.importObjects(from: .file(url), as: Gated.self, options: options)
          {
            Self.cancelPresentTask()
            Gated.gate.signal()
          }
        }.value
      }
    }
    #expect(error?.code == .cancelled)
    // Committed batches remain, and no further ones follow.
    let count = try store.makeContext().count(Gated.self)
    #expect(count >= 100 && count <= 3_100 && count.isMultiple(of: 100))
    try store.check()
    store.close()
  }

  @Test("A batched import stops at its deadline")
  func anImportThatCommitsHasADeadline() async throws {
    let workshop = try ImportWorkshop()
    var options = ImportOptions()
    options.deadline = .now
    let error = try await withFile(Self.items(1_000)) { url in
      await #expect(throws: ArborError.self) {
        try await workshop.store.importObjects(from: .file(url), as: "Employee", options: options)
          .finish()
      }
    }
    #expect(error?.code == .deadlineExceeded)
    #expect(try workshop.all("Employee").isEmpty)
    // The store's own context remains usable.
    options.deadline = .now + .seconds(600)
    let step = try await withFile(Self.items(1_000)) { url in
      try await workshop.store.importObjects(from: .file(url), as: "Employee", options: options)
        .finish()
    }
    #expect(step.inserted == 1_000)
    try workshop.finish()
  }
}
