import Foundation
import TestLength
import Testing

@testable import LMDB

/// Damaged pages in files that were not verified when opened. Using them must throw an error and
/// must never crash.
@Suite struct PageGuardTests {
  private let folder: TemporaryFolder
  private let path: String
  private let sound: Data
  private let contents: [Int]
  private static let pageSize = 4096

  /// Creates a file with trees of two levels, large values, duplicates in sub-pages and in trees of
  /// one and of two levels, and free lists.
  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("store.arbor")
    let environment = try folder.environment()
    let databases = try DamagedUse.databases.map { name, flags in
      try #require(try environment.openDatabase(name, flags, create: true))
    }
    for round in 0..<3 as Range<UInt8> {
      try environment.write { transaction in
        for number in 0..<DamagedUse.count {
          let size = number % 97 == 7 ? 9000 : 40
          let value = [UInt8](repeating: round, count: size)
          try transaction.put(databases[0], number.nativeBytes, value)
          try transaction.put(databases[1], Array("key \(number)"), value)
        }
        for (key, count) in [5, 100, 400, 1, 30].enumerated() {
          for value in 0..<UInt64(count) {
            let value = (value * 3 + UInt64(round)).nativeBytes
            try transaction.put(databases[2], Array("set \(key)"), value, .noDuplicate)
            try transaction.put(databases[3], UInt64(key).nativeBytes, value, .noDuplicate)
          }
        }
        for number in 0..<DamagedUse.count {
          try transaction.put(databases[2], Array("single \(number)"), number.nativeBytes)
        }
      }
    }
    contents = try DamagedUse.read(environment)
    try environment.close()
    sound = try Data(contentsOf: URL(filePath: path))
  }

  /// Runs `body` on a file with the given contents. Returns the error that it throws.
  private func use(_ data: Data, _ body: (Environment) throws -> Void) throws -> LMDBError? {
    try? FileManager.default.removeItem(atPath: path + "-lock")
    try data.write(to: URL(filePath: path))
    do {
      let environment = try folder.environment { $0.create = false }
      defer { try? environment.close() }
      try body(environment)
      return nil
    } catch let error as LMDBError {
      return error
    }
  }

  private func verify(_ data: Data) throws -> LMDBError? {
    try data.write(to: URL(filePath: path))
    do throws(LMDBError) { try Environment.verifyPages(path: path) } catch { return error }
    return nil
  }

  @Test("A sound file can be read and changed")
  func aSoundFileIsUsedAsEver() throws {
    let failure = try use(sound) { environment in
      #expect(!environment.marks.areComplete)
      #expect(try DamagedUse.read(environment) == contents)
      try DamagedUse.change(environment)
      try environment.verifyPages()
      #expect(environment.marks.areComplete)
      #expect(try DamagedUse.read(environment) != contents)
    }
    #expect(failure == nil)
  }

  @Test("The first use of a damaged page reports what the full verification reports")
  func theFirstUseFindsWhatTheVerificationFinds() throws {
    var found: Set<String> = []
    for page in 2..<sound.count / Self.pageSize {
      let start = page * Self.pageSize
      for (offset, bit) in [(0, 0), (10, 2), (12, 1), (16, 3)] as [(Int, UInt8)] {
        var data = sound
        data[start + offset] ^= 1 << bit
        guard case .damaged(let finding)? = try verify(data) else { continue }
        let failure = try use(data) { environment in
          _ = try DamagedUse.read(environment)
          try DamagedUse.change(environment)
        }
        guard case .damaged(let met)? = failure else {
          Issue.record("page \(page) + \(offset): \(String(describing: failure)), not \(finding)")
          continue
        }
        #expect(met.page == finding.page && met.database == finding.database)
        if !met.what.hasPrefix("it is not the overflow page") { #expect(met == finding) }
        found.insert(met.database ?? "")
      }
    }
    #expect(found == ["of free pages", "of names", "numbers", "texts", "sets", "links"])
  }

  @Test("A commit fails if a free list contains a branch or leaf that is in use")
  func theFirstCommitFindsPagesInUseThatAreListedAsFree() throws {
    var (found, others) = (0, 0)
    for offset in freePageOffsets(in: sound) {
      for page in 2..<UInt64(sound.count / Self.pageSize) {
        var data = sound
        data.replaceSubrange(offset..<offset + 8, with: page.nativeBytes)
        // Either page may be reported.
        guard case .damaged(let finding)? = try verify(data), finding.what == "it is used twice",
          finding.database != "of free pages"
        else { continue }
        let failure = try use(data) { environment in
          let numbers = try #require(
            try environment.openDatabase("numbers", .integerKey, create: false))
          try environment.write { try $0.put(numbers, UInt64(9999).nativeBytes, [1]) }
        }
        let isLeft = try Data(contentsOf: URL(filePath: path)) == data
        if failure == .damaged(finding) {
          #expect(isLeft)
          found += 1
        } else {
          // Overflow pages, and pages of keys with many values.
          #expect(failure == nil && finding.page == page)
          #expect(!isBranchOrLeaf(page, of: finding.database ?? ""), "\(finding)")
          others += 1
        }
      }
    }
    print("pages in use among the free ones: \(found) found, \(others) left to the scrub")
    #expect(found > 20)
  }

  /// Returns the offsets of the page numbers of the free lists in the root of their tree.
  private func freePageOffsets(in data: Data) -> [Int] {
    let bytes = [UInt8](data)
    func word(_ offset: Int) -> Int {
      bytes[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    func half(_ offset: Int) -> Int { Int(bytes[offset]) | Int(bytes[offset + 1]) << 8 }
    let meta = word(144) > word(Self.pageSize + 144) ? 0 : Self.pageSize
    // The record of the tree ends with its root.
    let root = word(meta + 40 + 40) * Self.pageSize
    return (0..<(half(root + 12) - 16) / 2).flatMap { index in
      // The header and the key take 8 bytes each, followed by the count and the numbers.
      let list = root + half(root + 16 + 2 * index) + 16
      return half(list - 12) == 0 ? (1...max(1, word(list))).map { list + 8 * $0 } : []
    }
  }

  /// Whether a page is a branch or leaf of a database without duplicates.
  private func isBranchOrLeaf(_ page: UInt64, of database: String) -> Bool {
    let start = Int(page) * Self.pageSize
    // An overflow page may contain any bytes.
    return ["numbers", "texts", "of names"].contains(database) && (1...2) ~= sound[start + 10]
      && sound[start..<start + 8].elementsEqual(page.nativeBytes)
  }

  @Test("Random damage never crashes the process, whatever the use")
  func aUseNeverEndsTheProcess() throws {
    let seed = RandomTests.seed("aUseNeverEndsTheProcess")
    var random = SeededGenerator(seed: seed)
    var refused = 0
    let cases = TestLength.of(60, long: 100_000)
    for _ in 0..<cases {
      let data = damaged(&random)
      let failure = try use(data) { environment in
        if random.below(2) == 0 { _ = try DamagedUse.read(environment) }
        for _ in 0..<3 { try DamagedUse.change(environment, &random) }
        _ = try DamagedUse.read(environment)
      }
      if failure != nil { refused += 1 }
    }
    #expect(refused > cases / 100, "ARBOR_SEED=\(seed)")
  }

  private func damaged(_ random: inout SeededGenerator) -> Data {
    var data = sound
    let start = (2 + random.below(sound.count / Self.pageSize - 2)) * Self.pageSize
    let other = (2 + random.below(sound.count / Self.pageSize - 2)) * Self.pageSize
    func flip(_ range: Range<Int>) {
      data[range.randomElement(using: &random) ?? 0] ^= 1 << random.below(8)
    }
    switch random.below(6) {
    case 0: flip(start..<start + 16)
    case 1: flip(start + 16..<start + 80)
    case 2: flip(start + Self.pageSize - 400..<start + Self.pageSize)
    case 3: flip(start..<start + Self.pageSize)
    case 4:
      let page = sound[other..<other + Self.pageSize]
      data.replaceSubrange(start..<start + Self.pageSize, with: page)
    default:
      let zeros = Data(count: 512)
      let sector = start + 512 * random.below(8)
      data.replaceSubrange(sector..<sector + 512, with: zeros)
    }
    return data
  }
}

/// Uses of a file that may be damaged.
enum DamagedUse {
  static let databases: [(String, DatabaseFlags)] = [
    ("numbers", .integerKey), ("texts", []), ("sets", .integerSets),
    ("links", [.integerKey, .duplicates, .fixedDuplicates, .integerDuplicates]),
  ]

  private static func open(_ environment: Environment) throws -> [Database] {
    try environment.openDatabases(databases.map { (name: $0.0, flags: $0.1) }).map {
      guard let database = $0 else { throw LMDBError.notFound }
      return database
    }
  }

  /// The number of keys in each database.
  static let count: UInt64 = 150

  /// Reads all entries through every access path and returns their digests.
  static func read(_ environment: Environment) throws -> [Int] {
    var contents: [Int] = []
    for database in try open(environment) {
      let snapshot = try environment.beginRead()
      _ = try snapshot.statistics(database)
      let cursor = try snapshot.cursor(database)
      var entries = Hasher()
      var keys: [[UInt8]] = []
      while let entry = try cursor.next() {
        entries.combine(bytes: entry.key)
        entries.combine(bytes: entry.value)
        if keys.last.map({ !entry.key.elementsEqual($0) }) ?? true { keys.append(Array(entry.key)) }
      }
      var backward = 0
      _ = try cursor.last()
      repeat { backward += 1 } while try cursor.previous() != nil
      let hasValues = database.flags.contains(.duplicates)
      for (index, key) in keys.reversed().enumerated() where index % 5 == 0 || index < 8 {
        _ = try snapshot.get(database, key: key)
        _ = try cursor.seek(key)
        _ = try cursor.previousKey()
        guard hasValues else { continue }
        try key.withUnsafeBytes { key in
          var batch = try cursor.firstBatch(key)
          while let values = batch {
            entries.combine(bytes: values)
            batch = try cursor.nextBatch()
          }
          _ = try cursor.seek(key, value: 600)
          _ = try cursor.nextDuplicate()
          _ = try cursor.lastDuplicate()
          _ = try cursor.previousDuplicate()
          _ = try cursor.nextKey()
        }
      }
      contents.append(entries.finalize())
    }
    return contents
  }

  /// Makes changes of every kind.
  static func change(_ environment: Environment) throws {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<4 { try change(environment, &random, share: 2) }
    let databases = try open(environment)
    try environment.write { transaction in
      for database in databases { try transaction.clear(database) }
      for number in 0..<count {
        try transaction.put(databases[0], number.nativeBytes, [1])
      }
    }
  }

  static func change(
    _ environment: Environment, _ random: inout SeededGenerator, share: Int = 5
  ) throws {
    let databases = try open(environment)
    try environment.write { transaction in
      for number in 0..<count where random.below(share) == 0 {
        let isDeletion = random.below(2) == 0
        let value = [UInt8](repeating: 9, count: random.below(20) == 0 ? 5000 : 30)
        let text = Array("key \(number)")
        let set = Array("single \(number)")
        if isDeletion {
          try transaction.delete(databases[0], number.nativeBytes)
          try transaction.delete(databases[1], text)
          try transaction.delete(databases[2], set)
        } else {
          try transaction.put(databases[0], number.nativeBytes, value)
          try transaction.put(databases[1], text, value)
          try transaction.put(databases[2], set, (number * 2).nativeBytes)
        }
      }
      for key in 0..<5 as Range<UInt64> {
        let set = Array("set \(key)")
        if random.below(8) == 0 {
          try transaction.delete(databases[2], set)
          try transaction.delete(databases[3], key.nativeBytes)
          continue
        }
        for number in 0..<1200 as Range<UInt64> where random.below(share * 4) == 0 {
          if random.below(2) == 0 {
            try transaction.delete(databases[2], set, number.nativeBytes)
            try transaction.delete(databases[3], key.nativeBytes, number.nativeBytes)
          } else {
            try transaction.put(databases[2], set, number.nativeBytes, .noDuplicate)
            try transaction.put(databases[3], key.nativeBytes, number.nativeBytes, .noDuplicate)
          }
        }
      }
      let cursor = try transaction.cursor(databases[2])
      while try cursor.nextKey() != nil {}
    }
  }
}
