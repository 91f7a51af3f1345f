import Foundation
import Testing

@testable import LMDB

/// Pages that are not verified again: those written by this process, and those of databases that it
/// has verified completely.
@Suite("Pages that are not verified again") struct PageGuardChangesTests {
  private let folder: TemporaryFolder
  private static let count: UInt64 = 20_000

  /// Creates a file with a database of numbers and one of sets of numbers.
  init() throws {
    folder = try TemporaryFolder()
    let environment = try folder.environment()
    let (numbers, sets) = try Self.databases(environment, isNew: true)
    for round in 0..<3 as Range<UInt64> {
      try environment.write { transaction in
        for number in 0..<Self.count {
          try transaction.put(
            numbers, number.nativeBytes, [UInt8](repeating: UInt8(round), count: 40))
          try transaction.put(sets, key: number % 50, value: number + round)
        }
      }
    }
    try environment.close()
  }

  private static func databases(
    _ environment: Environment, isNew: Bool = false
  ) throws -> (numbers: Database, sets: Database) {
    let flags = DatabaseFlags.integerSets.union(.integerKey)
    return (
      try #require(try environment.openDatabase("numbers", .integerKey, create: isNew)),
      try #require(try environment.openDatabase("sets", flags, create: isNew))
    )
  }

  private static func verifiedPages(_ environment: Environment) throws -> Int {
    try #require(environment.writerSlot.pointer.pointee.pageGuard).pointee.verifiedPages
  }

  @Test("A commit rewrites its pages up to the roots, and the next one verifies none of them")
  func aCommitDoesNotVerifyWhatTheOneBeforeHasWritten() throws {
    let environment = try folder.environment { $0.create = false }
    let (numbers, sets) = try Self.databases(environment)
    func commit(_ round: UInt64) throws {
      try environment.write { transaction in
        let number = Self.count / 2
        try transaction.put(numbers, number.nativeBytes, round.nativeBytes)
        try transaction.put(sets, key: 7, value: Self.count / 2 + round * 8)
        try transaction.delete(sets, key: 8, value: round * 50 + 8)
      }
    }
    try commit(0)
    let before = try Self.verifiedPages(environment)
    #expect(before > 6)
    for round in 1..<100 as Range<UInt64> { try commit(round) }
    // Splitting or merging leaves touches siblings for the first time.
    #expect(try Self.verifiedPages(environment) - before <= 12)
    try environment.verifyPages()
    try environment.close()
  }

