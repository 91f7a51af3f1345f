import Foundation
import TestLength
import Testing

@testable import LMDB

/// Sound files of every shape, which must pass whatever LMDB did to them.
@Suite struct PageVerifierTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The databases of a test file, which cover every order of keys and values.
  static let kinds: [(name: String, flags: DatabaseFlags)] = [
    ("plain", []), ("numbers", .integerKey), ("reversed", .reverseKey),
    ("sorted", .duplicates), ("fixed", [.duplicates, .fixedDuplicates]), ("sets", .integerSets),
    ("pairs", [.integerKey, .duplicates, .fixedDuplicates]),
    ("links", [.integerKey, .integerSets]),
    ("backwards", [.duplicates, .reverseDuplicates]),
    ("backwardsFixed", [.duplicates, .fixedDuplicates, .reverseDuplicates]),
  ]

  @discardableResult
  static func verify(_ path: String) throws -> [String: DatabaseFlags] {
    let file = try DataFile(path: path, create: false, allowsNetwork: true, lock: .shared)
    let meta = try #require(try MetaPages.check(file.descriptor))
    var verifier = try PageVerifier(descriptor: file.descriptor, meta: meta.newest)
    return try verifier.verify().databases
  }

  @Test("A new file passes")
  func aNewFilePasses() throws {
    try folder.environment().close()
    #expect(try Self.verify(folder.file("store.arbor")).isEmpty)
  }

  @Test("Empty databases pass")
  func emptyDatabasesPass() throws {
    let environment = try folder.environment()
    for kind in Self.kinds {
      _ = try environment.openDatabase(kind.name, kind.flags, create: true)
    }
    try environment.close()
    let found = try Self.verify(folder.file("store.arbor"))
    #expect(found == Dictionary(uniqueKeysWithValues: Self.kinds.map { ($0.name, $0.flags) }))
  }

  @Test("Files with random histories pass, and so do all copies of them", arguments: [1, 20, 400])
  func filesWithAHistoryPass(scale: Int) throws {
    var random = SeededGenerator(seed: RandomTests.seed("filesWithAHistoryPass"))
    let path = folder.file("store.arbor")
    let environment = try folder.environment()
    let databases = try Self.kinds.map { kind in
      try #require(try environment.openDatabase(kind.name, kind.flags, create: true))
    }
    for round in 0..<TestLength.of(4, long: 12) {
      try environment.write { transaction in
        for database in databases {
          if random.below(15) == 0 { try transaction.clear(database) }
          for _ in 0..<random.below(10 * scale) + 1 {
            try Self.change(database, transaction, &random, scale)
          }
        }
      }
      #expect(try Self.verify(path).count == databases.count, "round \(round)")
      try environment.verifyPages(
        expecting: Dictionary(uniqueKeysWithValues: Self.kinds.map { ($0.name, $0.flags) }))
    }
    for isCompacting in [true, false] {
      let copy = folder.file("copy-\(isCompacting)")
      try environment.copy(to: copy, compacting: isCompacting)
      #expect(try Self.verify(copy).count == databases.count)
    }
    try environment.close()
  }

  /// Puts or deletes an entry. Databases with duplicates use few keys.
  static func change(
    _ database: Database, _ transaction: borrowing WriteTransaction,
    _ random: inout SeededGenerator, _ scale: Int
  ) throws {
    let isNumber = database.flags.contains(.integerKey)
    let number = random.below(
      database.flags.contains(.duplicates) ? 3 : max(2, scale * 4))
    let key =
      isNumber
      ? UInt64(number).nativeBytes
      : [UInt8](String(repeating: "k", count: number % 90) + "\(number)")
    let value: [UInt8]
    if database.flags.contains(.integerDuplicates) {
      value = UInt64(random.below(scale * 20)).nativeBytes
    } else if database.flags.contains(.fixedDuplicates) {
      value = UInt64(random.below(scale * 20)).nativeBytes + UInt64(7).nativeBytes
    } else if database.flags.contains(.duplicates) {
      value = [UInt8](String(repeating: "v", count: random.below(60)) + "\(random.below(scale))")
    } else {
      let isLarge = random.below(12) == 0
      value = random.bytes(isLarge ? 1500...20_000 : 0...300)
    }
    if random.below(3) > 0 {
      try transaction.put(database, key, value)
    } else if database.flags.contains(.duplicates) {
      _ = try transaction.delete(database, key, value)
    } else {
      _ = try transaction.delete(database, key)
    }
  }

  @Test("A folder of another LMDB program passes")
  func aFolderOfAnotherProgramPasses() throws {
    var options = EnvironmentOptions()
    options.isFolder = true
    options.create = true
    options.initialMapSize = 1 << 24
    let environment = try Environment.open(path: folder.path, options: options)
    let database = try #require(try environment.openDatabase("it", [], create: true))
    try environment.write { try $0.put(database, [1], [2]) }
    #expect(try Self.verify(folder.file("data.mdb")) == ["it": []])
    try environment.close()
  }

  @Test("Free lists on overflow pages and a deep tree pass")
  func manyPagesPass() throws {
    let environment = try folder.environment()
    let database = try #require(try environment.openDatabase("it", .integerKey, create: true))
    for round in 0..<6 {
      try environment.write { transaction in
        for key in 0..<20_000 where key % 6 != round {
          let value = [UInt8](repeating: UInt8(round), count: 700)
          try transaction.put(database, UInt64(key).nativeBytes, value)
        }
      }
      try environment.write { transaction in
        for key in stride(from: round, to: 20_000, by: 2) {
          _ = try transaction.delete(database, UInt64(key).nativeBytes)
        }
      }
      try Self.verify(folder.file("store.arbor"))
    }
    try environment.close()
  }

  @Test("An in-memory environment passes")
  func memoryPasses() throws {
    let environment = try Environment.openInMemory()
    let database = try #require(try environment.openDatabase("it", [], create: true))
    try environment.write { try $0.put(database, [1], [2]) }
    try environment.verifyPages(expecting: ["it": []])
    try environment.close()
  }

  @Test("Unexpected and missing databases are reported")
  func saysWhichDatabasesAreNotAsExpected() throws {
    let environment = try folder.environment()
    _ = try environment.openDatabase("it", .integerKey, create: true)
    for expected: [String: DatabaseFlags] in [
      [:], ["it": []], ["it": .integerKey, "other": []],
    ] {
      #expect(throws: LMDBError.self, "\(expected)") {
        try environment.verifyPages(expecting: expected)
      }
    }
    try environment.verifyPages(expecting: ["it": .integerKey])
    #expect(throws: LMDBError.closed) { try environment.verifyPages(isCancelled: { true }) }
    try environment.close()
  }
}
