import TestLength
import Testing
import LMDB

/// Bulk insertion of numbers, which must produce the same tree as inserting one at a time.
@Suite struct CursorWritingTests {
  private let folder: TemporaryFolder
  private let environment: Environment

  init() throws {
    folder = try TemporaryFolder()
    environment = try folder.environment()
  }

  /// A key and its numbers.
  private typealias Run = (key: [UInt8], numbers: [UInt64])

  /// Returns ascending keys whose numbers fit in a node, in one page, in a tree of pages, or need
  /// more than one call of the engine.
  private func runs(_ kind: DatabaseModel.Kind, _ random: inout SeededGenerator) -> [Run] {
    let counts = [1, 2, 3, 4, 60, 61, 200, 500, 511, 512, 513, 514, 1024, 1025, 1026, 3000]
    let most = counts[random.below(counts.count)]
    return (0..<1 + random.below(most > 100 ? 12 : 150)).map { index in
      let tail = [UInt8](repeating: 3, count: random.below(random.below(8) == 0 ? 480 : 12))
      let key =
        kind.hasIntegerKeys
        ? UInt64(index * 5 + random.below(5)).nativeBytes
        : [UInt8(index / 256), UInt8(index % 256)] + tail
      var number = random.next() >> 20
      let numbers = (0..<1 + random.below(most)).map { _ in
        number += 1 + random.next() >> 50
        return number
      }
      return (key, numbers)
    }
  }

  @Test(
    "Inserting many numbers at once yields the same tree as one at a time",
    arguments: [DatabaseModel.Kind.numberSets, .integerNumberSets])
  func manyAtATimeLieAsOneByOne(kind: DatabaseModel.Kind) throws {
    let seed = RandomTests.seed("manyAtATimeLieAsOneByOne(\(kind))")
    var random = SeededGenerator(seed: seed)
    let many = try #require(try environment.openDatabase("many", kind.flags, create: true))
    let single = try #require(try environment.openDatabase("single", kind.flags, create: true))
    for _ in 0..<TestLength.of(30, long: 400) {
      let runs = runs(kind, &random)
      let parts = 1 + random.below(3)
      try environment.write { transaction in
        for database in [many, single] { try transaction.clear(database) }
        try put(runs, many, parts: parts, transaction)
        try putOneByOne(runs, single, transaction)
      }
      try compare(many, single, runs, "ARBOR_SEED=\(seed)")
      try change(runs, [many, single], &random)
      try compare(many, single, nil, "ARBOR_SEED=\(seed)")
    }
    try environment.close()
    try PageVerifierTests.verify(folder.file("store.arbor"))
  }

  private func put(
    _ runs: [Run], _ database: Database, parts: Int, _ transaction: borrowing WriteTransaction
  ) throws {
    let cursor = try transaction.cursor(database)
    for run in runs {
      try run.key.withUnsafeBytes { key in
        try cursor.append(key: key, numbers: [])
        let size = max(1, run.numbers.count / parts)
        for start in stride(from: 0, to: run.numbers.count, by: size) {
          let part = run.numbers[start..<min(start + size, run.numbers.count)]
          try cursor.append(key: key, numbers: Array(part), isNewKey: start == 0)
        }
      }
    }
  }

  private func putOneByOne(
    _ runs: [Run], _ database: Database, _ transaction: borrowing WriteTransaction
  ) throws {
    let cursor = try transaction.cursor(database)
    for run in runs {
      try run.key.withUnsafeBytes { key in
        var mode = Cursor.BulkMode.append
        for number in run.numbers {
          try cursor.put(key: key, value: number, mode)
          mode = .appendDuplicate
        }
      }
    }
  }

  /// Deletes some numbers and adds others.
  private func change(
    _ runs: [Run], _ databases: [Database], _ random: inout SeededGenerator
  ) throws {
    let changes = (0..<200).map { _ in
      let run = runs[random.below(runs.count)]
      return (run.key, run.numbers[random.below(run.numbers.count)], random.below(2))
    }
    try environment.write { transaction in
      for database in databases {
        for (key, number, kind) in changes {
          try key.withUnsafeBytes { key in
            if kind == 0 {
              _ = try transaction.delete(database, key: key, value: number)
            } else {
              _ = try transaction.put(database, key: key, value: number + 1)
            }
          }
        }
      }
    }
  }

  /// Compares the entries and tree statistics of two databases.
  private func compare(
    _ many: Database, _ single: Database, _ runs: [Run]?, _ comment: Comment
  ) throws {
    try environment.read { transaction in
      #expect(try transaction.statistics(many) == transaction.statistics(single), comment)
      let left = try transaction.cursor(many)
      let right = try transaction.cursor(single)
      var found: [Pair] = []
      while let entry = try left.next() {
        found.append(Pair(entry))
        #expect(try right.next().map { Pair($0) } == found.last, comment)
      }
      #expect(try right.next() == nil, comment)
      let expected = runs?.flatMap { run in
        run.numbers.map { Pair(key: run.key, value: $0.nativeBytes) }
      }
      if let expected { #expect(found == expected, comment) }
    }
  }

  @Test("Appended numbers must ascend under the last key")
  func numbersAscendUnderTheLastKey() throws {
    let sets = try #require(try environment.openDatabase("sets", .numberSets, create: true))
    func append(_ key: [UInt8], _ numbers: [UInt64], isNewKey: Bool) throws {
      try environment.write { transaction in
        let cursor = try transaction.cursor(sets)
        try key.withUnsafeBytes {
          try cursor.append(key: $0, numbers: numbers, isNewKey: isNewKey)
        }
      }
    }
    try append([2], [5, 6, 7], isNewKey: true)
    #expect(throws: LMDBError.keyExists) { try append([2], [8, 9], isNewKey: true) }
    #expect(throws: LMDBError.keyExists) { try append([1], [8, 9], isNewKey: true) }
    #expect(throws: LMDBError.keyExists) { try append([2], [7, 8], isNewKey: false) }
    #expect(throws: LMDBError.keyExists) { try append([2], [8, 10, 9], isNewKey: false) }
    try append([2], [8, 9], isNewKey: false)
    let transaction = try environment.beginRead()
    #expect(try transaction.entryCount(sets) == 5)
  }
}
