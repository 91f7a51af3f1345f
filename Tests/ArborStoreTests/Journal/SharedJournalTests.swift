import ArborModel
import Foundation
import LMDB
import TestSupport
import Testing

@testable import ArborStore

/// A store that shares a log has a journal without entries: commits return once the log has them,
/// and after a power failure the file is restored to its last checkpoint.
@Suite struct SharedJournalTests {
  /// A log that accepts everything.
  private struct PatientLog: SharedLog {
    func append(_ group: LoggedGroup) -> Appending { .written }
    func groups(after sequence: UInt64) -> [LoggedGroup] { [] }
    func noteTakenOver(_ count: Int) {}
    func reserve(_ counter: String, _ count: UInt64, from least: UInt64) -> Range<UInt64> {
      least..<(least + count)
    }
  }

  /// Runs `body` with a store that is journaled from its first commit in a log on.
  private func use(_ body: (TemporaryStore) throws -> Void) throws {
    try TemporaryStore.use(
      OfficeModel.make(),
      opening: {
        $0.journalLimits.beginning = 0
        $0.journalLimits.idle = 1000
      }, body)
  }

  private func header(_ file: StoreEngine) throws -> HeaderRecord {
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    return try StoreHeader.read(snapshot.reader)
  }

  private func insert(_ names: Range<Int>, _ file: StoreEngine) throws {
    for name in names {
      let draft = Draft(file)
      try draft.insert("Tag", ["name": .string("tag \(name)")])
      try draft.commit()
    }
  }

  /// Changes the header, as a commit does.
  private func change(_ file: StoreEngine, _ body: (inout HeaderRecord) -> Void) throws {
    try file.environment.write { transaction in
      var header = try StoreHeader.read(transaction.reader)
      header.transactionID = transaction.id
      body(&header)
      try StoreHeader.write(header, in: transaction)
    }
  }

  /// Opens a file without a background scrub, whose commit would compute the digests.
  private func open(_ path: String) throws -> StoreEngine {
    var opening = StoreOpening(.file(path), model: nil)
    opening.scrubInterval = nil
    return try StoreEngine.open(opening)
  }

  @Test("Only a store that shares a log is journaled, and only while it is open")
  func isJournaledWhileItShares() throws {
    try use { store in
      try insert(0..<2, store.file)
      #expect(try !header(store.file).isJournaled)
      try store.file.share(through: PatientLog())
      #expect(try !header(store.file).isJournaled)
      try insert(2..<5, store.file)
      #expect(try header(store.file).isJournaled)
      let journal = try #require(try JournalFile.existing(of: store.path))
      let newest = try #require(try journal.newestHeader())
      #expect(newest.isShared && journal.size == JournalHeader.firstEntry)
      // The commits after the checkpoint are only in the log.
      #expect(try header(store.file).transactionID > newest.root.transactionID)
      try store.reopen()
      #expect(try !header(store.file).isJournaled)
      #expect(try JournalFile.existing(of: store.path) == nil)
    }
  }

  @Test("A store that no longer shares its log makes a checkpoint with its next commit")
  func endOfSharing() throws {
    try use { store in
      try store.file.share(through: PatientLog())
      try insert(0..<3, store.file)
      store.file.endSharing()
      try insert(3..<4, store.file)
      let journal = try #require(try JournalFile.existing(of: store.path))
      let newest = try #require(try journal.newestHeader())
      #expect(!newest.isShared)
      #expect(try header(store.file).transactionID == newest.root.transactionID)
    }
  }

  @Test("A copy is not journaled")
  func copies() throws {
    try use { store in
      try store.file.share(through: PatientLog())
      try insert(0..<2, store.file)
      for isCompacting in [true, false] {
        let target = store.folder.path("copy \(isCompacting).arbor")
        try store.file.copy(to: target, compacting: isCompacting, keepsMarker: false)
        let copy = try open(target)
        defer { copy.close() }
        #expect(try !header(copy).isJournaled)
      }
    }
  }

  /// Copies a store in the state after its machine stopped with commits in flight, without its
  /// journal.
  ///
  /// - Parameter body: Returns the contents of the file, given those before and after the last
  ///   commit, which have the same length.
  private func stop(
    _ store: TemporaryStore, _ body: (_ former: Data, _ newest: Data) throws -> Data
  ) throws -> String {
    try store.file.share(through: PatientLog())
    try insert(0..<2, store.file)
    var former = try Data(contentsOf: URL(filePath: store.path))
    try insert(2..<3, store.file)
    try change(store.file) { $0.bootID = UUID() }
    let newest = try Data(contentsOf: URL(filePath: store.path))
    former.append(Data(count: newest.count - former.count))
    let path = store.folder.path("stopped.arbor")
    try body(former, newest).write(to: URL(filePath: path))
    return path
  }

