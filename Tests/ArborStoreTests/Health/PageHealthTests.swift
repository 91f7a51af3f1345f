import ArborLocks
import ArborModel
import Dispatch
import Foundation
import LMDB
import TestSupport
import Testing

@testable import ArborStore

/// What verification does about a store with a damaged page, before and while it is open.
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

  /// Lets the last commit be of a machine that was started before this one.
  private func age() throws {
    let file = try open(looksForDamage: false)
    defer { file.close() }
    try Vandal(file: file).write { _, header in header.bootID = UUID() }
  }

  /// Changes a bit in a leaf of records, which nothing has read yet.
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

  /// A list of free pages that names the leaf of some records: the next commits would write over
  /// them.
  @Test func aPageInUseIsNotGivenAway() throws {
    let sound = try Data(contentsOf: URL(filePath: path))
    let tag = try #require(sound.range(of: Data("tag 25".utf8))).lowerBound / 4096
    let data = try #require(try listing(UInt64(tag), asFreeIn: sound))
    try data.write(to: URL(filePath: path))
    let file = try open()
    defer { file.close() }
    let draft = Draft(file)
    // It takes its numbers from what is reserved, or writes itself.
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

  /// The file with a page put in the place of one that is listed as free.
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

  @Test func fullVerificationComesBeforeOpening() throws {
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

  @Test func aQuickLookIsEnoughForTheSameBoot() throws {
    try damage()
    for looksForDamage in [false, true] {
      let file = try open(looksForDamage: looksForDamage)
      usleep(20_000)
      try file.snapshot().close()
      // The check looks at the pages first, and what it finds makes the store suspect.
      #expect(try file.check().problems.map(\.kind) == [.damagedPage])
      file.close()
    }
  }

  @Test func damageBehindAnOpenStoreMakesItSuspect() throws {
    try age()
    try damage()
    // Where the verification is faster than the rest of the opening, that is told of the damage.
    var opened: StoreEngine?
    for _ in 0..<100 where opened == nil { opened = try? open() }
    let file = try #require(opened)
    expectCorrupted {
      // Until the verification behind the store has come to the damage, which a busy machine lets
      // wait for long: its thread is of low priority.
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

  /// Whether an operation hears of a finding.
  private static func hears(_ health: PageHealth) -> Bool {
    do throws(StoreError) { try health.report() } catch { return true }
    return false
  }

  /// Whoever looks while something is being found hears of it, or the next one does.
  @Test func everyFindingIsHeardOfOnce() {
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

  @Test func aWriterThatIsRefusedHasHeardOfIt() {
    let health = PageHealth()
    #expect(throws: Never.self) { try health.permitWriting() }
    health.note(Self.finding)
    for _ in 0..<2 {
      #expect(throws: StoreError.self) { try health.permitWriting() }
      #expect(!Self.hears(health))
      health.note(Self.finding)
    }
  }

  /// Closing ends the verification, and the next commit is of the present machine.
  @Test func aSoundStoreIsVerifiedUntilTheNextCommit() throws {
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

  @Test func damageFoundWhileOpeningIsLocated() throws {
    var data = try Data(contentsOf: URL(filePath: path))
    // A number in the header of the newest root page that LMDB does not look at.
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
