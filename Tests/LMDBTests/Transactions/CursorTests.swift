import Testing
import LMDB

@Suite struct CursorTests {
  private let folder: TemporaryFolder
  private let environment: Environment
  private let plain: Database
  private let sets: Database
  private let numbers: Database

  init() throws {
    folder = try TemporaryFolder()
    environment = try folder.environment()
    plain = try #require(try environment.openDatabase("plain", [], create: true))
    sets = try #require(try environment.openDatabase("sets", .integerSets, create: true))
    numbers = try #require(try environment.openDatabase("numbers", .integerKey, create: true))
  }

  @Test("A cursor moves and seeks")
  func movesAndSeeks() throws {
    try environment.write { transaction in
      for key in [2, 4, 6] as [UInt8] { try transaction.put(plain, [key], [key, key]) }
      let cursor = try transaction.cursor(plain)
      #expect(try cursor.next().map(Pair.init) == Pair(key: [2], value: [2, 2]))
      #expect(try cursor.current()?.key[0] == 2)
      #expect(try cursor.seek([3])?.key[0] == 4)
      #expect(try cursor.previous()?.key[0] == 2)
      #expect(try cursor.seek([7]) == nil)
      #expect(try cursor.seekExact([3]) == nil)
      #expect(try cursor.seekExact([6])?.value.count == 2)
      #expect(try cursor.last()?.key[0] == 6)
      #expect(try cursor.next() == nil)
      #expect(try cursor.valueCount() == 1)
      let fresh = try transaction.cursor(plain)
      #expect(try fresh.previous()?.key[0] == 6)
    }
  }

  @Test("A cursor seeks numbers by value")
  func seeksNumbersByValue() throws {
    try environment.write { transaction in
      let keys: [UInt64] = [1, 255, 256, 65_536, .max]
      for key in keys { try transaction.put(numbers, key: key, value: key, .overwrite) }
      let cursor = try transaction.cursor(numbers)
      #expect(try cursor.seek(2 as UInt64)?.integerKey == 255)
      #expect(try cursor.seek(257 as UInt64)?.integerKey == 65_536)
      #expect(try cursor.seekExact(UInt64.max)?.integerValue == .max)
      #expect(try cursor.seekExact(3 as UInt64) == nil)
      #expect(try transaction.get(numbers, key: 256)?.count == 8)
    }
  }

  @Test(
    "Seeking within the values of a key finds the same positions as in a sorted array",
    arguments: [1, 2, 100, 5000])
  func seeksValues(count: Int) throws {
    try environment.write { transaction in
      let values = (0..<count).map { UInt64($0) * 3 + 3 }
      for key in [[1], [5], [9]] as [[UInt8]] {
        for value in values { try transaction.put(sets, key, value.nativeBytes) }
      }
      let cursor = try transaction.cursor(sets)
      for value in [0, 3, 4, 150, UInt64(count) * 3, UInt64(count) * 3 + 1] as [UInt64] {
        let atLeast = try [UInt8(5)].withUnsafeBytes {
          try cursor.seek($0, value: value)?.integerValue
        }
        #expect(atLeast == values.first { $0 >= value })
        if atLeast != nil {
          #expect(try cursor.current()?.key[0] == 5)
          let next = try cursor.nextDuplicate()?.integerValue
          #expect(next == values.first { $0 > atLeast ?? 0 })
        }
        let exact = try [UInt8(5)].withUnsafeBytes {
          try cursor.seekExact($0, value: value)?.integerValue
        }
        #expect(exact == (values.contains(value) ? value : nil))
      }
      #expect(try cursor.seekExact([5])?.integerValue == 3)
      #expect(try cursor.previousDuplicate() == nil)
      #expect(try cursor.lastDuplicate()?.integerValue == values.last)
      #expect(try transaction.valueCount(sets, key: [5]) == count)
      #expect(try transaction.valueCount(sets, key: [6]) == 0)
      #expect(try cursor.seekExact([1]) != nil)
      #expect(try cursor.nextKey()?.key[0] == 5)
      #expect(try cursor.previousKey()?.integerValue == values.last)
    }
  }

  @Test("The values of a key are read in batches")
  func readsBatchesOfTheKeyItStandsOn() throws {
    try environment.write { transaction in
      try transaction.put(sets, [1], UInt64(11).nativeBytes)
      for value in 0..<1500 { try transaction.put(sets, [2], UInt64(value).nativeBytes) }
      try transaction.put(sets, [3], UInt64(33).nativeBytes)
      let cursor = try transaction.cursor(sets)
      #expect(try cursor.firstBatchOfCurrentKey() == nil)
      var found: [[UInt64]] = []
      var entry = try cursor.first()
      while entry != nil {
        var values: [UInt64] = []
        var batch = try cursor.firstBatchOfCurrentKey()
        while let bytes = batch {
          for offset in stride(from: 0, to: bytes.count, by: 8) {
            values.append(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
          }
          batch = try cursor.nextBatch()
        }
        found.append(values)
        entry = try cursor.nextKey()
      }
      #expect(found == [[11], (0..<1500).map { UInt64($0) }, [33]])
      var seen = 0
      try [UInt8(2)].withUnsafeBytes { key in
        try cursor.forEachDuplicateBatch(key) { batch in
          seen += batch.count / 8
          return false
        }
      }
      #expect(seen > 1 && seen < 1500)
    }
  }

  @Test("Appending out of order is rejected")
  func appendsInOrderOnly() throws {
    try environment.write { transaction in
      let cursor = try transaction.cursor(numbers)
      for key in 0..<1000 { try cursor.put(key: UInt64(key), value: UInt64(key), .append) }
      let values = try transaction.cursor(sets)
      try [UInt8(1)].withUnsafeBytes { key in
        for value in 0..<1000 { try values.put(key: key, value: UInt64(value), .appendDuplicate) }
        #expect(try values.put(key: key, value: 5, .noDuplicate) == false)
        #expect(try values.put(key: key, value: 5000, .noDuplicate))
      }
      #expect(try transaction.entryCount(numbers) == 1000)
      #expect(try transaction.entryCount(sets) == 1001)
    }
    #expect(throws: LMDBError.keyExists) {
      try environment.write { transaction in
        try transaction.cursor(numbers).put(key: 999, value: 0, .append)
      }
    }
    #expect(throws: LMDBError.keyExists) {
      try environment.write { transaction in
        try [UInt8(1)].withUnsafeBytes { key in
          _ = try transaction.cursor(sets).put(key: key, value: 4999, .appendDuplicate)
        }
      }
    }
  }

  @Test("A cursor that is destroyed after its snapshot doesn't affect the next snapshot")
  func mayBeDestroyedLate() throws {
    try environment.write { try $0.put(plain, [1], [1]) }
    var cursor: Cursor? = nil
    do {
      let transaction = try environment.beginRead()
      cursor = try transaction.cursor(plain)
    }
    let next = try environment.beginRead()
    let own = try next.cursor(plain)
    cursor = nil
    #expect(try own.next()?.key[0] == 1)
    let isGone = cursor == nil
    #expect(isGone)
  }

  @Test("A cursor is reused for the next snapshot")
  func isRenewedOnTheNextSnapshot() throws {
    for number in UInt8(0)..<10 {
      try environment.write { try $0.put(plain, [number], [number]) }
      let transaction = try environment.beginRead()
      for _ in 0..<2 {
        let cursor = try transaction.cursor(plain)
        #expect(try cursor.last()?.value[0] == number)
      }
    }
  }
}
