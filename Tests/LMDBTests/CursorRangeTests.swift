import TestLength
import Testing

@testable import LMDB

@Suite struct CursorRangeTests {
  /// Ranges with every kind of ends, both ways, against the sorted array.
  @Test(arguments: DatabaseModel.Kind.allCases)
  func agreesWithASortedArray(kind: DatabaseModel.Kind) throws {
    var generator = SeededGenerator(seed: RandomTests.seed("agreesWithASortedArray(\(kind))"))
    let folder = try TemporaryFolder()
    let environment = try folder.environment()
    let database = try #require(try environment.openDatabase("it", kind.flags, create: true))
    for size in [0, 1, 2, 7, 300] {
      var model = DatabaseModel(kind)
      for _ in 0..<size {
        let key = Self.key(kind, &generator)
        for _ in 0..<(kind.hasDuplicates ? 1 + generator.below(40) : 1) {
          model.put(key, UInt64(generator.below(2000)).nativeBytes)
        }
      }
      let pairs = model.pairs
      try environment.write { transaction in
        try transaction.clear(database)
        for pair in pairs { try transaction.put(database, pair.key, pair.value) }
      }
      for _ in 0..<TestLength.of(60, long: 2000) {
        let lower = Self.bound(model, &generator)
        let upper = Self.bound(model, &generator)
        let expected = pairs.filter {
          Self.isAllowed($0.key, by: lower, asLower: true, model)
            && Self.isAllowed($0.key, by: upper, asLower: false, model)
        }
        try Self.check(environment, database, lower, upper, expected)
      }
    }
  }

  @Test func endsForGood() throws {
    let folder = try TemporaryFolder()
    let environment = try folder.environment()
    let database = try #require(try environment.openDatabase("it", [], create: true))
    try environment.write { transaction in
      for key in UInt8(1)...5 { try transaction.put(database, [key], [key]) }
      var range = try transaction.range(database, from: .excluded([1]), to: .included([3]))
      var keys: [UInt8] = []
      while let entry = try range.next() { keys.append(entry.key[0]) }
      #expect(keys == [2, 3])
      let more = try range.next() == nil
      #expect(more)
    }
  }

  @Test func countsWithoutAScanAndStopsAtTheLimit() throws {
    let folder = try TemporaryFolder()
    let environment = try folder.environment()
    let database = try #require(
      try environment.openDatabase("it", .numberSets, create: true))
    try environment.write { transaction in
      for key in UInt8(0)..<10 {
        for number in UInt64(0)..<100 { try transaction.put(database, [key], number.nativeBytes) }
      }
      var all = try transaction.range(database, from: .included([2]), to: .excluded([7]))
      let total = try all.countRemaining()
      #expect(total == 500)
      var limited = try transaction.range(database)
      let some = try limited.countRemaining(limit: 150)
      #expect(some == 200)
    }
  }

  private static func key(
    _ kind: DatabaseModel.Kind, _ generator: inout SeededGenerator
  ) -> [UInt8] {
    kind.hasIntegerKeys
      ? UInt64(generator.below(600)).nativeBytes
      : (0..<1 + generator.below(3)).map { _ in UInt8(generator.below(8)) }
  }

  private static func bound(
    _ model: DatabaseModel, _ generator: inout SeededGenerator
  ) -> KeyBound {
    let isExcluded = generator.below(2) == 0
    if generator.below(6) == 0 { return .unbounded }
    let key = key(model.kind, &generator)
    if model.kind.hasIntegerKeys {
      let number = DatabaseModel.number(key)
      return isExcluded ? .excludedNumber(number) : .includedNumber(number)
    }
    let bytes = generator.below(20) == 0 ? [] : key
    return isExcluded ? .excluded(bytes) : .included(bytes)
  }

  private static func isAllowed(
    _ key: [UInt8], by bound: KeyBound, asLower: Bool, _ model: DatabaseModel
  ) -> Bool {
    let end: [UInt8]
    switch bound {
    case .unbounded: return true
    case .included(let bytes), .excluded(let bytes): end = bytes
    case .includedNumber(let number), .excludedNumber(let number): end = number.nativeBytes
    }
    if key == end { return !bound.isExcluded }
    return asLower ? model.precedes(end, key) : model.precedes(key, end)
  }

  private static func check(
    _ environment: Environment, _ database: Database, _ lower: KeyBound, _ upper: KeyBound,
    _ expected: [Pair]
  ) throws {
    try environment.read { transaction in
      let forward = try scan(try transaction.range(database, from: lower, to: upper))
      #expect(forward == expected, "\(lower) to \(upper)")
      let backward = try scan(try transaction.range(database, from: lower, to: upper, .backward))
      #expect(backward.reversed() == expected, "\(lower) to \(upper), backward")
      var keys: [[UInt8]] = []
      var range = try transaction.range(database, from: lower, to: upper)
      while let entry = try range.nextKey() { keys.append(Array(entry.key)) }
      #expect(keys == unique(expected))
      keys = []
      range = try transaction.range(database, from: lower, to: upper, .backward)
      while let entry = try range.nextKey() { keys.append(Array(entry.key)) }
      #expect(keys.reversed() == unique(expected))
      range = try transaction.range(database, from: lower, to: upper)
      let count = try range.countRemaining()
      #expect(count == expected.count)
    }
  }

  private static func scan(_ range: consuming CursorRange) throws -> [Pair] {
    var pairs: [Pair] = []
    while let entry = try range.next() { pairs.append(Pair(entry)) }
    return pairs
  }

  private static func unique(_ pairs: [Pair]) -> [[UInt8]] {
    pairs.reduce(into: []) { if $0.last != $1.key { $0.append($1.key) } }
  }
}
