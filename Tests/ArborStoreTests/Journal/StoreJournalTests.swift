import ArborModel
import Foundation
import LMDB
import TestLength
import TestSupport
import Testing

@testable import ArborStore

/// The entries and checkpoints of a journal after transactions that are not in it.
@Suite struct StoreJournalTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.url.resolvingSymlinksInPath().appending(path: "notes.arbor").path
  }

  /// - Parameter beginning: The number of commits before journaling begins.
  private func open(
    beginning: Int = 0, idle: Double = 1000
  ) throws -> StoreEngine {
    var opening = StoreOpening(
      .file(path), model: ManagedObjectModel(entities: [EntityDescription(name: "Note")]))
    opening.isJournaled = true
    opening.journalLimits.beginning = beginning
    opening.journalLimits.idle = idle
    return try StoreEngine.open(opening)
  }

  private func commit(_ number: UInt8, _ store: StoreEngine) throws {
    var set = ChangeSet()
    set.metadata = [("key", [number])]
    _ = try store.commit(set)
  }

  /// Returns the journal, its newest header, and the end of its entries.
  private func journal() throws -> (JournalFile, JournalHeader, JournalPosition) {
    let journal = try #require(try JournalFile.existing(of: path))
    let header = try #require(try journal.newestHeader())
    var position = header.start
    try journal.advance(&position, to: .max, epoch: header.epoch)
    return (journal, header, position)
  }

  /// Copies the store and its journal to other paths, as if the machine had been restarted.
  ///
  /// - Parameter former: The contents of the file, or `nil` to copy the present ones.
  private func copyAfterRestart(file former: Data? = nil) throws -> String {
    let copy = try copy(file: former)
    var bytes = try [UInt8](Data(contentsOf: URL(filePath: copy + "-journal")))
    for start in [0, JournalHeader.pageSize] {
      // The boot ID is at offset 36.
      bytes[start + 36] ^= 1
      let end = start + JournalHeader.size - 4
      withUnsafeBytes(of: Checksum.of(Array(bytes[start..<end])).littleEndian) {
        bytes.replaceSubrange(end..<end + 4, with: $0)
      }
    }
    try Data(bytes).write(to: URL(filePath: copy + "-journal"))
    return copy
  }

  private func copy(file former: Data? = nil) throws -> String {
    let copy = folder.path("copy \(UInt64.random(in: 0...(.max))).arbor")
    let file = try former ?? Data(contentsOf: URL(filePath: path))
    try file.write(to: URL(filePath: copy))
    try FileManager.default.copyItem(atPath: path + "-journal", toPath: copy + "-journal")
    return copy
  }

  /// Returns the error of opening a store.
  private func refusal(_ path: String, isReadOnly: Bool = false) throws -> ArborError {
    var opening = StoreOpening(.file(path), model: nil)
    opening.isReadOnly = isReadOnly
    let error = #expect(throws: StoreError.self) { try StoreEngine.open(opening).close() }
    guard case .journal(let reason)? = error else { throw try #require(error) }
    return reason
  }

  /// Opens a store, and checks that it has the last commit and needs no journal any more.
  private func verify(_ path: String, _ number: UInt8) throws {
    let store = try StoreEngine.open(StoreOpening(.file(path), model: nil))
    defer { store.close() }
    #expect(try store.metadata("key") == [number])
    #expect(try store.check().problems.isEmpty)
    #expect(try JournalFile.existing(of: path) == nil)
  }

  @Test("Journaling begins after several commits in quick succession, and ends once they stop")
  func beginningAndEnd() throws {
    let store = try open(beginning: 3, idle: 2)
    defer { store.close() }
    for number in 1...3 { try commit(UInt8(number), store) }
    #expect(try store.durabilityOrder() == .synced)
    #expect(try JournalFile.existing(of: path) == nil)
    try commit(4, store)
    #expect(try [.overlapping, .inOrder].contains(store.durabilityOrder()))
    let end = ContinuousClock.now + .seconds(60)
    while try JournalFile.existing(of: path) != nil, ContinuousClock.now < end { usleep(10_000) }
    #expect(try store.durabilityOrder() == .synced)
    // The file is complete by itself.
    let copy = folder.path("copy.arbor")
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    try verify(copy, 4)
    try commit(5, store)
    #expect(try JournalFile.existing(of: path) == nil)
    #expect(try store.check().problems.isEmpty)
  }

  @Test("After a failed sync nothing is committed, and the next opening recovers from the journal")
  func failedSync() throws {
    let store = try open()
    defer { store.close() }
    try commit(1, store)
    let former = try Data(contentsOf: URL(filePath: path))
    for number in 2...5 { try commit(UInt8(number), store) }
    try journal().0.noteFailedSync()
    let advice = "Close the store in all processes, then open it for writing to recover them."
    let error = #expect(throws: StoreError.self) { try commit(6, store) }
    guard case .journal(let reason)? = error else { throw try #require(error) }
    #expect(reason.code == .inputOutput)
    #expect(
      reason.message
        == "The system failed to write the store's pages to the disk, and its last commits are in "
        + "the journal \(path)-journal. \(advice)")
    #expect(try store.metadata("key") == [5])
    // Pages that were written since the checkpoint may be lost.
    for file in [former, nil] {
      let copy = try copy(file: file)
      let refusal = try refusal(copy, isReadOnly: true)
      #expect(refusal.code == .readOnly)
      #expect(
        refusal.message
          == "The system failed to write pages of \(copy) to the disk, and the store's last commits "
          + "are in its journal. Open the store for writing once to recover the commits.")
      try verify(copy, 5)
    }
    store.close()
    // Closing the store keeps what the recovery needs.
    try verify(path, 5)
  }

  @Test("A file that has lost pages without a restart is recovered")
  func lostPages() throws {
    let store = try open()
    defer { store.close() }
    try commit(1, store)
    let checkpoint = try Data(contentsOf: URL(filePath: path))
    for number in 2...3 { try commit(UInt8(number), store) }
    let former = try Data(contentsOf: URL(filePath: path))
    for number in 4...6 { try commit(UInt8(number), store) }
    for file in [checkpoint, former] {
      let copy = try copy(file: file)
      #expect(
        try refusal(copy, isReadOnly: true).message
          == "The file \(copy) is older than its journal, and the store's last commits are in its "
          + "journal. Open the store for writing once to recover the commits.")
      try verify(copy, 6)
    }
    try verify(copy(), 6)
  }

  @Test("A last entry that is damaged is reported, and one that was never complete is not")
  func damagedEnd() throws {
    let store = try open()
    defer { store.close() }
    try commit(1, store)
    let former = try Data(contentsOf: URL(filePath: path))
    for number in 2...4 { try commit(UInt8(number), store) }
    let (file, header, _) = try journal()
    var last = header.start
    while let next = try file.entry(at: last, epoch: header.epoch),
      last.transactionID + 1 < header.root.transactionID + 3
    {
      last = next.end
    }
    let damaged = try copyAfterRestart(file: former)
    try change(damaged + "-journal") { $0[last.offset + 100] ^= 1 }
    let refusal = try refusal(damaged)
    #expect(refusal.code == .corrupted)
    #expect(
      refusal.message
        == "The journal \(damaged)-journal is damaged after transaction \(last.transactionID), so "
        + "the next commit may be lost. Restore the store from a backup, or salvage it into a new "
        + "file.")
    let unwritten = try copyAfterRestart(file: former)
    try change(unwritten + "-journal") { bytes in
      bytes.replaceSubrange(last.offset..<last.offset + 512, with: Data(count: 512))
    }
    try verify(unwritten, 3)
  }

  private func change(_ name: String, _ body: (inout Data) -> Void) throws {
    var bytes = try Data(contentsOf: URL(filePath: name))
    body(&bytes)
    try bytes.write(to: URL(filePath: name))
  }

  /// Entries of several sectors over zeros or over a former entry, of which a power failure has left
  /// any part, with and without damage.
  @Test("An entry that was not written completely differs from a damaged one")
  func sectors() throws {
    var random = SeededRandom()
    let store = try open()
    defer { store.close() }
    for number in 1...2 { try commit(UInt8(number), store) }
    let (file, header, _) = try journal()
    var position = header.start
    position.transactionID = 8
    var (whole, unwritten, damaged) = (0, 0, 0)
    for _ in 0..<TestLength.of(2_000, long: 200_000) {
      func entry(_ transaction: UInt64) -> [UInt8] {
        let commits = (0..<Int.random(in: 0...3, using: &random)).map { _ in
          (0..<Int.random(in: 0...1500, using: &random)).map { _ in
            UInt8.random(in: 0...255, using: &random)
          }
        }
        return JournalEntry(transactionID: transaction, counters: [], first: 3, commits: commits)
          .encoded(at: position, epoch: header.epoch).bytes
      }
      let new = entry(9)
      // Another transaction or another process that died before it committed the same one.
      var place = [UInt8](repeating: 0, count: 4096 * 3)
      if Bool.random(using: &random) {
        let former = entry(Bool.random(using: &random) ? 9 : 7)
        place.replaceSubrange(0..<former.count, with: former)
      }
      let sectors = new.count / 512
      let written = (0..<sectors).filter { _ in
        sectors == 1 || Int.random(in: 0..<8, using: &random) > 0
      }
      for sector in written {
        let range = sector * 512..<(sector + 1) * 512
        place.replaceSubrange(range, with: new[range])
      }
      let isWhole = written.count == sectors
      let isDamaged = Int.random(in: 0..<3, using: &random) == 0
      if isDamaged {
        let byte = Int.random(in: 0..<new.count, using: &random)
        place[byte] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      }
      try file.append(place, at: position, syncs: false)
      let read = try file.entry(at: position, epoch: header.epoch)
      let isNoticed = try file.isDamaged(at: position, epoch: header.epoch)
      let seed: Comment = "seed \(random.seed)"
      switch (isWhole, isDamaged) {
      case (true, false):
        #expect(read != nil && !isNoticed, seed)
        whole += 1
      case (true, true):
        #expect(read == nil && isNoticed, seed)
        damaged += 1
      case (false, false):
        // A former entry of the same transaction is valid if none of its sectors was replaced.
        #expect(read == nil || written.isEmpty || !written.contains(0), seed)
        #expect(!isNoticed, seed)
        unwritten += 1
      // The damage may lie where nothing was written.
      case (false, true): #expect(read == nil || !written.contains(0), seed)
      }
    }
    #expect(whole > 0 && unwritten > 0 && damaged > 0)
  }

  @Test("Every commit is one entry, and other transactions are followed by a checkpoint")
  func entriesAndCheckpoints() throws {
    let store = try open()
    for number in 1...3 { try commit(UInt8(number), store) }
    let (_, header, position) = try journal()
    #expect(position.transactionID == header.root.transactionID + 2)
    _ = try store.takeUniqueIDs(1)
    let (_, later, end) = try journal()
    #expect(later.epoch != header.epoch && later.number == header.number + 1)
    #expect(end == later.start)
    try commit(4, store)
    #expect(try store.check().problems.isEmpty)
    store.close()
    #expect(try JournalFile.existing(of: path) == nil)
  }

  @Test("The stray entry of a process that died before its commit is replaced by the next one")
  func strayEntries() throws {
    let store = try open()
    for number in 1...2 { try commit(UInt8(number), store) }
    let (file, header, position) = try journal()
    let stray = JournalEntry(
      transactionID: position.transactionID + 1, counters: [], first: 3, commits: [[1, 2, 3]])
    try file.append(stray.encoded(at: position, epoch: header.epoch).bytes, at: position)
    try commit(3, store)
    let (_, later, end) = try journal()
    #expect(later.epoch == header.epoch && end.transactionID == position.transactionID + 1)
    let entry = try file.entry(at: position, epoch: header.epoch)?.entry
    #expect(entry?.commits.isEmpty == false && entry?.commits != stray.commits)
    // Not a commit, so a checkpoint follows.
    _ = try store.takeUniqueIDs(1)
    #expect(try journal().1.epoch != header.epoch)
    #expect(try store.metadata("key") == [3])
    #expect(try store.check().problems.isEmpty)
    store.close()
  }

  @Test("A stray entry before a checkpoint without entries doesn't prevent recovery")
  func strayEntriesBeforeACheckpoint() throws {
    let store = try open()
    defer { store.close() }
    try commit(1, store)
    let (file, header, position) = try journal()
    #expect(position == header.start)
    let stray = JournalEntry(
      transactionID: position.transactionID + 1, counters: [], first: 2, commits: [[1, 2, 3]])
    try file.append(stray.encoded(at: position, epoch: header.epoch).bytes, at: position)
    // Not a commit, so a checkpoint follows.
    _ = try store.takeUniqueIDs(1)
    #expect(try journal().1.number > header.number)

    let copy = try copyAfterRestart()
    let recovered = try StoreEngine.open(StoreOpening(.file(copy), model: nil))
    #expect(try recovered.metadata("key") == [1])
    #expect(try recovered.check().problems.isEmpty)
    recovered.close()
  }

  /// A power failure while it is overwritten could leave only the older of its two headers.
  @Test("An obsolete journal is replaced, not overwritten")
  func replacesObsoleteJournals() throws {
    let store = try open()
    try commit(1, store)
    let (name, kept) = (path + "-journal", folder.path("kept"))
    try FileManager.default.linkItem(atPath: name, toPath: kept)
    store.close()
    // As if its removal had been lost.
    try FileManager.default.linkItem(atPath: kept, toPath: name)
    #expect(try journal().1.isEnded)
    let former = try Data(contentsOf: URL(filePath: kept))
    let again = try open()
    try commit(2, again)
    #expect(try !journal().1.isEnded)
    #expect(try Data(contentsOf: URL(filePath: kept)) == former)
    #expect(try again.check().problems.isEmpty)
    again.close()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 3)
  }

  @Test("Others wait for an entry in flight, and find it afterwards")
  func flights() throws {
    let store = try open()
    defer { store.close() }
    for number in 1...2 { try commit(UInt8(number), store) }
    let (_, header, position) = try journal()
    func flight(_ patience: Double) throws -> JournalFlight {
      JournalFlight(
        try #require(try JournalFile.existing(of: path)), overlaps: true, patience: patience)
    }
    let (one, other) = (try flight(60), try flight(0.05))
    let entry = JournalEntry(
      transactionID: position.transactionID + 1, counters: [], first: 3, commits: [])
    let bytes = entry.encoded(at: position, epoch: header.epoch).bytes
    try one.begin()
    // Where the file system doesn't support it, nothing is in flight.
    guard try one.submit(bytes, at: position.offset) else { return }
    let error = #expect(throws: StoreError.self) { try other.begin() }
    guard case .journal(let reason)? = error else { throw try #require(error) }
    #expect(reason.code == .busy)
    #expect(one.end())
    try other.begin()
    #expect(other.end())
    #expect(try other.file.entry(at: position, epoch: header.epoch) != nil)
  }

  @Test("A process that needs a checkpoint makes it, and one that only reads waits for it")
  func waitsForACheckpoint() throws {
    let store = try open()
    defer { store.close() }
    for number in 1...2 { try commit(UInt8(number), store) }
    try store.waitUntilDurable()
    let (file, header, _) = try journal()
    // The process that has to make it has died.
    file.demandCheckpoint()
    let copy = try copy()
    var reading = StoreOpening(.file(copy), model: nil)
    reading.isReadOnly = true
    reading.journalLimits.patience = 0.05
    let reader = try StoreEngine.open(reading)
    defer { reader.close() }
    let error = #expect(throws: StoreError.self) { try reader.waitUntilDurable() }
    guard case .inputOutput("write", copy + "-journal", errno: EIO)? = error else {
      throw try #require(error)
    }
    try store.waitUntilDurable()
    let (_, later, _) = try journal()
    #expect(later.epoch != header.epoch && !later.isIncomplete)
    try commit(3, store)
    #expect(try journal().1.epoch == later.epoch)
    #expect(try store.check().problems.isEmpty)
  }

  @Test("An entry with any damaged byte is invalid")
  func damagedEntries() throws {
    let entry = JournalEntry(
      transactionID: 9, counters: [("unique-id", 7)], first: 3, commits: [[1, 2, 3], []])
    let store = try open()
    defer { store.close() }
    for number in 1...2 { try commit(UInt8(number), store) }
    let (file, header, _) = try journal()
    var position = header.start
    position.transactionID = 8
    let bytes = entry.encoded(at: position, epoch: header.epoch).bytes
    for offset in bytes.indices {
      var damaged = bytes
      damaged[offset] ^= 1
      try file.append(damaged, at: position)
      #expect(try file.entry(at: position, epoch: header.epoch) == nil, "\(offset)")
      #expect(try file.isDamaged(at: position, epoch: header.epoch), "\(offset)")
    }
    try file.append(bytes, at: position)
    let read = try #require(try file.entry(at: position, epoch: header.epoch))
    #expect(read.entry.commits == entry.commits)
  }
}
