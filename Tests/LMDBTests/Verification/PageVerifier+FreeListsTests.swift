import Foundation
import TestLength
import Testing

@testable import LMDB

/// Files that end before their last page, which is valid if all pages past the end are free.
@Suite struct PageVerifierFreeListsTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("store.arbor")
  }

  /// Creates a file that ends with free pages.
  private func makeFileWithFreeTail(records: Int) throws {
    let environment = try folder.environment()
    let kept = try #require(try environment.openDatabase("kept", .integerKey, create: true))
    let gone = try #require(try environment.openDatabase("gone", .integerKey, create: true))
    try environment.write { transaction in
      for key in 0..<200 {
        try transaction.put(kept, UInt64(key).nativeBytes, [UInt8](repeating: 1, count: 100))
      }
    }
    try environment.write { transaction in
      for key in 0..<records {
        try transaction.put(gone, UInt64(key).nativeBytes, [UInt8](repeating: 2, count: 1000))
      }
    }
    try environment.write { try $0.clear(gone) }
    for round in UInt8(0)..<4 {
      try environment.write { try $0.put(kept, UInt64(0).nativeBytes, [round]) }
    }
    try environment.close()
  }

  @Test(
    "A file may end before its last page if all missing pages are free",
    arguments: [5, 300, TestLength.of(3000, long: 20_000)])
  func acceptsATailOfFreePagesOnly(
    records: Int
  ) throws {
    try makeFileWithFreeTail(records: records)
    let whole = try Data(contentsOf: URL(filePath: path))
    let pageSize = 4096
    var accepted = 0
    var length = whole.count
    while length > 2 * pageSize {
      length -= pageSize
      try FileHandle(forWritingTo: URL(filePath: path)).truncate(atOffset: UInt64(length))
      do {
        let environment = try Environment.open(path: path)
        accepted += 1
        let kept = try #require(try environment.openDatabase("kept", [.integerKey], create: false))
        var sum = 0
        try environment.read { transaction in
          let cursor = try transaction.cursor(kept)
          while let entry = try cursor.next() { sum += Int(entry.value.count) }
        }
        #expect(sum == 199 * 100 + 1)
        try environment.close()
      } catch LMDBError.truncated {
        break
      }
    }
    #expect(accepted > 0)
    #expect(length > 2 * pageSize)
    #expect(throws: LMDBError.truncated) { try Environment.open(path: path) }
  }

  @Test("Reading damaged free lists terminates")
  func endsOnDamagedLists() throws {
    try makeFileWithFreeTail(records: 300)
    let whole = try Data(contentsOf: URL(filePath: path))
    var generator = SeededGenerator(seed: RandomTests.seed("endsOnDamagedLists"))
    let length = whole.count - 4096
    let file = try DataFile(path: path, create: false, allowsNetwork: true, lock: .shared)
    let meta = try #require(try MetaPages.check(file.descriptor))
    let list = Int(meta.newest.free.root) * meta.pageSize
    var found = 0
    for _ in 0..<500 {
      var damaged = whole.prefix(length)
      for _ in 0..<3 {
        damaged[list + generator.below(generator.below(2) == 0 ? 64 : 4096)] ^= UInt8(
          1 << generator.below(8))
      }
      try damaged.write(to: URL(filePath: path))
      // Not every bit matters, but reading must terminate without a crash.
      if try !listsAreSound(meta.newest, from: UInt64(length / meta.pageSize)) { found += 1 }
    }
    #expect(found > 0)
  }

  /// Returns whether the free lists can be read and contain all pages from `page` on. Separate,
  /// because the optimizer crashes on a loop that holds a file and catches errors.
  private func listsAreSound(_ meta: MetaPage, from page: UInt64) throws -> Bool {
    let copy = try DataFile(path: path, create: false, allowsNetwork: true, lock: .shared)
    var verifier = try PageVerifier(descriptor: copy.descriptor, meta: meta)
    do { return try verifier.listsAsFree(from: page) } catch LMDBError.damaged { return false }
  }
}
