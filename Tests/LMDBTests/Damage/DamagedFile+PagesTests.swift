import Testing

@testable import LMDB

/// Scanning a damaged file page by page.
@Suite struct DamagedFilePagesTests {
  @Test("The pages before and after an unreadable sector are read even though reads are batched")
  func pagesAroundUnreadableSectorsAreRead() throws {
    let folder = try TemporaryFolder()
    let environment = try folder.environment()
    let database = try #require(try environment.openDatabase("it", .integerKey, create: true))
    try environment.write { transaction in
      for key in 0..<2000 as Range<UInt64> {
        try transaction.put(database, key.nativeBytes, [UInt8](repeating: 3, count: 100))
      }
    }
    try environment.close()
    let file = try DamagedFile(path: folder.file("store.arbor"))
    let leaves = try leaves(file)
    #expect(leaves.count > 20)
    let size = file.pageSize
    for unreadable in [leaves[0], leaves[leaves.count / 2], leaves[leaves.count - 1]] {
      let start = Int(unreadable) * size
      file.readBytes = { descriptor, bytes, offset in
        let isBehind = offset >= start + size
        let count = isBehind ? bytes.count : min(bytes.count, max(0, start - offset))
        return readAvailable(
          descriptor, UnsafeMutableRawBufferPointer(rebasing: bytes[..<count]), at: offset)
      }
      #expect(try self.leaves(file) == leaves.filter { $0 != unreadable })
    }
  }

  /// Returns the leaf pages that a scan visits.
  private func leaves(_ file: DamagedFile) throws -> [UInt64] {
    var leaves: [UInt64] = []
    try file.scan { (page, _, _) throws(LMDBError) in leaves.append(page) }
    return leaves
  }
}
