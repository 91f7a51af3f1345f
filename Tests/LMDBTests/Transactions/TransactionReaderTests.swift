import Testing
import LMDB

@Suite struct TransactionReaderTests {
  /// Reads through either kind of transaction.
  private func sum(_ reader: TransactionReader, _ database: Database) throws -> UInt64 {
    var sum: UInt64 = 0
    let cursor = try reader.cursor(database)
    while let entry = try cursor.next() { sum += entry.integerKey * entry.integerValue }
    return sum
  }

  @Test("Readers and the writer share the reading interface")
  func servesReadersAndTheWriterAlike() throws {
    let folder = try TemporaryFolder()
    let environment = try folder.environment()
    let database = try #require(try environment.openDatabase("it", .integerKey, create: true))
    try environment.write { transaction in
      for number in 1...10 as ClosedRange<UInt64> {
        try transaction.put(database, key: number, value: number, .overwrite)
      }
      let own = try sum(transaction.reader, database)
      #expect(own == 385)
      #expect(try environment.read { try sum($0.reader, database) } == 0)
    }
    #expect(try environment.read { try sum($0.reader, database) } == 385)
  }

  @Test("Keys of every form are found")
  func findsKeysOfEveryForm() throws {
    let folder = try TemporaryFolder()
    let environment = try folder.environment()
    let numbers = try #require(try environment.openDatabase("n", .integerKey, create: true))
    let plain = try #require(try environment.openDatabase("p", [], create: true))
    try environment.write { transaction in
      try transaction.put(numbers, key: .max, value: 3, .overwrite)
      try transaction.put(plain, [1, 0, 2], [9])
      try transaction.put(plain, [1, 0], [8])
    }
    let transaction = try environment.beginRead()
    let reader = transaction.reader
    #expect(try reader.get(numbers, key: UInt64.max)?.loadUnaligned(as: UInt64.self) == 3)
    #expect(try reader.get(numbers, key: 0) == nil)
    #expect(try reader.get(plain, key: [1, 0, 2]).map { Array($0) } == [9])
    #expect(try [UInt8]([1, 0]).withUnsafeBytes { try reader.get(plain, key: $0)?[0] } == 8)
    #expect(try reader.get(plain, key: [1]) == nil)
    #expect(throws: LMDBError.badValueSize) {
      _ = try reader.get(plain, key: [])
    }
    let shape = try reader.statistics(plain)
    #expect(shape.entries == 2 && shape.depth == 1 && shape.leafPages == 1)
    #expect(try reader.entryCount(numbers) == 1)
  }

  @Test("Using a database that was opened after the snapshot is an error")
  func refusesADatabaseOpenedLater() throws {
    let folder = try TemporaryFolder()
    let environment = try folder.environment()
    let transaction = try environment.beginRead()
    let later = try #require(try environment.openDatabase("later", [], create: true))
    #expect(throws: LMDBError.invalidArgument) { _ = try transaction.get(later, key: [1]) }
    #expect(throws: LMDBError.invalidArgument) { _ = try transaction.cursor(later) }
  }
}
