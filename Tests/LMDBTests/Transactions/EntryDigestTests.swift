import Testing
import LMDB

/// The digest changes recorded by a transaction, compared with the digests of its databases.
@Suite struct EntryDigestTests {
  private let folder: TemporaryFolder
  private let environment: Environment

  init() throws {
    folder = try TemporaryFolder()
    environment = try folder.environment()
  }

  /// A database and its incrementally maintained digest.
  private struct Kept {
    let kind: DatabaseModel.Kind
    let database: Database
    var sum: UInt64 = 0

    mutating func apply(_ changes: [EntryDigestChange]) {
      for change in changes where change.seed == EntryDigest.seed(of: database.name) {
        if change.isCleared { sum = 0 }
        sum &+= change.sum
      }
    }
  }

  private func digest(_ database: Database) throws -> UInt64 {
    let transaction = try environment.beginRead()
    return try #require(try transaction.reader.digest(of: database))
  }

  /// Every kind of put and deletion is recorded, in databases of every kind, and an aborted
  /// transaction changes no digest.
  @Test("Every change of entries is recorded, and an aborted one isn't")
  func changesAreNotedWhateverMakesThem() throws {
    let seed = RandomTests.seed("changesAreNotedWhateverMakesThem")
    var random = SeededGenerator(seed: seed)
    var kept = try DatabaseModel.Kind.allCases.map { kind in
      Kept(
        kind: kind,
        database: try #require(
          try environment.openDatabase(
            "\(kind)", kind.flags.subtracting(.integerDuplicates), create: true)))
    }
    for _ in 0..<150 {
      let isCommitted = random.below(4) > 0
      let operations = (0..<random.below(30)).map { _ in random.next() }
      var changes: [EntryDigestChange] = []
      try environment.runWrite { transaction in
        do {
          for operation in operations {
            var random = SeededGenerator(seed: operation)
            try change(kept[random.below(kept.count)], transaction, &random)
          }
        } catch {
          Issue.record("\(error), ARBOR_SEED=\(seed)")
        }
        changes = transaction.takeDigestChanges()
        #expect(transaction.takeDigestChanges().isEmpty)
        return isCommitted
      }
      for index in kept.indices {
        if isCommitted { kept[index].apply(changes) }
        #expect(
          try digest(kept[index].database) == kept[index].sum,
          "\(kept[index].kind), ARBOR_SEED=\(seed)")
      }
    }
  }

  private func change(
    _ kept: Kept, _ transaction: borrowing WriteTransaction, _ random: inout SeededGenerator
  ) throws(LMDBError) {
    let (database, kind) = (kept.database, kept.kind)
    let key =
      kind.hasIntegerKeys
      ? UInt64(random.below(12)).nativeBytes : [UInt8(random.below(12)), 0, 1]
    let size = random.below(9) == 0 ? 2000 + random.below(16_000) : random.below(90)
    let value =
      kind.hasDuplicates
      ? [0, 0, 0, 0, 0, 0, UInt8(random.below(5))]
      : [UInt8](repeating: UInt8(random.below(4)), count: size)
    switch random.below(20) {
    case 0: try transaction.clear(database)
    case 1...4:
      _ = try with(key) { (key) throws(LMDBError) in
        try transaction.delete(database, key: key)
      }
    case 5...7:
      _ = try with(key, value) { (key, value) throws(LMDBError) in
        try transaction.delete(database, key: key, value: value)
      }
    case 8...10:
      let mode: PutMode = [.overwrite, .noOverwrite, .noDuplicate][random.below(3)]
      _ = try with(key, value) { (key, value) throws(LMDBError) in
        try transaction.put(database, key: key, value: value, mode)
      }
    case 11 where kind == .integerKeys:
      let cursor = try transaction.cursor(database)
      let last = try cursor.last()?.integerKey ?? 0
      let number = UInt64(random.below(14))
      let byte = UInt8(random.below(4))
      try cursor.put(key: number, reserving: size, isAbove: number > last) {
        _ = $0.initializeMemory(as: UInt8.self, repeating: byte)
      }
    case 12 where kind == .integerKeys:
      let last = try transaction.cursor(database).last()?.integerKey ?? 0
      let number = UInt64(random.below(14))
      let byte = UInt8(random.below(4))
      try transaction.put(database, key: number, reserving: size, isAbove: number > last) {
        _ = $0.initializeMemory(as: UInt8.self, repeating: byte)
      }
    case 12 where kind.hasDuplicates:
      let cursor = try transaction.cursor(database)
      guard try cursor.last() == nil else { return }
      let numbers = (0..<UInt64(1 + random.below(700))).map { $0 * 3 }
      try with(key) { (key) throws(LMDBError) in try cursor.append(key: key, numbers: numbers) }
    default:
      let cursor = try transaction.cursor(database)
      _ = try with(key, value) { (key, value) throws(LMDBError) in
        try cursor.put(key: key, value: value, .noDuplicate)
      }
    }
  }

  private func with<R>(
    _ key: [UInt8], _ body: (UnsafeRawBufferPointer) throws(LMDBError) -> R
  ) throws(LMDBError) -> R {
    try key.withUnsafeBufferPointer { (key) throws(LMDBError) in
      try body(UnsafeRawBufferPointer(key))
    }
  }

  private func with<R>(
    _ key: [UInt8], _ value: [UInt8],
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(LMDBError) -> R
  ) throws(LMDBError) -> R {
    try with(key) { (key) throws(LMDBError) in
      try with(value) { (value) throws(LMDBError) in try body(key, value) }
    }
  }

  @Test("Deleting a database clears its digest, even if its handle or name is reused")
  func deletedDatabasesAreCleared() throws {
    let first = try #require(try environment.openDatabase("first", [], create: true))
    var changes: [EntryDigestChange] = []
    try environment.write { transaction in
      try transaction.put(first, [1], [1])
      try transaction.deleteDatabase(first)
      let second = try transaction.createDatabase("second", [])
      try transaction.put(second, [1], [1])
      let again = try transaction.createDatabase("first", [])
      try transaction.put(again, [2], [2])
      changes = transaction.takeDigestChanges()
    }
    #expect(changes.first?.isCleared == true)
    for name in ["first", "second"] {
      let database = try #require(try environment.openDatabase(name))
      var kept = Kept(kind: .plain, database: database, sum: 77)
      if name == "second" { kept.sum = 0 }
      kept.apply(changes)
      #expect(try digest(database) == kept.sum)
    }
  }

  @Test("Entries that differ in one bit, length or database have different hashes")
  func hashesTellEntriesApart() {
    var random = SeededGenerator(seed: 7)
    var hashes: Set<UInt64> = []
    var count = 0
    func note(_ name: String, _ key: [UInt8], _ value: [UInt8]) {
      count += 1
      hashes.insert(
        key.withUnsafeBytes { key in
          value.withUnsafeBytes { EntryDigest.hash(EntryDigest.seed(of: name), key, $0) }
        })
    }
    for size in [0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 64, 65, 200] {
      let (key, value) = (random.bytes(8...8), random.bytes(size...size))
      for name in ["e/Person", "e/Persons", "i/Person/name"] { note(name, key, value) }
      note("e/Person", key + [0], value)
      note("e/Person", key, value + [0])
      for bit in 0..<8 * size {
        var other = value
        other[bit / 8] ^= 1 << UInt8(bit % 8)
        note("e/Person", key, other)
      }
      for bit in 0..<64 {
        var other = key
        other[bit / 8] ^= 1 << UInt8(bit % 8)
        note("e/Person", other, value)
      }
    }
    #expect(hashes.count == count)
  }

  @Test("Only the ends and the length of a large value contribute to its hash")
  func largeValuesCountByTheirEnds() {
    let seed = EntryDigest.seed(of: "b/Person")
    func hash(_ value: [UInt8]) -> UInt64 {
      [1, 2].withUnsafeBytes { key in
        value.withUnsafeBytes { EntryDigest.hash(seed, key, $0) }
      }
    }
    let value = [UInt8](repeating: 5, count: 20_000)
    let positions = [(0, true), (63, true), (10_000, false), (19_936, true), (19_999, true)]
    for (position, isSeen) in positions {
      var other = value
      other[position] ^= 1
      #expect((hash(other) != hash(value)) == isSeen, "byte \(position)")
    }
    #expect(hash(value + [5]) != hash(value))
  }
}
