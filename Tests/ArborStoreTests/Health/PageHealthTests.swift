import ArborLocks
import ArborModel
import Dispatch
import Foundation
import LMDB
import TestSupport
import Testing

@testable import ArborStore

/// Damaged pages, detected when a store is opened or while it is open.
@Suite struct PageHealthTests {
  private let folder: TemporaryFolder
  private let model: ManagedObjectModel
  private var path: String { folder.path("office.arbor") }

  init() throws {
    folder = try TemporaryFolder()
    model = try OfficeModel.make()
    let file = try StoreEngine.open(StoreOpening(.file(path), model: model))
    let draft = Draft(file)
    for number in 0..<50 { try draft.insert("Tag", ["name": .string("tag \(number)")]) }
    try draft.commit()
    file.close()
  }

  private func open(
    checksEveryPage: Bool = false, looksForDamage: Bool = true
  ) throws -> StoreEngine {
    var opening = StoreOpening(.file(path), model: model)
    opening.checksEveryPage = checksEveryPage
    opening.looksForDamage = looksForDamage
    return try StoreEngine.open(opening)
  }

  /// Makes the last commit look as if it was made before the machine restarted.
  private func age() throws {
    let file = try open(looksForDamage: false)
    defer { file.close() }
    try Vandal(file: file).write { _, header in header.bootID = UUID() }
  }

  /// Flips a bit in a leaf of records that hasn't been read yet.
  private func damage() throws {
    var data = try Data(contentsOf: URL(filePath: path))
    let record = try #require(data.range(of: Data("tag 25".utf8)))
    data[record.lowerBound / 4096 * 4096 + 12] ^= 1
    try data.write(to: URL(filePath: path))
  }

  private func expectCorrupted(_ body: () throws -> Void) {
    do {
      try body()
      Issue.record("nothing was thrown")
    } catch StoreError.corrupted(_, _, let what) {
      #expect(what.contains("bounds"), "\(what)")
    } catch {
      Issue.record("\(error)")
    }
  }

  @Test("A commit fails if a free list contains a leaf in use, which it would overwrite")
  func aPageInUseIsNotGivenAway() throws {
    let sound = try Data(contentsOf: URL(filePath: path))
    let tag = try #require(sound.range(of: Data("tag 25".utf8))).lowerBound / 4096
    let data = try #require(try listing(UInt64(tag), asFreeIn: sound))
    try data.write(to: URL(filePath: path))
    let file = try open()
    defer { file.close() }
    let draft = Draft(file)
    // The insertion may use reserved numbers, or write a reservation itself.
    for _ in 0..<2 {
      do {
        try draft.insert("Tag", ["name": .string("late")])
        try draft.commit()
        Issue.record("nothing was thrown")
      } catch StoreError.corrupted(_, _, let what) {
        #expect(what == "Page \(tag), database e/Tag: it is used twice.")
      }
    }
    #expect(try Data(contentsOf: URL(filePath: path)) == data)
    #expect(try file.check().problems.map(\.kind) == [.damagedPage])
  }

  /// Returns the file with `page` in place of a page that is listed as free.
  private func listing(_ page: UInt64, asFreeIn data: Data) throws -> Data? {
    func word(_ offset: Int) -> Int {
      data[offset..<offset + 8].reversed().reduce(0) { $0 &<< 8 | Int($1) }
    }
    let meta = word(144) > word(4096 + 144) ? 0 : 4096
    let root = word(meta + 80) * 4096
    for offset in stride(from: root + 16, to: root + 4096 - 8, by: 2)
    where (2..<data.count / 4096).contains(word(offset)) {
      var changed = data
      changed.replaceSubrange(offset..<offset + 8, with: withUnsafeBytes(of: page) { Data($0) })
      let copy = folder.path("copy.arbor")
      try changed.write(to: URL(filePath: copy))
      do throws(LMDBError) { try Environment.verifyPages(path: copy) } catch {
        if case .damaged(let finding) = error, finding.what == "it is used twice",
          finding.database == "e/Tag"
        {
          return changed
        }
      }
    }
    return nil
  }

