import Testing
import LMDB

/// Counting the pages of a database, compared with those of the whole file.
@Suite struct TreeSpaceTests {
  private static let sets: DatabaseFlags = [
    .duplicates, .fixedDuplicates, .integerDuplicates,
  ]

  /// Returns the number of pages of all named databases.
  private func pages(_ environment: Environment) throws -> Int {
    try environment.read { transaction in
      let use = try environment.pageUse(in: transaction.reader)
      let names = try transaction.statistics(.unnamed)
      return use.used - 2 - use.list - names.branchPages - names.leafPages
    }
  }

  private func space(_ database: Database, _ environment: Environment) throws -> TreeSpace {
    try environment.read { try $0.reader.space(database) }
  }

  @Test("Pages of the values of single keys are counted")
  func countsThePagesOfTheValuesOfSingleKeys() throws {
    let folder = try TemporaryFolder()
    let environment = try folder.environment()
    let database = try #require(try environment.openDatabase("i", Self.sets, create: true))
    #expect(try space(database, environment).fill == nil)
    try environment.write { transaction in
      for number in 0..<20_000 as Range<UInt64> {
        // Two keys have many values, and many keys have one.
        let key: [UInt8] =
          number < 15_000
          ? [UInt8(number % 2)] : [2] + withUnsafeBytes(of: number.bigEndian, Array.init)
        try transaction.put(database, key, number.nativeBytes)
      }
    }
    let space = try space(database, environment)
    let statistics = try environment.statistics(of: database)
    #expect(space.pages == (try pages(environment)))
    #expect(space.pages > statistics.leafPages + statistics.branchPages + 20)
    #expect(space.entries == 20_000 && !space.isEstimated)
    #expect(space.bytes == space.pages * space.pageSize)
    #expect(try (0.5...1).contains(#require(space.fill)))
  }

  @Test("The pages of a large tree are estimated from a sample")
  func estimatesThoseOfALargeTreeFromSomePages() throws {
    let folder = try TemporaryFolder()
    let environment = try folder.environment()
    let database = try #require(try environment.openDatabase("i", Self.sets, create: true))
    try environment.write { transaction in
      var number: UInt64 = 0
      for key in 0..<36_000 as Range<UInt64> {
        // Every hundredth key has its own tree of values.
        let padding = [UInt8](repeating: 1, count: 490)
        let bytes = withUnsafeBytes(of: key.bigEndian, Array.init) + padding
        for _ in 0..<(key % 100 == 7 ? 600 : 1) {
          number += 1
          try transaction.put(database, bytes, number.nativeBytes)
        }
      }
    }
    let space = try space(database, environment)
    let exact = try pages(environment)
    #expect(space.isEstimated && space.entries == 36_000 + 360 * 599)
    #expect(abs(space.pages - exact) < exact / 5, "\(space.pages) of \(exact)")
  }

  /// One key has most of the values. Its leaf is among the sampled ones, or isn't.
  @Test("Estimates don't exceed the pages of the file", arguments: [0, 17_003])
  func estimatesAgreeWithTheFile(key heavy: UInt64) throws {
    let folder = try TemporaryFolder()
    let environment = try folder.environment()
    let databases = try ["i", "j"].map {
      try #require(try environment.openDatabase($0, Self.sets, create: true))
    }
    try environment.write { transaction in
      var number: UInt64 = 0
      for key in 0..<36_000 as Range<UInt64> {
        let bytes =
          withUnsafeBytes(of: key.bigEndian, Array.init) + [UInt8](repeating: 1, count: 490)
        for _ in 0..<(key == heavy ? 100_000 : 1) {
          number += 1
          try transaction.put(databases[0], bytes, number.nativeBytes)
        }
      }
      for value in 0..<2000 as Range<UInt64> {
        try transaction.put(databases[1], [1], value.nativeBytes)
      }
    }
    let exact = try pages(environment)
    let spaces = try environment.read { transaction in
      let use = try environment.pageUse(in: transaction.reader)
      return try transaction.reader.spaces(databases, within: use.pagesOfDatabases)
    }
    #expect(spaces[0].isEstimated && !spaces[1].isEstimated)
    #expect(spaces[1].pages > 3)
    #expect(spaces[0].pages + spaces[1].pages <= exact + 8, "\(spaces) of \(exact)")
    #expect(spaces[0].pages >= spaces[0].ownPages)
  }

  @Test("The fill of the leaf pages is reported")
  func tellsHowFullTheLeavesAre() throws {
    let folder = try TemporaryFolder()
    let environment = try folder.environment()
    let database = try #require(try environment.openDatabase("r", .integerKey, create: true))
    try environment.write { transaction in
      for key in 0..<1000 as Range<UInt64> {
        try transaction.put(database, key.nativeBytes, [UInt8](repeating: 7, count: 100))
      }
    }
    let space = try space(database, environment)
    let leaves = Double(try environment.statistics(of: database).leafPages)
    // The header and offset of a node, its key and value, and the header of a page.
    let used = 1000 * Double(8 + 2 + 8 + 100) + leaves * 16
    #expect(space.fill == used / (leaves * Double(space.pageSize)))
    #expect(space.pages == (try pages(environment)))
  }

  @Test("A database that can't be scanned counts only its own pages")
  func databasesThatCannotBeLookedAtHaveTheirOwnPages() throws {
    let folder = try TemporaryFolder()
    let environment = try folder.environment()
    _ = try environment.openDatabase("r", .integerKey, create: true)
    let space = try space(.unnamed, environment)
    #expect(space.pages == 1 && space.entries == 1 && space.fill == nil)
  }
}
