import ArborData
import Foundation
import TestSupport
import Testing

@testable import ArborStore
@testable import crash_writer

/// Several processes have a store open, and one of them scrubs it.
@Suite("Scrubs by several processes", .serialized, .timeLimit(.minutes(40)))
struct ScrubProcessTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path("ledger.arbor") }

  init() throws {
    folder = try TemporaryFolder()
    _ = try LedgerWriter(path: path) { _ in }.store.close()
  }

  /// Opens the ledger without the scrub that opening may start.
  private func open() throws -> StoreEngine {
    var opening = StoreOpening(.file(path), model: nil)
    opening.scrubInterval = nil
    return try StoreEngine.open(opening)
  }

  /// While one process writes and the other scrubs, neither blocks the other and no damage is
  /// reported.
  @Test("A writer and a scrub don't block each other", arguments: [true, false])
  func writingGoesOn(writesHere: Bool) throws {
    let commits = 400
    if writesHere {
      let run = try CrashWriterRun(["scrub", path, "0", "40"])
      #expect(run.read(until: 1, "scrubbed"))
      let writer = try LedgerWriter(path: path) { _ in }
      try writer.append(writer: 1, count: commits)
      writer.store.close()
      let end = run.finish()
      #expect(end.status == 0, "\(end.errors)")
    } else {
      let run = try CrashWriterRun(["append", path, "1", "\(commits)"])
      #expect(run.read(until: 1, "appended"))
      let store = try LedgerWriter.open(path)
      for _ in 0..<40 { try store.scrub() }
      store.close()
      let end = run.finish()
      #expect(end.status == 0, "\(end.errors)")
    }
    let store = try LedgerWriter.open(path)
    defer { store.close() }
    #expect(try store.makeContext().count(FetchRequest<crash_writer.Entry>()) == commits)
    try store.check()
    try store.scrub()
  }

  @Test("If the scrubbing process dies, the one waiting for it takes over")
  func theWorkOfADeadOneIsTaken() throws {
    let file = try open()
    defer { file.close() }
    let before = try file.completedScrub()
    let other = try CrashWriterRun(["hold", path, "0", "1"])
    #expect(other.read(until: 1, "claimed"))
    file.scrubbing.begin(file, isUrgent: true, waiting: 5)
    Thread.sleep(forTimeInterval: 0.1)
    #expect(try file.completedScrub() == before)
    other.kill()
    file.scrubbing.waitForEnd()
    #expect(try file.completedScrub() != before)
    try TemporaryStore.check(path: path)
  }

  /// If a scrub is due in two processes, one does it in a single commit, and the other one notices.
  @Test("One of two processes does a scrub that is due")
  func oneOfTwoDoesIt() throws {
    let file = try open()
    defer { file.close() }
    let before = try file.completedScrub()
    let first = try lastTransaction
    var other: CrashWriterRun?
    _ = try file.scrubAlone { () throws(StoreError) in
      file.scrubbing.begin(file, isUrgent: true, waiting: 5)
      other = try? CrashWriterRun(["attend", path, "0", "1"])
      #expect(other?.read(until: 1, "opened") == true)
    }
    file.scrubbing.waitForEnd()
    #expect(try file.completedScrub() != before)
    #expect(other?.read(until: 1, "scrubbed") == true)
    #expect(other?.finish().status == 0)
    #expect(try lastTransaction == first + 1)
    try TemporaryStore.check(path: path)
  }

  /// The number of the last commit, read from the root pages.
  private var lastTransaction: UInt64 {
    get throws {
      let bytes = try Data(contentsOf: URL(filePath: path))
      return [144, 4096 + 144].map { offset in
        bytes[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
      }.max() ?? 0
    }
  }
}
