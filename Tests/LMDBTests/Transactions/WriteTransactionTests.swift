import Foundation
import Testing
import LMDB

@Suite struct WriteTransactionTests {
  private let folder: TemporaryFolder
  private let environment: Environment
  private let plain: Database
  private let numbers: Database
  private let sets: Database

  init() throws {
    folder = try TemporaryFolder()
    environment = try folder.environment()
    plain = try #require(try environment.openDatabase("plain", [], create: true))
    numbers = try #require(try environment.openDatabase("numbers", .integerKey, create: true))
    sets = try #require(
      try environment.openDatabase("sets", [.integerKey, .integerSets], create: true))
  }

  @Test("Entries can be put in every mode")
  func putsInEveryMode() throws {
    try environment.write { transaction in
      try transaction.put(plain, [1], [1])
      #expect(try transaction.put(plain, [1], [2]))
      #expect(try transaction.put(plain, [1], [3], .noOverwrite) == false)
      #expect(try transaction.bytes(plain, [1]) == [2])
      #expect(try transaction.put(plain, [2], [], .append))
      #expect(try transaction.bytes(plain, [2]) == [])
      #expect(try transaction.put(sets, key: 1, value: 7))
      #expect(try transaction.put(sets, key: 1, value: 7) == false)
      #expect(try transaction.put(sets, key: 1, value: 9, .appendDuplicate))
      #expect(try transaction.put(sets, key: 2, value: 1, .appendDuplicate))
      #expect(try transaction.entryCount(sets) == 3)
      #expect(try transaction.delete(sets, key: 1, value: 8) == false)
      #expect(try transaction.delete(sets, key: 1, value: 7))
      #expect(try transaction.delete(sets, key: 2))
      #expect(try transaction.delete(sets, key: 2) == false)
      #expect(try transaction.entryCount(sets) == 1)
    }
    #expect(throws: LMDBError.keyExists) {
      try environment.write { try $0.put(plain, [1], [1], .append) }
    }
    #expect(try environment.value(plain, [1]) == [2])
  }

  /// Reserved values of up to several pages are filled in place, whether a cursor overwrites or
  /// appends them.
  @Test("Reserved values are filled in place")
  func fillsReservedBytesInPlace() throws {
    let seed = RandomTests.seed("fillsReservedBytesInPlace")
    var random = SeededGenerator(seed: seed)
    var wanted: [UInt64: [UInt8]] = [:]
    for _ in 0..<20 {
      var keys = Set((0..<random.below(400)).map { _ in UInt64(random.below(3000)) }).sorted()
      if random.below(3) == 0, let last = keys.last { keys += last + 1...last + 50 }
      try environment.write { transaction in
        let cursor = try transaction.cursor(numbers)
        let last = try cursor.last()?.integerKey
        for key in keys {
          let value = random.bytes(0...(random.below(30) == 0 ? 9000 : 200))
          try cursor.put(
            key: key, reserving: value.count, isAbove: last.map { key > $0 } ?? true
          ) { $0.copyBytes(from: value) }
          wanted[key] = value
        }
      }
      for (key, value) in wanted {
        #expect(try environment.value(numbers, key.nativeBytes) == value, "ARBOR_SEED=\(seed)")
      }
      #expect(try environment.statistics(of: numbers).entries == wanted.count)
      try environment.verifyPages()
    }
    #expect(throws: LMDBError.keyExists) {
      try environment.write { transaction in
        try transaction.cursor(numbers).put(key: 0, reserving: 1, isAbove: true) { _ in }
      }
    }
  }

  @Test("Keys and values that are too long are rejected")
  func refusesKeysAndValuesThatAreTooLong() throws {
    try environment.write { transaction in
      for key in [[], [UInt8](repeating: 1, count: 512)] {
        #expect(throws: LMDBError.badValueSize) { try transaction.put(plain, key, [1]) }
      }
      // The transaction remains usable.
      try transaction.put(plain, [UInt8](repeating: 1, count: 511), [1])
    }
    #expect(try environment.statistics(of: plain).entries == 1)
    #expect(try environment.info().maximumKeySize == 511)
  }

  @Test("A write transaction within another one is rejected")
  func refusesAWriteInsideAWrite() throws {
    try environment.write { transaction in
      #expect(throws: LMDBError.nestedWrite) { try environment.write { _ in } }
      #expect(throws: LMDBError.nestedWrite) { try environment.openDatabase("new") }
      try transaction.put(plain, [1], [1])
    }
    #expect(try environment.value(plain, [1]) == [1])
  }

  @Test("A writer sees its own changes, and readers don't")
  func seesItsOwnChangesAndReadersDoNot() throws {
    try environment.write { transaction in try transaction.put(plain, [1], [1]) }
    let before = try environment.beginRead()
    try environment.write { transaction in
      try transaction.put(plain, [1], [2])
      #expect(try transaction.bytes(plain, [1]) == [2])
      #expect(try environment.value(plain, [1]) == [1])
      let isNext = transaction.id == before.id + 1
      #expect(isNext)
    }
    let old = try before.bytes(plain, [1])
    #expect(old == [1])
    #expect(try environment.value(plain, [1]) == [2])
  }

  @Test("Concurrent writers are serialized, and no update is lost")
  func letsOneThreadWriteAtATime() throws {
    DispatchQueue.concurrentPerform(iterations: 4) { worker in
      for index in 0..<100 {
        do {
          try environment.write { transaction in
            let count = try transaction.get(numbers, key: 0)?.loadUnaligned(as: UInt64.self) ?? 0
            try transaction.put(numbers, key: 0, value: count + 1, .overwrite)
            try transaction.put(
              numbers, key: UInt64(1 + worker * 1000 + index), value: 1, .overwrite)
          }
        } catch {
          Issue.record(error)
        }
      }
    }
    try environment.read { transaction in
      let count = try transaction.get(numbers, key: 0)?.loadUnaligned(as: UInt64.self)
      #expect(count == 400)
      let entries = try transaction.entryCount(numbers)
      #expect(entries == 401)
    }
  }

  @Test("A database can be cleared")
  func clearsADatabase() throws {
    try environment.write { transaction in
      for key in UInt8(1)...100 { try transaction.put(plain, [key], [key]) }
    }
    try environment.write { transaction in
      try transaction.clear(plain)
      try transaction.put(plain, [7], [7])
    }
    #expect(try environment.statistics(of: plain).entries == 1)
  }
}
