import ArborData
import Foundation
import TestSupport
import Testing

@testable import crash_writer

/// Two processes commit to one store, and one of them follows the commits of both. It receives
/// every commit once and in order, and can tell which ones are its own.
@Suite("Following the commits of another process", .serialized, .timeLimit(.minutes(40)))
struct ForeignNewsTests {
  private static let commitsPerWriter = 300

  @Test("The commits of two processes arrive once and in order")
  func theCommitsOfAnotherProcessAreTold() async throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = folder.path("ledger.arbor")
    _ = try LedgerWriter(path: path) { _ in }.store.close()
    let store = try LedgerWriter.open(path)
    defer { store.close() }
    let changes = store.changes
    let writer = try CrashWriterRun(["append", path, "1", "\(Self.commitsPerWriter)"])
    let own = Task {
      for number in 1...Self.commitsPerWriter {
        try await store.perform { context in
          context.author = "here"
          let entry = context.insert(Entry.self)
          entry.entryID = try store.uniqueIDs.next()
          entry.round = number
          entry.amount = 2
        }
      }
    }
    var seen: [CommittedChanges] = []
    for await change in changes {
      seen.append(change)
      if seen.count == 2 * Self.commitsPerWriter { break }
    }
    try await own.value
    let end = writer.finish()
    #expect(end.status == 0, "\(end.errors)")
    let first = try #require(seen.first).commitSequence
    #expect(seen.map(\.commitSequence) == seen.indices.map { first + UInt64($0) })
    #expect(seen.filter(\.isFromThisProcess).count == Self.commitsPerWriter)
    #expect(seen.allSatisfy { $0.isFromThisProcess == ($0.author == "here") })
    #expect(seen.allSatisfy { $0.isComplete && $0.inserted.count == 1 })
    try store.check()
  }

  @Test("A waiting process is woken by a write of another process alone")
  func aProcessThatOnlyWaitsIsWoken() async throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = folder.path("ledger.arbor")
    _ = try LedgerWriter(path: path) { _ in }.store.close()
    let store = try LedgerWriter.open(path)
    defer { store.close() }
    var iterator = store.changes.makeAsyncIterator()
    for round in 0..<20 {
      let writer = try CrashWriterRun(["append", path, "\(round)", "1"])
      let change = try #require(await iterator.next(isolation: nil))
      #expect(!change.isFromThisProcess && change.inserted.count == 1)
      #expect(writer.finish().status == 0)
    }
    try store.check()
  }

  /// Results are updated in a process that only waits for them.
  @MainActor @Test func resultsFollowTheCommitsOfAnotherProcess() async throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = folder.path("ledger.arbor")
    _ = try LedgerWriter(path: path) { _ in }.store.close()
    let store = try LedgerWriter.open(path)
    defer { store.close() }
    let context = store.makeContext()
    let results = try context.fetchedResults(FetchRequest<Entry>(sortKeys: ["entryID"]))
    var changes = results.changes.makeAsyncIterator()
    for round in 1...5 {
      let writer = try CrashWriterRun(["append", path, "\(round)", "1"])
      let difference = try #require(await changes.next(isolation: #isolation))
      #expect(difference.insertions.map(\.object.amount) == [round] && results.count == round)
      #expect(writer.finish().status == 0)
    }
    try store.check()
  }
}
