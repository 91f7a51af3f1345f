import TestLength
import Testing

@testable import LMDB

/// Searching pages in the map, compared with the engine.
@Suite struct MappedTreeTests {
  /// The distribution of keys, which determines the quality of interpolation.
  enum Spread: CaseIterable {
    case dense, clustered, random, doubling
  }

  @Test("Numbers are found as the engine finds them", arguments: Spread.allCases)
  func findsTheNumbersThatTheEngineFinds(spread: Spread) throws {
    let seed = RandomTests.seed("findsTheNumbersThatTheEngineFinds")
    var random = SeededGenerator(seed: seed)
    for count in [1, 2, 30, 300, 8000] {
      let keys = numbers(count, spread, &random)
      try withTree(.integerKey, keys.map(\.nativeBytes), &random) { tree, stored in
        let near = keys.flatMap { [$0, $0 &+ 1, $0 &- 1] }
        for key in near + [0, .max, .max / 2] {
          expect(
            tree.value(of: MappedNumber(key)), stored[key.nativeBytes],
            "\(key) ARBOR_SEED=\(seed)")
        }
      }
    }
  }

  @Test("Byte strings are found as the engine finds them", arguments: Spread.allCases)
  func findsTheBytesThatTheEngineFinds(spread: Spread) throws {
    let seed = RandomTests.seed("findsTheBytesThatTheEngineFinds")
    var random = SeededGenerator(seed: seed)
    for count in [1, 2, 30, 300, 8000] {
      let keys = numbers(count, spread, &random).map { bytes($0, &random) }
      try withTree([], keys, &random) { tree, stored in
        for key in keys {
          for key in [key, key.dropLast(), key + [0], key + [255], [UInt8](key.reversed())]
          where !key.isEmpty {
            let found = key.withUnsafeBytes { tree.value(of: MappedBytes($0)) }
            expect(found, stored[Array(key)], "\(key) ARBOR_SEED=\(seed)")
          }
        }
      }
    }
  }

  @Test("A tree that a slot has cached matches its snapshot, whatever is committed meanwhile")
  func readsTheStateOfItsSnapshot() throws {
    let folder = try TemporaryFolder()
    let environment = try folder.environment()
    let database = try #require(try environment.openDatabase("d", .integerKey, create: true))
    func commit(_ value: UInt64) throws {
      try environment.write { transaction in
        for key in 0..<300 as Range<UInt64> {
          try transaction.put(database, key: key, value: value, .overwrite)
        }
      }
    }
    func expect(_ value: UInt64, _ reader: TransactionReader) throws {
      for key in 0..<300 as Range<UInt64> {
        #expect(try reader.get(database, key: key)?.loadUnaligned(as: UInt64.self) == value)
      }
      #expect(try reader.get(database, key: 300) == nil)
    }
    try commit(0)
    let first = try environment.beginRead()
    for value in 1..<20 as Range<UInt64> {
      try commit(value)
      try expect(0, first.reader)
      for _ in 0..<2 {
        let last = try environment.beginRead()
        try expect(value, last.reader)
      }
    }
  }

  @Test("A cached tree isn't used after the map has grown and moved")
  func looksAnewWhereTheMapHasMoved() throws {
    let folder = try TemporaryFolder()
    let environment = try folder.environment(mapSize: 1 << 16)
    let database = try #require(try environment.openDatabase("d", [], create: true))
    for round in 0..<40 as Range<UInt64> {
      try environment.write { transaction in
        for index in 0..<10 as Range<UInt64> {
          let key = (round * 10 + index).nativeBytes
          try transaction.put(database, key, [UInt8](repeating: UInt8(round), count: 1000))
        }
      }
      let transaction = try environment.beginRead()
      for number in 0..<round * 10 + 10 {
        let value = try transaction.reader.get(database, key: number.nativeBytes)
        #expect(value?.first == UInt8(number / 10))
      }
    }
    #expect(try environment.info().mapSize > 1 << 18)
  }

