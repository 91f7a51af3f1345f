import TestLength
import Testing
import LMDB

/// Random operations on every kind of database, against plain dictionaries. These cover both the
/// wrapper and the engine's code for duplicates.
@Suite struct DatabaseTests {
  @Test("Random operations agree with a dictionary", arguments: DatabaseModel.Kind.allCases)
  func agreesWithADictionary(kind: DatabaseModel.Kind) throws {
    let seed = RandomTests.seed("agreesWithADictionary(\(kind))")
    var generator = SeededGenerator(seed: seed)
    let folder = try TemporaryFolder()
    // A tiny map, so that transactions rerun while it grows.
    let environment = try folder.environment(mapSize: 1 << 16)
    let database = try #require(try environment.openDatabase("it", kind.flags, create: true))
    var run = RandomRun(kind: kind, generator: &generator)
    let operations = TestLength.of(8000, long: 1_000_000)
    var done = 0
    var transactions = 0
    while done < operations {
      let count = 1 + generator.below(400)
      try run.transaction(environment, database, operations: count, &generator)
      done += count
      transactions += 1
      if transactions % TestLength.of(20, long: 100) == 0 {
        try run.compare(environment, database)
      }
    }
    try run.compare(environment, database)
    let reopened = try reopen(environment, folder)
    let again = try #require(try reopened.openDatabase("it", kind.flags, create: false))
    try run.compare(reopened, again)
  }

  private func reopen(_ environment: Environment, _ folder: TemporaryFolder) throws -> Environment {
    try environment.close()
    return try folder.environment { $0.create = false }
  }
}

/// The model of one database and the keys that a run draws from.
private struct RandomRun {
  private struct Stop: Error {}

  var model: DatabaseModel
  private let keys: [[UInt8]]

  init(kind: DatabaseModel.Kind, generator: inout SeededGenerator) {
    model = DatabaseModel(kind)
    var keys: [[UInt8]] = []
    for index in 0..<400 {
      if kind.hasIntegerKeys {
        let wide = generator.next()
        keys.append((index % 2 == 0 ? UInt64(index) : wide).nativeBytes)
      } else {
        // Short, long and maximum-length keys, some with a long common prefix.
        let shared = index % 3 == 0 ? [UInt8](repeating: 7, count: 300) : []
        let rest = generator.bytes(index % 5 == 0 ? 1...3 : 1...(511 - shared.count))
        keys.append(shared + rest)
      }
    }
    keys.append(kind.hasIntegerKeys ? UInt64.max.nativeBytes : [UInt8](repeating: 255, count: 511))
    self.keys = keys
  }

  /// Runs operations in one transaction. One in ten transactions fails and must change nothing.
  mutating func transaction(
    _ environment: Environment, _ database: Database, operations: Int,
    _ generator: inout SeededGenerator
  ) throws {
    let aborts = generator.below(10) == 0
    let start = generator
    var end = generator
    let before = model
    var after = model
    do {
      try environment.write { transaction in
        // The closure may rerun: it starts from the same state each time.
        after = before
        end = start
        for _ in 0..<operations {
          try operate(transaction, database, &after, &end)
        }
        if aborts { throw Stop() }
      }
      model = after
    } catch is Stop {}
    generator = end
  }

  private func operate(
    _ transaction: borrowing WriteTransaction, _ database: Database,
    _ model: inout DatabaseModel, _ generator: inout SeededGenerator
  ) throws {
    let key = keys[generator.below(keys.count)]
    let value = newValue(&generator)
    switch generator.below(1000) {
    case 0:
      if generator.below(5) == 0 {
        try transaction.clear(database)
        model.clear()
      }
    case 1..<100:
      let wasThere = model.contents[key] != nil
      #expect(try transaction.delete(database, key) == wasThere)
      model.delete(key)
    case 100..<300 where model.kind.hasDuplicates:
      let some = model.contents[key]?.randomElement(using: &generator) ?? value
      #expect(try transaction.delete(database, key, some) == model.delete(key, some))
    case 300..<400 where !model.kind.hasDuplicates:
      let wasThere = model.contents[key] != nil
      #expect(try transaction.put(database, key, value, .noOverwrite) == !wasThere)
      if !wasThere { model.put(key, value) }
    case 300..<700 where model.kind.hasDuplicates:
      let wasThere = model.contains(key, value)
      #expect(try transaction.put(database, key, value, .noDuplicate) == !wasThere)
      model.put(key, value)
    case 700..<750:
      #expect(try transaction.bytes(database, key) == model.contents[key]?.first)
    case 750..<770 where model.kind.hasDuplicates:
      // A run of numbers, so that some keys get their own tree of values.
      let first = DatabaseModel.number(value)
      for number in 0..<200 {
        let value = (first &+ UInt64(number)).nativeBytes
        try transaction.put(database, key, value, .noDuplicate)
        model.put(key, value)
      }
    default:
      #expect(try transaction.put(database, key, value))
      model.put(key, value)
    }
  }

  private func newValue(_ generator: inout SeededGenerator) -> [UInt8] {
    if model.kind.hasDuplicates { return UInt64(generator.below(3000)).nativeBytes }
    return generator.below(50) == 0
      ? [UInt8](repeating: 9, count: generator.below(20_000)) : generator.bytes(0...120)
  }

  /// Compares the whole database with the model, through every access path.
  func compare(_ environment: Environment, _ database: Database) throws {
    let expected = model.pairs
    let keys = model.keys
    try environment.read { transaction in
      #expect(try transaction.entryCount(database) == expected.count)
      let cursor = try transaction.cursor(database)
      var forward: [Pair] = []
      while let entry = try cursor.next() { forward.append(Pair(entry)) }
      #expect(forward == expected)
      var backward: [Pair] = []
      var step = try cursor.last()
      while let entry = step {
        backward.append(Pair(entry))
        step = try cursor.previous()
      }
      #expect(backward.reversed() == expected)
      var scanned: [[UInt8]] = []
      var found = try cursor.first()
      while let entry = found {
        scanned.append(Array(entry.key))
        #expect(try cursor.valueCount() == model.contents[Array(entry.key)]?.count)
        found = try cursor.nextKey()
      }
      #expect(scanned == keys)
      if model.kind == .numberSets || model.kind == .integerNumberSets {
        try compareBatches(cursor, keys)
      }
    }
  }

  private func compareBatches(_ cursor: borrowing Cursor, _ keys: [[UInt8]]) throws {
    for key in keys {
      var values: [[UInt8]] = []
      try key.withUnsafeBytes { key in
        var batch = try cursor.firstBatch(key)
        while let bytes = batch {
          for start in stride(from: 0, to: bytes.count, by: 8) {
            values.append(Array(bytes[start..<start + 8]))
          }
          batch = try cursor.nextBatch()
        }
      }
      #expect(values == model.contents[key])
    }
  }
}
