import ArborData
import Foundation
import TestSupport
import Testing

@testable import crash_writer

/// Two processes write to one store at once while a third reads it. No commit is lost, no number is
/// issued twice, and no reader sees a partial commit.
@Suite("Several processes that write and read one store", .serialized) struct TwoWritersTests {
  static let commitsPerWriter = 5000

  @Test("The commits of two concurrent writers are all there, with unique IDs")
  func nothingIsLost() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = folder.path("ledger.arbor")
    // The ledger is created first, so that neither writer sees it partially created.
    _ = try LedgerWriter(path: path) { _ in }.store.close()
    let writers = try (1...2).map {
      try CrashWriterRun(["append", path, "\($0)", "\(Self.commitsPerWriter)"])
    }
    for writer in writers {
      let end = writer.finish()
      #expect(end.status == 0, "\(end.errors)")
      #expect(writer.acknowledged("appended") == (1...Int64(Self.commitsPerWriter)).map { $0 })
    }
    try verify(path)
  }

  @Test("Four processes that fetch or insert the same objects insert each of them once")
  func whatIsFetchedElseInsertedIsThereOnce() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = folder.path("ledger.arbor")
    let writers = try (1...4).map { try CrashWriterRun(["claim", path, "\($0)", "25"]) }
    for writer in writers {
      let end = writer.finish()
      #expect(end.status == 0, "\(end.errors)")
      #expect(writer.acknowledged("claimed") == Array(1...25))
    }
    let store = try LedgerWriter.open(path)
    try store.check()
    let context = store.makeContext()
    let labels = try context.fetch(FetchRequest<Label>())
    #expect(Set(labels.map(\.name)) == Set((1...25).map { "label \($0)" }) && labels.count == 25)
    #expect(labels.allSatisfy { Set($0.accounts.map(\.accountNumber)) == [1, 2, 3, 4] })
    #expect(try context.count(FetchRequest<Account>()) == 4)
    store.close()
  }

  private func verify(_ path: String) throws {
    let store = try LedgerWriter.open(path)
    try store.check()
    let context = store.makeContext()
    let entries = try context.fetch(FetchRequest<Entry>())
    for writer in 1...2 {
      let rounds = entries.filter { $0.amount == writer }.map(\.round).sorted()
      #expect(rounds == Array(1...Self.commitsPerWriter), "writer \(writer)")
    }
    #expect(Set(entries.map(\.entryID)).count == 2 * Self.commitsPerWriter)
    // Both changed the counter in every tenth commit.
    let ledger = try #require(try context.fetchOne(FetchRequest<Ledger>()))
    #expect(ledger.round == 2 * Self.commitsPerWriter / 10)
  }

  /// The tool can read a store while another process writes to it, and sees a sound snapshot each
  /// time.
  @Test("lmdb-inspect reads a store while another process writes to it")
  func lmdbInspectReadsALiveStore() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = folder.path("ledger.arbor")
    let writer = try CrashWriterRun(["rounds", path, "7", "1000000"])
    #expect(writer.read(until: 5, "round"))
    let inspect = BuiltProgram("lmdb-inspect")
    for verb in ["info", "check", "tables", "check", "dump", "check"] {
      let outcome = try inspect.run([verb, path])
      #expect(outcome.status == 0, "\(verb): \(outcome.errors)\(outcome.output.suffix(2000))")
    }
    let before = writer.acknowledged("round").count
    #expect(writer.read(until: before + 5, "round"), "the writer went on")
    writer.kill()
    try LedgerWriter.open(path).check()
  }
}
