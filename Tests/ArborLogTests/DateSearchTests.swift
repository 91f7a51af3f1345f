import ArborModel
import ArborStore
import Foundation
import TestSupport
import Testing

@testable import ArborLog

/// Restoring by date from a log with several snapshots: either the state at that date, or a
/// descriptive error.
@Suite struct DateSearchTests {
  private let folder: TemporaryFolder
  private let log: FolderLog

  init() throws {
    folder = try TemporaryFolder()
    log = FolderLog(folder.url.appending(path: "log"))
  }

  private func restore(_ point: RestorePoint) throws -> UInt64 {
    let path = folder.path("restored-\(UUID().uuidString).arbor")
    let sequence = try log.restore(to: path, at: point)
    try TemporaryStore.check(path: path)
    return sequence
  }

  private func message(_ point: RestorePoint) -> String? {
    #expect(throws: ArborError.self) { try restore(point) }?.message
  }

  private func base(_ number: UInt32) throws -> String { LogBase.folder(number, in: try log.path) }

  private func segments(_ number: UInt32) throws -> [String] {
    let folder = try base(number)
    return try #require(try LogFiles.names(in: folder)).filter { $0.hasSuffix(LogSegment.suffix) }
      .map { "\(folder)/\($0)" }
  }

  /// Makes commits, each with a backup, and returns a date after each of them.
  private func commit(_ count: Int, _ store: StoreEngine) throws -> [Date] {
    try (0..<count).map { number in
      try store.setMetadata("note", [UInt8(number)])
      _ = try log.backUp(store, snapshot: false)
      Thread.sleep(forTimeInterval: 0.002)
      return Date()
    }
  }

  /// Rewrites the manifest of a snapshot.
  private func change(
    _ number: UInt32, commitDate: Date, previous: CommitChain?
  ) throws {
    let path = "\(try base(number))/\(LogBase.manifestName)"
    let former = try LogManifest(#require(try LogFiles.contents(path)), path: path)
    let manifest = LogManifest(
      log: former.log, store: former.store, base: former.base, generation: former.generation,
      sequence: former.sequence, previous: previous ?? former.previous, date: former.date,
      commitDate: commitDate, size: former.size, counters: former.counters,
      checksums: former.checksums)
    try Data(manifest.encoded()).write(to: URL(filePath: path))
  }

  @Test("Commits that are missing before a later snapshot are found", arguments: [false, true])
  func missingEnd(isCut: Bool) throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      _ = try log.backUp(store.file, snapshot: false)
      let dates = try commit(4, store.file)
      _ = try log.backUp(store.file, snapshot: true)
      _ = try commit(1, store.file)
      #expect(try log.verify().newest == 5)
      #expect(try restore(.date(dates[2])) == 3)
      let last = try #require(try segments(1).last)
      let bytes = try #require(try LogFiles.contents(last))
      try FileManager.default.removeItem(atPath: last)
      if isCut { try Data(bytes.dropLast(40)).write(to: URL(filePath: last)) }
      let lacking =
        "The log \(try base(1)) ends with commit 3 and lacks the later commits that \(try base(2)) "
        + "continues. Restore the missing segments from another copy of the log."
      let error = #expect(throws: ArborError.self) { try log.verify() }
      #expect(error?.code == .corrupted && error?.message == lacking)
      #expect(message(.date(dates[2])) == lacking)
      // All other points, including the snapshot itself, can be restored.
      #expect(try restore(.date(dates[1])) == 2)
      #expect(try restore(.sequence(3)) == 3)
      #expect(try restore(.sequence(4)) == 4)
      #expect(try restore(.date(Date())) == 5)
    }
  }

  @Test("The error for a commit that is missing before a later snapshot says where its log ends")
  func missingSequence() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      _ = try log.backUp(store.file, snapshot: false)
      _ = try commit(4, store.file)
      _ = try log.backUp(store.file, snapshot: true)
      for path in try segments(1).suffix(2) { try FileManager.default.removeItem(atPath: path) }
      let error = #expect(throws: ArborError.self) { try restore(.sequence(3)) }
      #expect(error?.code == .corrupted)
      #expect(error?.message.hasPrefix("The log \(try base(1)) ends with commit 2") == true)
    }
  }

  @Test("A clock that was set back between two snapshots is detected")
  func clockAcrossSnapshots() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      _ = try log.backUp(store.file, snapshot: false)
      let dates = try commit(3, store.file)
      try store.file.removeLogReader(try log.id)
      try store.file.setMetadata("note", [100])
      _ = try log.backUp(store.file, snapshot: false)
      #expect(try log.contents().snapshots.map(\.sequence) == [0, 4])
      // Commit 4, which is in the second snapshot, has an earlier date than the commits 2 and 3.
      try change(2, commitDate: dates[0], previous: nil)
      #expect(
        message(.date(dates[1]))
          == "A clock was set back at \(dates[1].formatted(.iso8601)): commit 3 has a later date "
          + "than commit 4, which follows it. Choose the commit by its sequence number.")
      #expect(try restore(.sequence(3)) == 3)
      #expect(try restore(.date(Date())) == 4)
    }
  }

  @Test("A date in a gap of the log is refused unless there was no commit up to it")
  func gaps() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      _ = try log.backUp(store.file, snapshot: false)
      let dates = try commit(2, store.file)
      try store.file.removeLogReader(try log.id)
      try store.file.setMetadata("note", [100])
      Thread.sleep(forTimeInterval: 0.002)
      let between = Date()
      try store.file.setMetadata("note", [100])
      _ = try log.backUp(store.file, snapshot: false)
      #expect(try log.contents().snapshots.map(\.sequence) == [0, 4])
      // Commit 3 was never added to the log, but is in the history of the snapshot.
      #expect(try restore(.date(dates[1])) == 2)
      let error = #expect(throws: ArborError.self) { try restore(.date(between)) }
      #expect(error?.code == .objectNotFound)
      #expect(
        error?.message.contains("it has a gap between ") == true,
        "\(error as Any)")
      #expect(try restore(.date(Date())) == 4)
    }
  }

  @Test("A restored store doesn't hide what was in the log before")
  func broughtBack() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      _ = try log.backUp(store.file, snapshot: false)
      let dates = try commit(4, store.file)
      let path = folder.path("former.arbor")
      _ = try log.restore(to: path, at: .sequence(1))
      let former = try StoreEngine.open(StoreOpening(.file(path), model: nil))
      defer { former.close() }
      let addition = try log.backUp(former, snapshot: false)
      #expect(addition == .init(isSnapshot: true, sequence: 1))
      #expect(try restore(.date(dates[2])) == 3)
      #expect(try restore(.date(Date())) == 1)
      try log.removeHistory(before: dates[2])
      #expect(try restore(.date(dates[2])) == 3)
      try log.removeHistory(before: Date())
      #expect(try log.contents().snapshots.map(\.sequence) == [1])
    }
  }
}
