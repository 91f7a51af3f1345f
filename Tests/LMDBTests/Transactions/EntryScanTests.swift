import CArborBits
import Testing
import LMDB

/// Reading many entries at once, compared with reading one at a time.
@Suite struct EntryScanTests {
  /// Values range from zero bytes to several pages, and keys have gaps.
  @Test(
    "Reading many entries at once agrees with single moves",
    arguments: [0...120, 0...9000, 2000...2100])
  func givesWhatSingleMovesGive(
    sizes: ClosedRange<Int>
  ) throws {
    let seed = RandomTests.seed("givesWhatSingleMovesGive")
    var random = SeededGenerator(seed: seed)
    let folder = try TemporaryFolder()
    let environment = try folder.environment()
    let database = try #require(try environment.openDatabase("d", .integerKey, create: true))
    #expect(try environment.read { try keys($0.reader, database, from: 0, &random) } == [])
    for count in [1, 10, 3000] {
      try environment.write { transaction in
        for _ in 0..<count {
          let key = UInt64(random.below(2000)).nativeBytes
          if random.below(4) == 0 {
            _ = try transaction.delete(database, key)
          } else {
            let size = random.below(20) == 0 ? sizes : 0...120
            try transaction.put(database, key, random.bytes(size))
          }
        }
        try transaction.put(database, UInt64.max.nativeBytes, [1])
        // The dirty pages of a writer are not in the map.
        try compare(transaction.reader, database, &random, "ARBOR_SEED=\(seed)")
      }
      try environment.read { transaction in
        for _ in 0..<10 { try compare(transaction.reader, database, &random, "ARBOR_SEED=\(seed)") }
      }
    }
  }

  private func compare(
    _ reader: TransactionReader, _ database: Database, _ random: inout SeededGenerator,
    _ comment: Comment
  ) throws {
    let start = random.below(3) == 0 ? 0 : UInt64(random.below(2100))
    var wanted: [Pair] = []
    let cursor = try reader.cursor(database)
    var entry = try cursor.seek(start)
    while let here = entry {
      wanted.append(Pair(here))
      entry = try cursor.next()
    }
    #expect(try keys(reader, database, from: start, &random) == wanted, comment)
  }

  /// Returns all entries from a key on, read in steps of random size.
  private func keys(
    _ reader: TransactionReader, _ database: Database, from start: UInt64,
    _ random: inout SeededGenerator
  ) throws -> [Pair] {
    var scan = reader.scan(database, from: start)
    var found: [Pair] = []
    var isEnd = false
    while !isEnd {
      let size = [1, 8, 15, 64, 300][random.below(5)]
      try withUnsafeTemporaryAllocation(of: NumberedEntry.self, capacity: size) { room in
        let count = try scan.next(into: room)
        found += room[..<count].map { Pair(key: $0.key.nativeBytes, value: Array($0.value)) }
        isEnd = count < size
      }
    }
    return found
  }
}
