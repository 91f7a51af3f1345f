import Foundation
import Testing

@testable import LMDB

@Suite struct MetaPagesOrderTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("store.arbor")
  }

  private func write(_ transactions: Range<Int>) throws {
    let environment = try folder.environment()
    let database = try #require(try environment.openDatabase("it", .integerKey, create: true))
    for number in transactions {
      try environment.write { transaction in
        try transaction.put(
          database, UInt64(number % 40).nativeBytes, [UInt8](repeating: 3, count: 1000))
      }
    }
    try environment.close()
  }

  /// Flips a bit of the transaction ID of a root page.
  private func flip(_ bit: UInt64, ofPage page: Int) throws {
    var bytes = try Data(contentsOf: URL(filePath: path))
    bytes[page * 4096 + 144 + Int(bit / 8)] ^= 1 << (bit % 8)
    try bytes.write(to: URL(filePath: path))
  }

  @Test("A flipped bit that makes the previous state look like the newest one is detected")
  func aCommitIsNotUndoneByABit() throws {
    var found = 0
    for count in [3, 4, 5, 40, 41, 200] {
      try? FileManager.default.removeItem(atPath: path)
      try write(0..<count)
      let sound = try Data(contentsOf: URL(filePath: path))
      let meta = try roots()
      for page in 0...1 where page != Int(meta.newest.number) {
        for bit in 0..<64 as Range<UInt64> {
          try sound.write(to: URL(filePath: path))
          try flip(bit, ofPage: page)
          guard let state = try? roots().newest else {
            found += 1
            continue
          }
          #expect(state.free == meta.newest.free, "\(count) commits, page \(page), bit \(bit)")
        }
      }
    }
    #expect(found > 0)
  }

  @Test("Contradictory root pages are described")
  func saysWhatContradictsWhat() throws {
    try write(0..<200)
    let meta = try read()
    let former = meta.newest.number == 0 ? meta.second : meta.first
    let raised = former.transactionID + 2
    var bytes = try Data(contentsOf: URL(filePath: path))
    let offset = Int(former.number) * 4096 + 144
    bytes.replaceSubrange(offset..<offset + 8, with: raised.nativeBytes)
    try bytes.write(to: URL(filePath: path))
    let newest = meta.newest.transactionID
    #expect(
      throws: LMDBError.damaged(
        PageFinding(
          page: former.number, database: nil,
          what: "it belongs to transaction \(raised), but its last free list belongs to "
            + "transaction \(newest - 1), and that of the other root page to transaction \(newest)")
      )
    ) { try Environment.open(path: path) }
  }

  /// A failed commit isn't damage: LMDB leaves its trees in the root page, with the page's previous
  /// transaction ID.
  @Test("A failed commit is not reported as damage")
  func aCommitThatFailedIsNoDamage() throws {
    try write(0..<200)
    let meta = try read()
    var bytes = try Data(contentsOf: URL(filePath: path))
    let offset = Int(meta.newest.number) * 4096 + 144
    bytes.replaceSubrange(
      offset..<offset + 8, with: (meta.newest.transactionID - 2).nativeBytes)
    try bytes.write(to: URL(filePath: path))
    #expect(try roots().newest.transactionID == meta.newest.transactionID - 1)
  }

  /// Sound files open after any number of commits, and so do copies, whose transaction IDs
  /// continue.
  @Test("Sound files and their copies open after any number of commits")
  func soundFilesPass() throws {
    for number in 0..<60 {
      try write(number..<number + 1)
      let environment = try Environment.open(path: path)
      let copy = folder.file("copy")
      try environment.copy(to: copy, compacting: number % 2 == 0)
      try environment.close()
      let opened = try Environment.open(path: copy)
      let database = try #require(try opened.openDatabase("it", .integerKey, create: false))
      let newest = try opened.value(database, UInt64(number % 40).nativeBytes)
      #expect(newest == [UInt8](repeating: 3, count: 1000), "\(number)")
      try opened.close()
      try FileManager.default.removeItem(atPath: copy)
    }
  }

  private func read() throws -> MetaPages {
    let file = try DataFile(path: path, create: false, allowsNetwork: true, lock: .shared)
    return try #require(try MetaPages.read(file.descriptor))
  }

  /// Returns the validated root pages.
  private func roots() throws -> MetaPages {
    let file = try DataFile(path: path, create: false, allowsNetwork: true, lock: .shared)
    return try #require(try MetaPages.check(file.descriptor))
  }
}
