import ArborModel
import Foundation
import LMDB
import TestSupport
import Testing

@testable import ArborStore

/// Commits that return once the log has them, before the file is synced. A file that may lack some
/// of them is marked as unsettled.
@Suite struct SyncDeferralTests {
  /// A log that accepts everything.
  private struct PatientLog: SharedLog {
    func append(_ group: CommitGroup) -> Appending { .written }
    func groups(after sequence: UInt64) -> [CommitGroup] { [] }
    func noteTakenOver(_ count: Int) {}
    func reserve(_ counter: String, _ count: UInt64, from least: UInt64) -> Range<UInt64> {
      least..<(least + count)
    }
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

  @Test("A file is unsettled only if it has a log and is open")
  func onlyAFileWithALogIsUnsettledAndOnlyWhileItIsOpen() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      try insert(0..<2, store.file)
      #expect(try !header(store.file).isUnsettled)
      try store.file.share(through: PatientLog())
      #expect(try !header(store.file).isUnsettled)
      try insert(2..<5, store.file)
      #expect(try header(store.file).isUnsettled && store.file.deferral.isUsed)
      try store.reopen()
      #expect(try !header(store.file).isUnsettled)
      #expect(!store.file.deferral.isUsed)
    }
  }

  @Test("If another process marks the file as settled, the next commit marks it again")
  func whoFindsTheMarkGoneSetsItAgain() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      try store.file.share(through: PatientLog())
      try insert(0..<2, store.file)
      try change(store.file) { $0.isUnsettled = false }
      try insert(2..<3, store.file)
      #expect(try header(store.file).isUnsettled)
    }
  }

  @Test("A copy of an unsettled file is settled")
  func aCopyIsSettled() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      try store.file.share(through: PatientLog())
      try insert(0..<2, store.file)
      for isCompacting in [true, false] {
        let target = store.folder.path("copy \(isCompacting).arbor")
        try store.file.copy(to: target, compacting: isCompacting, keepsMarker: false)
        let copy = try open(target)
        defer { copy.close() }
        #expect(try !header(copy).isUnsettled)
      }
    }
  }

  /// Leaves a store in the state after its machine stopped with commits in flight.
  ///
  /// - Parameter body: Returns the contents of the file, given those before and after the last
  ///   commit.
  private func stop(
    _ store: TemporaryStore, _ body: (_ former: Data, _ newest: Data) throws -> Data
  ) throws -> String {
    try store.file.share(through: PatientLog())
    try insert(0..<2, store.file)
    let former = try Data(contentsOf: URL(filePath: store.path))
    try insert(2..<3, store.file)
    try change(store.file) { $0.bootID = UUID() }
    let path = store.folder.path("stopped.arbor")
    try body(former, try Data(contentsOf: URL(filePath: store.path))).write(to: URL(filePath: path))
    return path
  }

  @Test("A sound file is settled when it is opened after its machine stopped")
  func aSoundFileIsSettledWhereTheMachineStopped() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let path = try stop(store) { $1 }
      let file = try open(path)
      #expect(try !header(file).isUnsettled)
      #expect(try header(file).bootID == StoreHeader.bootID)
      #expect(try file.check().isSound)
      file.close()
    }
  }

  @Test("A file in which any page of the last commit is outdated is rejected")
  func aFileWithAFormerPageIsRefused() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      var files: [Data] = []
      _ = try stop(store) { former, newest in
        let size = 4096
        for start in stride(from: 2 * size, to: min(former.count, newest.count), by: size) {
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

  @Test("The error for an unsettled damaged file says that its last commits are in the log")
  func aRefusalSaysWhereTheCommitsAre() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let path = try stop(store) { $1 }
      let file = try open(path)
      // This leaves the digests outdated.
      try Vandal(file: file).write { _, header in
        header.isUnsettled = true
        header.bootID = UUID()
      }
      file.close()
      #expect {
        try open(path)
      } throws: { error in
        guard case StoreError.corrupted(nil, nil, let what) = error else { return false }
        return what
          == "The machine stopped before the last commits reached the disk. They are in the log "
          + "that the store shares: open it with the log to rebuild it. Found: The file has no "
          + "digests to compare with."
      }
    }
  }
}