  /// Copies a store's journal, as another boot of the machine left it.
  private func copyJournal(of store: TemporaryStore, to path: String) throws {
    var bytes = try Data(contentsOf: URL(filePath: store.path + "-journal"))
    for start in [0, JournalHeader.pageSize] {
      let page = start..<start + JournalHeader.size - 4
      guard bytes[page].contains(where: { $0 != 0 }) else { continue }
      bytes.replaceSubrange(start + 36..<start + 52, with: Data(repeating: 7, count: 16))
      let checksum = bytes[page].withUnsafeBytes { Checksum.of($0) }
      withUnsafeBytes(of: checksum.littleEndian) {
        bytes.replaceSubrange(page.upperBound..<page.upperBound + 4, with: $0)
      }
    }
    try bytes.write(to: URL(filePath: path + "-journal"))
  }

  @Test("After the machine stopped, a file without its log is refused, and with it restored")
  func restoresTheCheckpoint() throws {
    try use { store in
      let path = try stop(store) { former, newest in
        // Half of the last commit's pages, but both root pages, have reached the disk.
        var torn = newest
        for start in stride(from: 8192, to: newest.count, by: 8192) {
          torn[start..<start + 4096] = former[start..<start + 4096]
        }
        return torn
      }
      try copyJournal(of: store, to: path)
      #expect {
        try open(path)
      } throws: { error in
        guard case StoreError.journal(let reason) = error else { return false }
        return reason.code == .logUnavailable
          && reason.message
            == "The machine stopped while \(path) was open, and the store's last commits are in "
            + "its shared log. Open the store with the log. If the log is lost, salvage the store "
            + "into a new file."
      }
      var opening = StoreOpening(.file(path), model: nil)
      opening.continuesSharing = true
      let file = try StoreEngine.open(opening)
      // The journal has begun before the first commit, which needed object numbers from the log.
      #expect(file.lastSequence == 0)
      #expect(try !header(file).isJournaled)
      #expect(try file.check().isSound)
      file.close()
      let reopened = try open(path)
      #expect(reopened.lastSequence == 0)
      reopened.close()
    }
  }

  @Test("A sound file whose journal is missing is opened")
  func soundWithoutJournal() throws {
    try use { store in
      let path = try stop(store) { $1 }
      let file = try open(path)
      #expect(try !header(file).isJournaled)
      #expect(try header(file).bootID == StoreHeader.bootID)
      #expect(try file.check().isSound)
      file.close()
    }
  }

  @Test("A file whose journal is missing is refused if any page of the last commit is outdated")
  func outdatedWithoutJournal() throws {
    try use { store in
      var files: [Data] = []
      _ = try stop(store) { former, newest in
        let size = 4096
        for start in stride(from: 2 * size, to: newest.count, by: size) {
          let page = start..<(start + size)
          guard former[page] != newest[page] else { continue }
          var damaged = newest
          damaged[page] = former[page]
          files.append(damaged)
        }
        return newest
      }
      #expect(files.count > 3)
      var refused = 0
      for (number, bytes) in files.enumerated() {
        let path = store.folder.path("stopped \(number).arbor")
        try bytes.write(to: URL(filePath: path))
        do {
          let file = try open(path)
          // The page is no longer in use.
          #expect(try file.check().isSound)
          file.close()
        } catch StoreError.corrupted { refused += 1 }
      }
      #expect(refused > 3)
    }
  }

  @Test("The error of a file without its journal reports where the last commits are")
  func refusalWithoutJournal() throws {
    try use { store in
      let file = try open(try stop(store) { $1 })
      // This leaves the digests outdated.
      try Vandal(file: file).writeHeaderAlone { header in
        header.isJournaled = true
        header.bootID = UUID()
      }
      let path = store.folder.path("outdated.arbor")
      try FileManager.default.copyItem(atPath: try #require(file.path), toPath: path)
      file.close()
      #expect {
        try open(path)
      } throws: { error in
        guard case StoreError.corrupted(nil, nil, let what) = error else { return false }
        return what
          == "The machine stopped before the last commits reached the disk. The commits are in the "
          + "store's shared log: open the store with the log to rebuild it. Found: The entry "
          + "\"header-digests\" is damaged."
      }
    }
  }
}