  @Test("Only a commit that writes something is recorded as a state of this process")
  func onlyACommitThatChangesSomethingMakesAState() throws {
    struct Ended: Error {}
    let environment = try folder.environment { $0.create = false }
    let (numbers, _) = try Self.databases(environment)
    #expect(throws: Ended.self) {
      try environment.write { transaction in
        try transaction.put(numbers, UInt64(3).nativeBytes, [1])
        throw Ended()
      }
    }
    let guarding = try #require(environment.writerSlot.pointer.pointee.pageGuard)
    #expect(guarding.pointee.committed == nil)
    try environment.write { transaction in
      let isPut = try transaction.put(numbers, UInt64(3).nativeBytes, [1], .noOverwrite)
      #expect(!isPut)
    }
    #expect(guarding.pointee.committed == nil)
    try environment.write { transaction in
      try transaction.put(numbers, UInt64(9000).nativeBytes, [1])
    }
    #expect(guarding.pointee.committed == guarding.pointee.state.transactionID + 1)
    try environment.close()
  }

  /// After a commit by another process, simulated by one without a guard, pages are verified again.
  @Test("Pages are verified again after another process commits")
  func positionsAreForgottenWhereSomebodyElseHasCommitted() throws {
    let environment = try folder.environment { $0.create = false }
    let (numbers, _) = try Self.databases(environment)
    let slot = environment.writerSlot.pointer
    func commit() throws {
      try environment.write { transaction in
        try transaction.put(numbers, UInt64(77).nativeBytes, [1])
      }
    }
    try commit()
    let before = try Self.verifiedPages(environment)
    try commit()
    #expect(try Self.verifiedPages(environment) == before)
    // Simulates a commit by another process.
    let guarding = slot.pointee.pageGuard
    slot.pointee.pageGuard = nil
    environment.marks.areComplete = true
    try commit()
    environment.marks.areComplete = false
    slot.pointee.pageGuard = guarding
    try commit()
    #expect(try Self.verifiedPages(environment) > before)
    try environment.close()
  }

  @Test("Before many changes, all pages of a database are verified once per process")
  func manyChangesVerifyTheirDatabaseOnce() throws {
    let environment = try folder.environment { $0.create = false }
    let (numbers, sets) = try Self.databases(environment)
    func change(_ count: Int, _ value: UInt8) throws {
      try environment.write { transaction in
        try transaction.reader.verifyPages(of: numbers, forChanges: count)
        for number in 0..<UInt64(count) {
          try transaction.put(numbers, (number * 7 % Self.count).nativeBytes, [value])
        }
      }
    }
    try change(10, 1)
    let state = UInt64(try environment.read { $0.id })
    #expect(!environment.marks.isSettled(numbers.handle, in: state))
    try change(5000, 2)
    #expect(environment.marks.isSettled(numbers.handle, in: state))
    #expect(!environment.marks.isSettled(numbers.handle, in: state - 1))
    #expect(!environment.marks.isSettled(sets.handle, in: state))
    let before = try Self.verifiedPages(environment)
    try change(5000, 3)
    try change(10, 4)
    // The process also wrote the pages of the main database, but doesn't record that.
    #expect(try Self.verifiedPages(environment) - before <= 4)
    try environment.verifyPages()
    try environment.close()
  }

  @Test("A handle that is reused for another database isn't considered verified")
  func aDeletedDatabaseIsNoLongerSettled() throws {
    let environment = try folder.environment { $0.create = false }
    let (numbers, _) = try Self.databases(environment)
    let state = UInt64(try environment.read { $0.id })
    try environment.write { transaction in
      try transaction.reader.verifyPages(of: numbers)
      #expect(environment.marks.isSettled(numbers.handle, in: state))
      try transaction.deleteDatabase(numbers)
    }
    #expect(!environment.marks.isSettled(numbers.handle, in: state + 1))
    let other = try #require(try environment.openDatabase("others", [], create: true))
    #expect(other.handle == numbers.handle)
    #expect(!environment.marks.isSettled(other.handle, in: state + 2))
    try environment.close()
  }

  /// A database can't be cleared if the free lists contain one of its duplicate pages, which no
  /// branch of the database refers to.
  @Test("A database can't be cleared if one of its pages is listed as free")
  func noPageOfADatabaseMayBeFree() throws {
    let path = folder.file("store.arbor")
    var data = try Data(contentsOf: URL(filePath: path))
    let used = try Self.list(aUsedPageIn: &data)
    try data.write(to: URL(filePath: path))
    let environment = try folder.environment { $0.create = false }
    let (numbers, sets) = try Self.databases(environment)
    var found: [LMDBError] = []
    for database in [numbers, sets] {
      do {
        try environment.write { try $0.clear(database) }
      } catch let error as LMDBError {
        found.append(error)
      }
    }
    let finding = PageFinding(page: used.page, database: used.database, what: "it is used twice")
    #expect(found == [.damaged(finding)])
    try environment.close()
  }

  /// Puts a leaf of packed values into a free list, whose numbers remain in descending order.
  private static func list(
    aUsedPageIn data: inout Data
  ) throws -> (page: UInt64, database: String) {
    let pageSize = 4096
    func word(_ offset: Int) -> UInt64 {
      data.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
    }
    func page(_ number: Int) -> Int { number * pageSize }
    func half(_ offset: Int) -> Int {
      Int(data.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt16.self) })
    }
    let meta = page(word(page(0) + 144) > word(page(1) + 144) ? 0 : 1)
    // The root of the free-list tree is a leaf. Its first list may be on overflow pages.
    let leaf = page(Int(word(meta + 80)))
    let node = leaf + half(leaf + 16)
    let isLarge = half(node + 4) & 1 != 0
    let value = node + 8 + half(node + 6)
    let list = isLarge ? page(Int(word(value))) + 16 : value
    let free = (0..<Int(word(list))).map { word(list + 8 + 8 * $0) }
    for number in 2..<data.count / pageSize where half(page(number) + 10) & 0x20 != 0 {
      let number = UInt64(number)
      guard number > (free.last ?? 0), !free.contains(number) else { continue }
      let index = try #require(free.firstIndex { $0 < number })
      guard index == 0 || free[index - 1] > number else { continue }
      // A leaf of which the file contains only one copy, the one in use.
      guard let database = try self.database(of: number, in: data) else { continue }
      data.withUnsafeMutableBytes {
        $0.storeBytes(of: number, toByteOffset: list + 8 + 8 * index, as: UInt64.self)
      }
      return (number, database)
    }
    throw LMDBError.notFound
  }

  /// Returns the database that a page belongs to, or `nil`.
  private static func database(of page: UInt64, in data: Data) throws -> String? {
    let folder = try TemporaryFolder()
    let path = folder.file("store.arbor")
    var data = data
    data[Int(page) * 4096] ^= 1
    try data.write(to: URL(filePath: path))
    do throws(LMDBError) { try Environment.verifyPages(path: path) } catch {
      guard case .damaged(let finding) = error, finding.page == page else { return nil }
      return ["numbers", "sets"].contains(finding.database) ? finding.database : nil
    }
    return nil
  }
}
