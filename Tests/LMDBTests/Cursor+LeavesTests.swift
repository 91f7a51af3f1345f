import Testing

@testable import LMDB

/// Many entries at once, against one by one.
@Suite struct CursorLeavesTests {
  /// Values of no byte up to several pages, with holes in between.
  @Test(arguments: DatabaseModel.Kind.allCases) func givesWhatSingleMovesGive(
    kind: DatabaseModel.Kind
  ) throws {
    let seed = RandomTests.seed("givesWhatSingleMovesGive")
    var random = SeededGenerator(seed: seed)
    let folder = try TemporaryFolder()
    let environment = try folder.environment()
    let database = try #require(try environment.openDatabase("d", kind.flags, create: true))
    try environment.write { transaction in
      for _ in 0..<3000 {
        let key = UInt64(random.below(2000))
        if random.below(4) == 0 {
          _ = try transaction.delete(database, key.nativeBytes)
        } else {
          let value =
            kind.hasDuplicates
            ? UInt64(random.below(50)).nativeBytes
            : random.bytes(random.below(20) == 0 ? 0...9000 : 0...120)
          try transaction.put(database, key.nativeBytes, value)
        }
      }
      // The pages of a writer are not in the map.
      try compare(transaction.cursor(database), transaction.cursor(database), &random)
    }
    try environment.read { transaction in
      try compare(transaction.cursor(database), transaction.cursor(database), &random)
      guard kind == .integerKeys else { return }
      let walk = try transaction.cursor(database)
      let single = try transaction.cursor(database)
      let start = UInt64(random.below(2000))
      var wanted = try single.seek(start)
      let found = try withUnsafeTemporaryAllocation(of: Entry.self, capacity: 100) { room in
        room[..<(try walk.entries(from: start, into: room))].map(Pair.init)
      }
      for entry in found {
        #expect(wanted.map(Pair.init) == entry, "ARBOR_SEED=\(seed)")
        wanted = try single.next()
      }
    }
  }

  private func compare(
    _ walk: borrowing Cursor, _ single: borrowing Cursor, _ random: inout SeededGenerator
  ) throws {
    var isEnd = false
    while !isEnd {
      let size = [1, 8, 15, 16, 17, 64, 300][random.below(7)]
      try withUnsafeTemporaryAllocation(of: Entry.self, capacity: size) { room in
        let count = try walk.next(into: room)
        for place in 0..<count {
          let wanted = try single.next()
          #expect(wanted.map(Pair.init) == Pair(room[place]))
        }
        isEnd = count < size
        // The cursor stands on the last entry, whoever told it.
        if count > 0 { #expect(try walk.current().map(Pair.init) == Pair(room[count - 1])) }
      }
    }
    #expect(try single.next() == nil)
  }
}
