import ArborModel
import Foundation
import LMDB
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

  private func open() throws -> StoreEngine {
    var opening = StoreOpening(
      .file(path), model: ManagedObjectModel(entities: [EntityDescription(name: "Note")]))
    opening.isJournaled = true
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
    // An idle process makes a checkpoint.
    let end = ContinuousClock.now + .seconds(60)
    while try journal().1.number == header.number, ContinuousClock.now < end { usleep(10_000) }
    #expect(try journal().1.number == header.number + 1)

    // The machine is restarted: both headers have another boot ID, which is at offset 36.
    let copy = folder.path("copy.arbor")
    for suffix in ["", "-journal"] {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
    }
    var bytes = try [UInt8](Data(contentsOf: URL(filePath: copy + "-journal")))
    for start in [0, JournalHeader.pageSize] {
      bytes[start + 36] ^= 1
      let end = start + JournalHeader.size - 4
      withUnsafeBytes(of: Checksum.of(Array(bytes[start..<end])).littleEndian) {
        bytes.replaceSubrange(end..<end + 4, with: $0)
      }
    }
    try Data(bytes).write(to: URL(filePath: copy + "-journal"))
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

  @Test("A transaction that waits for a checkpoint is waited for")
  func waitsForACheckpoint() throws {
    var opening = StoreOpening(
      .file(path), model: ManagedObjectModel(entities: [EntityDescription(name: "Note")]))
    opening.isJournaled = true
    opening.journalLimits.patience = 0.05
    opening.journalLimits.idle = 1000
    let store = try StoreEngine.open(opening)
    defer { store.close() }
    for number in 1...2 { try commit(UInt8(number), store) }
    try store.waitUntilDurable()
    let (file, header, _) = try journal()
    file.demandCheckpoint()
    let error = #expect(throws: StoreError.self) { try store.waitUntilDurable() }
    guard case .inputOutput(_, file.path, errno: EIO)? = error else { throw try #require(error) }
    // The next transaction makes the checkpoint.
    try commit(3, store)
    let (_, later, _) = try journal()
    #expect(later.epoch != header.epoch && !later.isIncomplete)
    try store.waitUntilDurable()
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
    }
    try file.append(bytes, at: position)
    let read = try #require(try file.entry(at: position, epoch: header.epoch))
    #expect(read.entry.commits == entry.commits)
  }
}
