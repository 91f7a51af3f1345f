import ArborModel
import ArborStore
import Foundation
import TestLength
import TestSupport
import Testing

@testable import ArborLog

/// Backups in a folder, which restore exactly what was backed up, or report the damaged file.
@Suite struct FolderLogTests {
  private let folder: TemporaryFolder
  private let log: FolderLog

  init() throws {
    folder = try TemporaryFolder()
    log = FolderLog(folder.url.appending(path: "log"))
  }

  /// Restores a point and compares it with the contents of the store at that time.
  private func expectRestored(_ point: RestorePoint, _ expected: StoreContents) throws {
    let path = folder.path("restored-\(UUID().uuidString).arbor")
    _ = try log.restore(to: path, at: point)
    #expect(try StoreContents(path: path) == expected, "\(point)")
    try TemporaryStore.check(path: path)
    try FileManager.default.removeItem(atPath: path)
  }

  @Test("Every commit can be restored")
  func everyCommitComesBack() throws {
    var random = SeededRandom()
    let seed = random.seed
    do {
      try TemporaryStore.use(OfficeModel.make()) { store in
        var (office, dumps) = (RandomOffice(), [UInt64: StoreContents]())
        let count = TestLength.of(120, long: 10_000)
        for step in 0..<count {
          try office.commit(to: store.file, &random)
          if step % 1000 == 90 {
            try store.file.purge()
            office = RandomOffice()
          }
          if Int.random(in: 0..<count, using: &random) < 100 {
            dumps[store.file.lastSequence] = try StoreContents(store.file)
          }
          guard step == 0 || Int.random(in: 0..<10, using: &random) == 0 else { continue }
          let added = try log.backUp(store.file, snapshot: false)
          #expect(added.sequence == store.file.lastSequence)
          #expect(added.isSnapshot == (step == 0))
        }
        _ = try log.backUp(store.file, snapshot: false)
        try expectRestored(.newest, try StoreContents(store.file))
        dumps[0] = nil
        for (sequence, dump) in dumps.shuffled(using: &random).prefix(TestLength.of(8, long: 100)) {
          try expectRestored(.sequence(sequence), dump)
        }
      }
    } catch {
      Issue.record("SeededRandom(seed: \(seed)): \(error)")
    }
  }