  @Test("Opening with full verification rejects a damaged file or sets it aside")
  func fullVerificationComesBeforeOpening() throws {
    let sound = try open(checksEveryPage: true)
    try TemporaryStore.check(path: path)
    sound.close()
    try damage()
    expectCorrupted { try open(checksEveryPage: true).close() }
    var opening = StoreOpening(.file(path), model: model)
    opening.checksEveryPage = true
    opening.setsDamagedAside = true
    let fresh = try StoreEngine.open(opening)
    #expect(try fresh.check().recordCount == 0)
    fresh.close()
  }

  @Test("If the machine wasn't restarted since the last commit, opening doesn't verify every page")
  func aQuickLookIsEnoughForTheSameBoot() throws {
    try damage()
    for looksForDamage in [false, true] {
      let file = try open(looksForDamage: looksForDamage)
      usleep(20_000)
      try file.snapshot().close()
      // The check verifies the pages first, and its finding makes the store suspect.
      #expect(try file.check().problems.map(\.kind) == [.damagedPage])
      file.close()
    }
  }

  @Test("Damage found while a store is open makes it reject further reads and writes")
  func damageBehindAnOpenStoreMakesItSuspect() throws {
    try age()
    try damage()
    // If verification is faster than the rest of opening, opening throws the finding.
    var opened: StoreEngine?
    for _ in 0..<100 where opened == nil { opened = try? open() }
    let file = try #require(opened)
    expectCorrupted {
      // Until verification in the background reaches the damage. This may take long on a busy
      // machine, because its thread has a low priority.
      for _ in 0..<60_000 {
        try file.snapshot().close()
        usleep(5000)
      }
    }
    try file.snapshot().close()
    for _ in 0..<2 {
      expectCorrupted {
        let draft = Draft(file)
        try draft.insert("Tag", ["name": .string("new")])
        try draft.commit()
      }
    }
    expectCorrupted { try file.purge() }
    #expect(try file.check().problems.map(\.kind) == [.damagedPage])
    file.close()
  }

  private static let finding = StoreError.corrupted(what: "out of bounds")

  /// Whether an operation receives a finding.
  private static func hears(_ health: PageHealth) -> Bool {
    do throws(StoreError) { try health.report() } catch { return true }
    return false
  }

  @Test("A finding is reported to exactly one reader, even under concurrency")
  func everyFindingIsHeardOfOnce() {
    for round in 0..<20_000 {
      let health = PageHealth()
      let heard = Lock(0)
      DispatchQueue.concurrentPerform(iterations: 2) { index in
        if index == 0 { return health.note(Self.finding) }
        for _ in 0..<20 where Self.hears(health) { heard.withLock { $0 += 1 } }
      }
      for _ in 0..<2 {
        if Self.hears(health) { heard.withLock { $0 += 1 } }
        health.note(Self.finding)
      }
      let count = heard.withLock { $0 }
      guard count == 1 else {
        Issue.record("round \(round): heard \(count) times")
        return
      }
    }
  }

  @Test("A rejected writer counts as having received the finding")
  func aWriterThatIsRefusedHasHeardOfIt() {
    let health = PageHealth()
    #expect(throws: Never.self) { try health.permitWriting() }
    health.note(Self.finding)
    for _ in 0..<2 {
      #expect(throws: StoreError.self) { try health.permitWriting() }
      #expect(!Self.hears(health))
      health.note(Self.finding)
    }
  }

  @Test("A store is verified when it is opened after a restart, until the next commit")
  func aSoundStoreIsVerifiedUntilTheNextCommit() throws {
    try age()
    for _ in 0..<20 { try open().close() }
    let file = try open()
    let draft = Draft(file)
    try draft.insert("Tag", ["name": .string("new")])
    try draft.commit()
    #expect(try file.check().isSound)
    try file.destroy()
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("Damage found during opening is reported with its location")
  func damageFoundWhileOpeningIsLocated() throws {
    var data = try Data(contentsOf: URL(filePath: path))
    // The flags of the free-list database in both root pages, which LMDB doesn't check.
    for meta in [0, 4096] { data[meta + 45] ^= 0x10 }
    try data.write(to: URL(filePath: path))
    do {
      try open().close()
      Issue.record("a damaged store was opened")
    } catch StoreError.corrupted(_, _, let what) {
      #expect(what.contains("flags"), "\(what)")
    }
  }
}
