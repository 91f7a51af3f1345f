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
  private func runs(
    _ flags: DatabaseFlags, _ form: NumberForm, _ random: inout SeededGenerator
  ) -> [Run] {
    let counts = [1, 2, 3, 4, 60, 61, 200, 500, 511, 512, 513, 514, 1024, 1025, 1026, 3000]
    let most = counts[random.below(counts.count)]
    return (0..<1 + random.below(most > 100 ? 12 : 150)).map { index in
      let tail = [UInt8](repeating: 3, count: random.below(random.below(8) == 0 ? 480 : 12))
      let key =
        flags.contains(.integerKey)
        ? UInt64(index * 5 + random.below(5)).nativeBytes
        : [UInt8(index / 256), UInt8(index % 256)] + tail
      var number = random.next() >> 30
      if form == .wide { number |= UInt64(random.below(1 << 16)) << 48 } else { number |= 9 << 48 }
      let numbers = (0..<1 + random.below(most)).map { _ in
        number += 1 + random.next() >> 50
        return number
      }
      return (key, numbers)
    }
  }

  @Test(
    "Inserting many numbers at once yields the same tree as one at a time",
    arguments: [DatabaseFlags.numberSets, [.integerKey, .numberSets]],
    [NumberForm.wide, .narrow(prefix: 9)])
  func manyAtATimeLieAsOneByOne(flags: DatabaseFlags, form: NumberForm) throws {
    let seed = RandomTests.seed("manyAtATimeLieAsOneByOne(\(flags.rawValue), \(form.size))")
    var random = SeededGenerator(seed: seed)
    let many = try #require(try environment.openDatabase("many", flags, create: true))
      .storing(form)
    let single = try #require(try environment.openDatabase("single", flags, create: true))
      .storing(form)
    for _ in 0..<TestLength.of(30, long: 400) {
      let runs = runs(flags, form, &random)
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
          try cursor.put(key: key, number: number, mode)
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
              _ = try transaction.delete(database, key: key, number: number)
            } else {
              _ = try transaction.put(database, key: key, number: number + 1, .overwrite)
            }
          }
        }
      }
    }
  }

  /// The stored bytes of a number: its last five in big-endian order, after the prefix if there is
  /// room for it.
  private static func stored(_ number: UInt64, _ form: NumberForm) -> [UInt8] {
    let bytes = stride(from: 56, through: 0, by: -8).map { UInt8(number >> UInt64($0) & 0xFF) }
    return (form.size == 7 ? Array(bytes[..<2]) : []) + bytes[3...]
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
        run.numbers.map { Pair(key: run.key, value: Self.stored($0, many.numbers)) }
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
