import Foundation
import Testing

@testable import LMDB

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
      try environment.openDatabase("sets", [.integerKey, .numberSets], create: true))
  }

  @Test func putsInEveryMode() throws {
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

  @Test func fillsReservedBytesInPlace() throws {
    try environment.write { transaction in
      let isNew = try transaction.put(numbers, key: 5, reserving: 5000) { bytes in
        for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: index) }
      }
      #expect(isNew)
      let isChanged = try transaction.put(numbers, key: 5, reserving: 1, .noOverwrite) { _ in
        Issue.record("nothing was reserved")
      }
      #expect(!isChanged)
    }
    let found = try environment.value(numbers, UInt64(5).nativeBytes)
    #expect(found == (0..<5000).map { UInt8(truncatingIfNeeded: $0) })
  }

  @Test func refusesKeysAndValuesThatAreTooLong() throws {
    try environment.write { transaction in
      for key in [[], [UInt8](repeating: 1, count: 512)] {
        #expect(throws: LMDBError.badValueSize) { try transaction.put(plain, key, [1]) }
      }
      // The transaction stays usable.
      try transaction.put(plain, [UInt8](repeating: 1, count: 511), [1])
    }
    #expect(try environment.statistics(of: plain).entries == 1)
    #expect(try environment.info().maximumKeySize == 511)
  }

  @Test func refusesAWriteInsideAWrite() throws {
    try environment.write { transaction in
      #expect(throws: LMDBError.nestedWrite) { try environment.write { _ in } }
      #expect(throws: LMDBError.nestedWrite) { try environment.openDatabase("new") }
      try transaction.put(plain, [1], [1])
    }
    #expect(try environment.value(plain, [1]) == [1])
  }

  @Test func seesItsOwnChangesAndReadersDoNot() throws {
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

  /// Threads that write at once come one after the other; nothing is lost.
  @Test func letsOneThreadWriteAtATime() throws {
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

  @Test func clearsADatabase() throws {
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
