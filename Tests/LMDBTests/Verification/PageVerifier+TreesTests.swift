import Foundation
import Testing
import LMDB

/// One change of a sound file for each rule, and the finding that reports it.
@Suite struct PageVerifierTreesTests {
  private let folder: TemporaryFolder
  private let path: String
  private let sound: Data
  private static let pageSize = 4096

  /// Creates a file with a tree of two levels, a large value, and free lists.
  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("store.arbor")
    let environment = try folder.environment()
    let numbers = try #require(try environment.openDatabase("n", .integerKey, create: true))
    let sets = try #require(try environment.openDatabase("s", .integerSets, create: true))
    for round in 0..<3 {
      try environment.write { transaction in
        for key in 0..<400 {
          let value = [UInt8](repeating: UInt8(round), count: key == 7 ? 9000 : 40)
          try transaction.put(numbers, UInt64(key).nativeBytes, value)
          try transaction.put(sets, [1], UInt64(key % 5).nativeBytes)
          try transaction.put(sets, [2], UInt64(key * 8).nativeBytes)
        }
      }
    }
    try environment.close()
    sound = try Data(contentsOf: URL(filePath: path))
  }

  /// The offsets of parts of the file.
  private struct Offsets {
    /// The newest root page, and the record of `n` in the main database.
    let meta: Int
    let record: Int
    let setsRecord: Int
    /// The root of `n`, its first leaf, and the leaf of the free lists.
    let branch: Int
    let leaf: Int
    let free: Int
  }

  private func half(_ offset: Int) -> Int { Int(sound[offset]) | Int(sound[offset + 1]) << 8 }
  private func word(_ offset: Int) -> Int {
    (0..<8).reduce(0) { $0 | Int(sound[offset + $1]) << (8 * $1) }
  }
  private func node(_ page: Int, _ index: Int) -> Int { page + half(page + 16 + 2 * index) }

  private var offsets: Offsets {
    let meta = word(144) > word(Self.pageSize + 144) ? 0 : Self.pageSize
    let main = word(meta + 128) * Self.pageSize
    let record = node(main, 0) + 9
    let branch = word(record + 40) * Self.pageSize
    return Offsets(
      meta: meta, record: record, setsRecord: node(main, 1) + 9, branch: branch,
      leaf: (half(node(branch, 0)) | half(node(branch, 0) + 2) << 16) * Self.pageSize,
      free: word(meta + 80) * Self.pageSize)
  }

  /// Returns the finding of the verification after some bytes were changed.
  private func finding(_ changes: (inout Data) -> Void) throws -> String {
    var data = sound
    changes(&data)
    #expect(data != sound)
    try data.write(to: URL(filePath: path))
    do {
      try Environment.verifyPages(path: path)
      return "sound"
    } catch LMDBError.damaged(let finding) {
      return finding.description
    } catch LMDBError.truncated {
      return "truncated"
    }
  }

  private func expect(
    _ what: String, _ offset: Int, _ bytes: [UInt8],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let found = try finding { $0.replaceSubrange(offset..<offset + bytes.count, with: bytes) }
    #expect(found.contains(what), "\(found)", sourceLocation: sourceLocation)
  }

  private func bytes(_ number: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  @Test("A sound file has no finding")
  func aSoundFileHasNoFinding() throws {
    try Environment.verifyPages(path: path)
    let leaf = offsets.leaf
    #expect(half(leaf + 10) == 2 && half(offsets.branch + 10) == 1)
  }

  @Test("Damaged pages are found")
  func findsDamagedPages() throws {
    let (branch, leaf) = (offsets.branch, offsets.leaf)
    try expect("has the page number", leaf, [0xEE])
    try expect("unknown kind", leaf + 10, [0x06])
    try expect("packed values instead", leaf + 10, [0x22])
    try expect("bounds", leaf + 12, [0x0F])
    try expect("bounds", leaf + 14, [0xFF, 0xFF])
    try expect("begins outside", leaf + 16, [0x00, 0x00])
    try expect("overlap", leaf + 16, [sound[leaf + 18], sound[leaf + 19]])
    try expect("ends outside", node(leaf, 3), [0xFF, 0xFF])
    try expect("overlap or leave gaps", node(leaf, 3), [38])
    try expect("has a kind", node(leaf, 3) + 4, [0x04])
    let swapped = [18, 19, 16, 17].map { sound[leaf + $0] }
    try expect("keys are not in ascending order", leaf + 16, swapped)
    try expect("instead of 8", node(leaf, 3), bytes(44, 4) + [0, 0, 4, 0])
    try expect("outside the file's", node(branch, 1), [0xFF, 0xFF, 0xFF])
    try expect("used twice", node(branch, 1), (0..<6).map { sound[node(branch, 0) + $0] })
    try expect("separators are not in ascending order", node(branch, 1) + 8, [0xFF, 0xFF])
    let separator = node(branch, 1) + 8
    try expect("not below the page's upper separator", separator, bytes(word(separator) - 1, 8))
    try expect("below the page's lower separator", separator, bytes(word(separator) + 1, 8))
  }

  @Test("Damaged records are found")
  func findsDamagedRecords() throws {
    let record = offsets.record
    try expect("flags", record + 4, [0x80])
    try expect("flags", record + 4, [0x18])
    try expect("depth", record + 6, [40])
    try expect("deeper", record + 6, [1])
    try expect("leaf on level", record + 6, [3])
    try expect("page counts", record + 8, [9])
    try expect("overflow pages is 9 instead of", record + 24, [9])
    try expect("entry count", record + 32, [9])
    try expect("is empty", record + 40, [UInt8](repeating: 0xFF, count: 8))
    try expect("different flags", offsets.setsRecord + 4, [0x14])
  }

  @Test("Damaged free lists are found")
  func findsDamagedFreeLists() throws {
    let free = offsets.free
    let list = node(free, 0) + 16
    #expect(word(list) >= 2)
    try expect("neither used nor", list, bytes(word(list) - 1, 8))
    try expect("a list of", list, [0xFF, 0xFF])
    try expect("belongs to transaction", list - 8, bytes(1000, 8))
    try expect("not in descending order", list + 8, bytes(word(list + 16), 8))
    try expect("used twice", list + 8, bytes(offsets.leaf / Self.pageSize, 8))
  }

  @Test("Damaged root pages are found")
  func findsDamagedRootPages() throws {
    let meta = offsets.meta
    for (offset, what) in [(0, "number"), (24, "address"), (44, "flags"), (92, "main database")] {
      try expect(what, meta + offset, [0x77])
      // The older root page isn't followed, but LMDB reads it too.
      try expect(what, Self.pageSize - meta + offset, [0x77])
    }
    try expect("not consecutive", meta + 144, bytes(word(meta + 144) + 2, 8))
    let claim = try finding { data in
      data.replaceSubrange(meta + 32..<meta + 40, with: bytes(1 << 46, 8))
      data.replaceSubrange(meta + 136..<meta + 144, with: bytes(1 << 33, 8))
    }
    #expect(claim == "truncated")
    try expect("too few for page", meta + 32, bytes(1 << 16, 8))
    try expect("more than the maximum of", meta + 32, bytes(1 << 50, 8))
  }

  @Test("Damaged overflow pages are found")
  func findsDamagedRuns() throws {
    let entry = node(offsets.leaf, 7)
    #expect(half(entry + 4) == 1)
    let run = word(entry + 16) * Self.pageSize
    try expect("overflow page count is 1,", run + 12, [1, 0, 0, 0])
    try expect("overflow page count is 2147483647,", run + 12, [0xFF, 0xFF, 0xFF, 0x7F])
    try expect("not the overflow page", run + 10, [2])
    try expect("outside the file", entry + 16, bytes(1 << 40, 8))
  }
}