  @Test("Nothing outside of the pages is read, whatever they contain")
  func staysInsideOfDamagedPages() throws {
    let seed = RandomTests.seed("staysInsideOfDamagedPages")
    var random = SeededGenerator(seed: seed)
    let size = 512
    // A separate allocation, so that a sanitizer detects reads beyond its end.
    let pages = UnsafeMutableRawBufferPointer.allocate(byteCount: 4 * size, alignment: 8)
    defer { pages.deallocate() }
    let start = try UnsafeRawPointer(#require(pages.baseAddress))
    var count = 0
    for _ in 0..<TestLength.of(20_000, long: 2_000_000) {
      damage(pages, size, &random)
      let tree = try #require(
        MappedTree(
          pages: UnsafeRawBufferPointer(pages), pageSize: size, root: UInt64(random.below(5))))
      let number = random.below(4) == 0 ? random.next() : UInt64(random.below(9))
      let bytes = random.bytes(1...12)
      for answer in [
        tree.value(of: MappedNumber(number)),
        bytes.withUnsafeBytes { tree.value(of: MappedBytes($0)) },
      ] {
        guard case .value(let value) = answer, let found = value.baseAddress else { continue }
        count += 1
        #expect(found >= start && found + value.count <= start + pages.count, "\(seed)")
      }
    }
    #expect(count > 0, "no page was like a sound one")
  }

  private func damage(
    _ pages: UnsafeMutableRawBufferPointer, _ size: Int, _ random: inout SeededGenerator
  ) {
    for _ in 0..<40 { pages[random.below(pages.count)] = UInt8(truncatingIfNeeded: random.next()) }
    for page in 0..<4 {
      let store = { (offset: Int, value: Int) in
        let value = UInt16(value)
        pages.storeBytes(of: value, toByteOffset: page * size + offset, as: UInt16.self)
      }
      // The minimum for a page to be read at all: a branch or leaf, usually with few nodes.
      store(10, 1 + random.below(2))
      store(12, random.below(random.below(20) == 0 ? 65536 : 80))
      store(16 + 2 * random.below(20), random.below(530))
      guard random.below(3) == 0 else { continue }
      // A leaf with one node whose value has any length, including one that exceeds the page.
      let node = [2, 18, 0, 100, random.below(500), 0, 0, 8, random.below(9), 0, 0, 0]
      let offsets = [10, 12, 14, 16, 100, 102, 104, 106, 108, 110, 112, 114]
      for (offset, value) in zip(offsets, node) { store(offset, value) }
    }
  }

  private func expect(_ answer: MappedTree.Answer, _ wanted: [UInt8]?, _ comment: Comment) {
    switch answer {
    case .value(let bytes): #expect(Array(bytes) == wanted, comment)
    case .missing: #expect(wanted == nil, comment)
    case .unknown: Issue.record(comment)
    }
  }

  private func numbers(
    _ count: Int, _ spread: Spread, _ random: inout SeededGenerator
  ) -> [UInt64] {
    (0..<UInt64(count)).map { index in
      switch spread {
      case .dense: 1 << 48 | index + 1
      case .clustered: (index / 50) << 40 | index % 50 * 3
      case .random: random.next()
      case .doubling: (1 << (index % 60)) &+ index
      }
    }
  }

  /// Returns a key of varying length that shares its prefix with many others.
  private func bytes(_ number: UInt64, _ random: inout SeededGenerator) -> [UInt8] {
    let number = number.nativeBytes.reversed()
    switch random.below(3) {
    case 0: return [2] + number
    case 1: return Array("a common beginning ".utf8) + number + random.bytes(0...20)
    default: return number.suffix(1 + random.below(8))
    }
  }

  /// Calls `body` with the tree of a database after random insertions and deletions, and with the
  /// expected entries.
  private func withTree(
    _ flags: DatabaseFlags, _ keys: [[UInt8]], _ random: inout SeededGenerator,
    _ body: (MappedTree, [[UInt8]: [UInt8]]) throws -> Void
  ) throws {
    let folder = try TemporaryFolder()
    let environment = try folder.environment()
    let database = try #require(try environment.openDatabase("d", flags, create: true))
    var stored: [[UInt8]: [UInt8]] = [:]
    let isOrdered = random.below(2) == 0
    let removed = random.below(3)
    let longest = random.below(2) == 0 ? 120 : 5000
    try environment.write { transaction in
      for key in isOrdered ? keys : keys.shuffled(using: &random) {
        let value = random.bytes(random.below(100) == 0 ? 0...longest : 0...120)
        try transaction.put(database, key, value)
        stored[key] = value
      }
      for key in keys.dropFirst() where random.below(3) < removed {
        if try transaction.delete(database, key) { stored[key] = nil }
      }
    }
    let transaction = try environment.beginRead()
    let handle = try #require(transaction.slot.pointer.pointee.transaction)
    let tree = try #require(MappedTree(database, in: handle))
    // The map is larger than the file, and nothing may be read past the end of the file.
    #expect(try tree.pageCount == UInt64(environment.info().lastPage + 1))
    try body(tree, stored)
  }
}