  @Test("A date restores the last commit before it")
  func datesLeadToTheLastCommitBefore() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      var (office, random) = (RandomOffice(), SeededRandom())
      _ = try log.backUp(store.file, snapshot: false)
      try office.commit(to: store.file, &random)
      let (first, between) = (try StoreContents(store.file), Date())
      try office.commit(to: store.file, &random)
      _ = try log.backUp(store.file, snapshot: false)
      try expectRestored(.date(between), first)
      try expectRestored(.date(Date()), try StoreContents(store.file))
      let error = #expect(throws: ArborError.self) {
        try log.restore(to: folder.path("x"), at: .date(Date(timeIntervalSince1970: 0)))
      }
      let start = try #require(try log.contents().snapshots.first?.commitDate)
      let seconds = start.timeIntervalSinceReferenceDate.rounded(.up)
      let begin = Date(timeIntervalSinceReferenceDate: seconds).formatted(.iso8601)
      #expect(
        error?.message == "The log \(try log.path) cannot restore 1970-01-01T00:00:00Z: it begins "
          + "at \(begin). Choose another point.")
    }
  }

  /// A snapshot contains the dates of its commits, not of its creation.
  @Test("A date between a commit and its snapshot restores the commit")
  func datesBetweenACommitAndItsSnapshotLeadToTheCommit() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      var (office, random) = (RandomOffice(), SeededRandom())
      try office.commit(to: store.file, &random)
      let (first, between) = (try StoreContents(store.file), Date())
      _ = try log.backUp(store.file, snapshot: false)
      try expectRestored(.date(between), first)
      try office.commit(to: store.file, &random)
      let (second, later) = (try StoreContents(store.file), Date())
      _ = try log.backUp(store.file, snapshot: true)
      try expectRestored(.date(between), first)
      try expectRestored(.date(later), second)
      try log.removeHistory(before: later)
      try expectRestored(.date(later), second)
      #expect(throws: ArborError.self) {
        try log.restore(to: folder.path("x"), at: .date(between))
      }
    }
  }

  /// The states between two snapshots can be restored, including commits made during the copy.
  @Test("A requested snapshot leaves no gap between snapshots")
  func aSnapshotThatIsAskedForLeavesNoGap() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let (office, random) = (RandomOffice(), SeededRandom())
      _ = try log.backUp(store.file, snapshot: false)
      let (file, ended) = (store.file, DispatchSemaphore(value: 0))
      nonisolated(unsafe) var failure: (any Error)?
      // Used only by the thread until it has ended.
      nonisolated(unsafe) var (writer, numbers) = (office, random)
      Thread.detachNewThread {
        do {
          for _ in 0..<40 { try writer.commit(to: file, &numbers, changes: 1...1) }
        } catch { failure = error }
        ended.signal()
      }
      repeat {
        _ = try log.backUp(store.file, snapshot: true)
      } while ended.wait(timeout: .now()) == .timedOut
      _ = try log.backUp(store.file, snapshot: true)
      if let failure { throw failure }
      let snapshots = try log.contents().snapshots
      #expect(snapshots.count > 2 && snapshots.last?.sequence == file.lastSequence)
      for (snapshot, next) in zip(snapshots, snapshots.dropFirst()) {
        #expect(snapshot.lastSequence == next.sequence)
      }
    }
  }

  /// The commits of an older copy of the store aren't appended to a snapshot of the other one.
  @Test("Commits of a former file don't follow a snapshot of another one")
  func commitsOfAFormerFileDoNotFollowASnapshot() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      var (office, random) = (RandomOffice(), SeededRandom())
      _ = try log.backUp(store.file, snapshot: false)
      let path = folder.path("former.arbor")
      try store.file.copy(to: path, compacting: false)
      var formerOffice = office
      try office.commit(to: store.file, &random)
      let snapshot = try log.backUp(store.file, snapshot: true)
      #expect(snapshot == .init(isSnapshot: true, commits: 1, sequence: 1))
      let former = try StoreEngine.open(StoreOpening(.file(path), model: nil))
      defer { former.close() }
      for _ in 0..<2 { try formerOffice.commit(to: former, &random) }
      #expect(try log.backUp(former, snapshot: false).isSnapshot)
      try expectRestored(.newest, try StoreContents(former))
    }
  }

  // MARK: Damage

  /// Creates a log with a snapshot and three segments.
  private func makeLog(_ store: TemporaryStore) throws -> [StoreContents] {
    var (office, random) = (RandomOffice(), SeededRandom())
    var dumps: [StoreContents] = []
    _ = try log.backUp(store.file, snapshot: false)
    for _ in 0..<3 {
      for _ in 0..<2 {
        dumps.append(try StoreContents(store.file))
        try office.commit(to: store.file, &random, changes: 1...2)
      }
      _ = try log.backUp(store.file, snapshot: false)
    }
    return dumps + [try StoreContents(store.file)]
  }

  private func files() throws -> [String] {
    let base = LogBase.folder(1, in: try log.path)
    return try #require(try LogFiles.names(in: base)).map { "\(base)/\($0)" }
  }

  @Test("Every changed byte is found, and the error names the file")
  func everyOtherByteIsFoundByName() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      _ = try makeLog(store)
      let verified = try log.verify()
      #expect(verified == (try log.contents()))
      #expect(verified.newest == 6)
      for path in try files() + ["\(try log.path)/log"] {
        let bytes = try #require(try LogFiles.contents(path))
        let step = path.hasSuffix(".arbor") ? bytes.count / 20 : 3
        for offset in stride(from: 0, to: bytes.count, by: step) {
          var damaged = bytes
          damaged[offset] ^= UInt8(1 << (offset % 8))
          try Data(damaged).write(to: URL(filePath: path))
          let error = #expect(throws: ArborError.self, "\(path), byte \(offset)") {
            try log.verify()
          }
          let message = error?.message ?? ""
          #expect(
            message.hasPrefix("\(path) is ") || message.hasPrefix("\(path) has format "),
            "\(offset): \(error as Any)")
        }
        try Data(bytes).write(to: URL(filePath: path))
      }
      #expect(try log.verify() == verified)
    }
  }

  @Test("A truncated log ends with its last complete commit")
  func aLogThatWasCutOffEndsWithItsLastWholeCommit() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let dumps = try makeLog(store)
      let path = try #require(try files().filter { $0.hasSuffix(LogSegment.suffix) }.last)
      let bytes = try #require(try LogFiles.contents(path))
      var ends: [UInt64: Int] = [:]
      for length in 0..<bytes.count {
        try Data(bytes[..<length]).write(to: URL(filePath: path))
        let newest = try #require(try log.verify().newest)
        ends[newest, default: 0] += 1
        guard ends[newest] == 1 || length % 197 == 0 else { continue }
        try expectRestored(.newest, dumps[Int(newest)])
        #expect(try log.restore(to: folder.path("\(length).arbor"), at: .newest) == newest)
      }
      #expect(ends.keys.sorted() == [4, 5, 6])
      // The next backup starts with a new snapshot.
      #expect(try log.backUp(store.file, snapshot: false).isSnapshot)
      try expectRestored(.newest, dumps[6])
    }
  }

  @Test("A missing segment of one commit is reported")
  func aMissingSegmentOfOneCommitIsNamed() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      _ = try log.backUp(store.file, snapshot: false)
      for number in 1...3 as ClosedRange<UInt8> {
        try store.file.setMetadata("note", [number])
        _ = try log.backUp(store.file, snapshot: false)
      }
      let segments = try files().filter { $0.hasSuffix(LogSegment.suffix) }
      try FileManager.default.removeItem(atPath: segments[1])
      let error = #expect(throws: ArborError.self) {
        try log.restore(to: folder.path("x.arbor"), at: .newest)
      }
      #expect(error?.message.contains(" lacks commit 2, which comes before 0000") == true)
    }
  }

  @Test("A missing segment is reported")
  func aSegmentThatIsMissingIsNamed() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      _ = try makeLog(store)
      let segments = try files().filter { $0.hasSuffix(LogSegment.suffix) }
      try FileManager.default.removeItem(atPath: segments[1])
      let error = #expect(throws: ArborError.self) {
        try log.restore(to: folder.path("x.arbor"), at: .newest)
      }
      #expect(
        error?.message
          == "The log \(LogBase.folder(1, in: try log.path)) lacks commits 3 to 4, which come "
          + "before 00000000000000000005-00000000000000000006.segment. Restore the missing segment "
          + "from another copy of the log.")
      #expect(!FileManager.default.fileExists(atPath: folder.path("x.arbor")))
      // The same holds for a truncated segment.
      let bytes = try #require(try LogFiles.contents(segments[0]))
      let renamed = try #require(segments.last)
      try FileManager.default.removeItem(atPath: renamed)
      try Data(bytes.dropLast(40)).write(to: URL(filePath: segments[0]))
      #expect(try log.verify().newest == 1)
    }
  }

  // MARK: Gaps

  @Test("Missing commits are followed by a snapshot")
  func commitsThatWereNotKeptAreFollowedByASnapshot() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      var (office, random) = (RandomOffice(), SeededRandom())
      _ = try log.backUp(store.file, snapshot: false)
      try office.commit(to: store.file, &random)
      #expect(try log.backUp(store.file, snapshot: false) == .init(commits: 1, sequence: 1))
      try store.file.removeLogReader(try log.id)
      try office.commit(to: store.file, &random)
      let gap = try log.backUp(store.file, snapshot: false)
      #expect(gap == .init(isSnapshot: true, sequence: 2))
      try office.commit(to: store.file, &random)
      #expect(try log.backUp(store.file, snapshot: false) == .init(commits: 1, sequence: 3))
      #expect(try log.backUp(store.file, snapshot: false) == .init(sequence: 3))
      try expectRestored(.newest, try StoreContents(store.file))
      let contents = try log.contents()
      #expect(contents.snapshots.map(\.sequence) == [0, 2])
      #expect(contents.snapshots.map(\.lastSequence) == [1, 3])
      // History that a later snapshot makes unnecessary is removed.
      try log.removeHistory(before: Date())
      #expect(try log.contents().snapshots.map(\.sequence) == [2])
      let error = #expect(throws: ArborError.self) {
        try log.restore(to: folder.path("x.arbor"), at: .sequence(1))
      }
      #expect(
        error?.message == "The log \(try log.path) cannot restore commit 1: it begins with commit "
          + "2. Choose another point.")
      let later = #expect(throws: ArborError.self) {
        try log.restore(to: folder.path("x.arbor"), at: .sequence(4))
      }
      #expect(
        later?.message == "The log \(try log.path) cannot restore commit 4: it ends with commit "
          + "3. Choose another point.")
    }
  }

  @Test("A restored store begins a snapshot of its own")
  func aRestoredStoreBeginsASnapshotOfItsOwn() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let dumps = try makeLog(store)
      let path = folder.path("restored.arbor")
      #expect(try log.restore(to: path, at: .sequence(3)) == 3)
      let restored = try StoreEngine.open(StoreOpening(.file(path), model: nil))
      defer { restored.close() }
      var (office, random) = (RandomOffice(), SeededRandom())
      // Numbers that are known to the log are not handed out again.
      let (known, present) = (try counters(store.file), try counters(restored))
      #expect(present == known)
      try office.commit(to: restored, &random)
      #expect(try log.backUp(restored, snapshot: false).isSnapshot)
      try expectRestored(.newest, try StoreContents(restored))
      try expectRestored(.sequence(3), dumps[3])
      // The former store has diverged.
      #expect(try log.backUp(store.file, snapshot: false).isSnapshot)
      try expectRestored(.newest, dumps[6])
    }
  }

  private func counters(_ file: StoreEngine) throws -> [String: UInt64] {
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    return try snapshot.counters()
  }

  // MARK: Refusals

  @Test("Folders of other programs are unchanged")
  func foldersOfOthersAreLeftAlone() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let path = try log.path
      func message(_ body: () throws -> some Any) -> String? {
        #expect(throws: ArborError.self) { _ = try body() }?.message
      }
      #expect(
        message { try log.contents() }
          == "There is no log in \(path). Check the path, or create the log with a backup.")
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true)
      try Data([1]).write(to: URL(filePath: "\(path)/photo.jpeg"))
      #expect(
        message { try log.backUp(store.file, snapshot: false) }
          == "\(path) is not a log folder: it contains files, but not log. Use an empty folder.")
      #expect(try LogFiles.names(in: path) == ["photo.jpeg"])
      try FileManager.default.removeItem(atPath: "\(path)/photo.jpeg")
      _ = try log.backUp(store.file, snapshot: false)
      try TemporaryStore.use(OfficeModel.make()) { other in
        #expect(
          message { try log.backUp(other.file, snapshot: false) }
            == "\(path) is the log of the store \(store.file.id.uuidString), but \(other.path) is "
            + "the store \(other.file.id.uuidString). Use a folder for each store.")
      }
      try FolderLease.hold(path) {
        #expect(
          message { try log.backUp(store.file, snapshot: false) }
            == "Another process is writing to the log \(path), and a log has only one writer. Wait "
            + "for that process, or use another folder.")
      }
      #expect(throws: StoreError.self) { try log.restore(to: store.path, at: .newest) }
      #expect(
        message { try FolderLog(URL(string: "https://example.com/log")!).contents() }
          == "https://example.com/log is not a log folder. Use the file URL of a folder.")
      var newer = try #require(try LogFiles.contents("\(path)/log"))
      newer[8] = 2
      try Data(newer).write(to: URL(filePath: "\(path)/log"))
      #expect(
        message { try log.contents() }
          == "\(path)/log has format 2, which requires a later version of the library.")
    }
  }
}
