import ArborModel
import ArborStore
import Foundation
import TestSupport
import Testing

@testable import ArborLog

/// Backing up to a damaged log, and during commits.
@Suite struct FolderLogBackUpTests {
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

  private func manifest(_ number: UInt32) throws -> String {
    "\(LogBase.folder(number, in: try log.path))/\(LogBase.manifestName)"
  }

  private func damage(_ path: String) throws {
    var bytes = try #require(try LogFiles.contents(path))
    bytes[bytes.count / 2] ^= 1
    try Data(bytes).write(to: URL(filePath: path))
  }

  /// Creates two snapshots, each followed by two commits.
  private func makeLog(_ store: StoreEngine) throws -> [Date] {
    var dates: [Date] = []
    for step in 0..<2 {
      _ = try log.backUp(store, snapshot: true)
      for number in 0..<2 {
        try store.setMetadata("note", [UInt8(10 * step + number)])
        _ = try log.backUp(store, snapshot: false)
        Thread.sleep(forTimeInterval: 0.002)
        dates.append(Date())
      }
    }
    return dates
  }

  @Test("A damaged older manifest prevents neither backups nor reads that don't need it")
  func olderManifest() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let dates = try makeLog(store.file)
      let replica = folder.path("replica.arbor")
      _ = try log.restore(to: replica, at: .newest, follows: true)
      let path = try manifest(1)
      try damage(path)
      try store.file.setMetadata("note", [99])
      #expect(try log.backUp(store.file, snapshot: false) == .init(commits: 1, sequence: 5))
      #expect(try log.backUp(store.file, snapshot: true) == .init(isSnapshot: true, sequence: 5))
      #expect(try restore(.newest) == 5)
      #expect(try restore(.sequence(3)) == 3)
      #expect(try restore(.date(dates[2])) == 3)
      let file = try StoreEngine.open(StoreOpening(.file(replica), model: nil))
      #expect(try LogFollower(log, file).catchUp() == 5)
      file.close()
      for body in [
        { _ = try log.verify() }, { _ = try restore(.sequence(1)) },
        { _ = try restore(.date(dates[0])) },
      ] {
        let error = #expect(throws: ArborError.self) { try body() }
        #expect(error?.code == .corrupted)
        #expect(error?.message.hasPrefix("\(path) is damaged: ") == true, "\(error as Any)")
      }
      // The damaged file is removed with its part of the history.
      try log.removeHistory(before: Date())
      #expect(try log.verify().snapshots.map(\.sequence) == [5])
    }
  }

  @Test(
    "A backup after a damaged newest snapshot is a new snapshot",
    arguments: ["manifest", "segment"])
  func newestSnapshot(_ what: String) throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let dates = try makeLog(store.file)
      let base = LogBase.folder(2, in: try log.path)
      let segments = try #require(try LogFiles.names(in: base))
        .filter { $0.hasSuffix(LogSegment.suffix) }
      let path = what == "manifest" ? try manifest(2) : "\(base)/\(try #require(segments.last))"
      try damage(path)
      #expect(throws: ArborError.self) { try restore(.newest) }
      try store.file.setMetadata("note", [99])
      let added = try log.backUp(store.file, snapshot: false)
      #expect(added == .init(isSnapshot: true, sequence: 5))
      #expect(try restore(.newest) == 5)
      #expect(try restore(.date(dates[0])) == 1)
      let error = #expect(throws: ArborError.self) { try log.verify() }
      #expect(error?.message.hasPrefix("\(path) is damaged: ") == true, "\(error as Any)")
    }
  }

  @Test("Commits made while a snapshot is written are counted once")
  func countsCommitsMadeMeanwhile() async throws {
    let file = try StoreEngine.open(
      StoreOpening(.file(folder.path("office.arbor")), model: OfficeModel.make()))
    defer { file.close() }
    let first = try log.backUp(file, snapshot: false)
    let writer = Task.detached {
      for number in 0..<100 as Range<UInt8> { try file.setMetadata("note", [number]) }
    }
    var commits = 0
    for _ in 0..<10 { commits += try log.backUp(file, snapshot: true).commits }
    try await writer.value
    let last = try log.backUp(file, snapshot: false)
    #expect(last.sequence == 100)
    #expect(UInt64(commits + last.commits) == last.sequence - first.sequence)
  }
}
