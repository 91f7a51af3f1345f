import Foundation
import Testing

@testable import LMDB

@Suite struct MetaPagesTests {
  private let folder: TemporaryFolder
  private let path: String

  /// Creates a file with a few hundred records.
  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("store.arbor")
    let environment = try folder.environment()
    let database = try #require(try environment.openDatabase("it", .integerKey, create: true))
    try environment.write { transaction in
      for key in 0..<500 {
        try transaction.put(database, UInt64(key).nativeBytes, [UInt8](repeating: 3, count: 100))
      }
    }
    try environment.close()
  }

  private var contents: Data { get throws { try Data(contentsOf: URL(filePath: path)) } }

  private func write(_ data: Data) throws { try data.write(to: URL(filePath: path)) }

  @Test("The newest root page is read")
  func readsTheNewestRoot() throws {
    let file = try DataFile(path: path, create: false, allowsNetwork: true, lock: .shared)
    let meta = try #require(try MetaPages.check(file.descriptor))
    let environment = try Environment.open(path: path)
    let info = try environment.info()
    #expect(meta.newest.transactionID == info.lastTransactionID)
    #expect(meta.newest.lastPage == UInt64(info.lastPage))
    #expect(meta.pageSize == info.pageSize)
  }

  /// A read that fails midway returns what was read before. Unwritable memory simulates an
  /// unreadable sector.
  @Test("A read that fails midway returns what was read before")
  func whatIsReadBeforeAnErrorCounts() throws {
    let file = try DataFile(path: path, create: false, allowsNetwork: true, lock: .shared)
    let size = Int(sysconf(Int32(_SC_PAGESIZE)))
    let memory = try #require(
      mmap(nil, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
    defer { munmap(memory, 2 * size) }
    #expect(mprotect(memory + size, size, PROT_NONE) == 0)
    let bytes = UnsafeMutableRawBufferPointer(start: memory, count: 2 * size)
    #expect(throws: LMDBError.self) { try readFully(file.descriptor, bytes, at: 0) }
    #expect(readAvailable(file.descriptor, bytes, at: 0) == size)
    #expect(try bytes.prefix(size).elementsEqual(contents.prefix(size)))
  }

  @Test("Files of other programs are rejected and unchanged")
  func refusesForeignFiles() throws {
    for text in ["SQLite format 3\0" + String(repeating: "x", count: 9000), "{}", "x"] {
      try write(Data(text.utf8))
      #expect(throws: LMDBError.invalid) { try Environment.open(path: path) }
      #expect(try contents == Data(text.utf8))
    }
  }

  @Test("A file left by an interrupted creation is rejected")
  func refusesTornCreations() throws {
    let whole = try contents
    try write(Data())
    #expect(throws: LMDBError.emptyFile) { try Environment.open(path: path) }
    for kept in [1, 20, 100, 4096, 4097, 8000] {
      try write(whole.prefix(kept))
      #expect(throws: LMDBError.fileTooSmall) { try Environment.open(path: path) }
    }
    try write(Data(count: 8192))
    #expect(throws: LMDBError.fileTooSmall) { try Environment.open(path: path) }
  }

  @Test("A truncated file of any length is rejected before it is mapped")
  func refusesATruncatedFileOfAnyLength() throws {
    let whole = try contents
    for kept in stride(from: 8192, to: whole.count, by: 512) {
      try write(whole.prefix(kept))
      #expect(throws: LMDBError.self, "\(kept) bytes") { try Environment.open(path: path) }
    }
    try write(whole)
    _ = try Environment.open(path: path)
  }

  @Test("A damaged root page beside a sound one is reported as damage")
  func refusesADamagedRootPage() throws {
    let whole = try contents
    for page in [0, 4096] {
      func expect(_ what: String, _ change: (inout Data) -> Void) throws {
        var damaged = whole
        change(&damaged)
        try write(damaged)
        do throws(LMDBError) {
          _ = try Environment.open(path: path)
          Issue.record("\(what), page \(page), was not noticed")
        } catch {
          guard case .damaged(let finding) = error, finding.page == UInt64(page / 4096) else {
            Issue.record("\(what), page \(page): \(error)")
            return
          }
        }
        let found = try DamagedFile(path: path)
        #expect(found.pageSize == 4096 && found.transactions.count == 1, "\(what), page \(page)")
      }
      // The page flags, the magic number and the version.
      for offset in [10] + Array(16..<24) {
        for bit in 0..<8 {
          try expect("bit \(bit) of byte \(offset)") { $0[page + offset] ^= 1 << bit }
        }
      }
      // The page size, including other valid sizes.
      for bit in 0..<24 {
        try expect("bit \(bit) of the page size") { $0[page + 40 + bit / 8] ^= 1 << (bit % 8) }
      }
      for text in [
        Data(count: 4096), Data("SQLite format 3\0".utf8), Data(repeating: 255, count: 200),
      ] {
        try expect("\(text)") { $0.replaceSubrange(page..<page + text.count, with: text) }
      }
    }
  }

  @Test("A file with two overwritten root pages is reported as damaged")
  func refusesDamagedRootPages() throws {
    var damaged = try contents
    damaged.replaceSubrange(0..<8192, with: Data(count: 8192))
    try write(damaged)
    #expect(
      throws: LMDBError.damaged(
        PageFinding(page: nil, database: nil, what: "both root pages are damaged"))
    ) { try Environment.open(path: path) }
  }

  @Test("Other versions and page sizes of LMDB are rejected")
  func refusesOtherVersionsAndPageSizes() throws {
    let whole = try contents
    let cases: [(offset: Int, error: LMDBError)] = [
      (20, .foreignFormat(version: 1 ^ 0x0F)), (40, .foreignPageSize),
    ]
    for (offset, error) in cases {
      // Without other pages, whose numbers would reveal the page size.
      var damaged = whole.prefix(8192)
      for page in [0, 4096] { damaged[page + offset] ^= 0x0F }
      try write(damaged)
      #expect(throws: error, "at \(offset)") { try Environment.open(path: path) }
    }
  }

  /// In LMDB 1.0, the transaction follows the page number, so all later fields move by eight bytes.
  @Test("The format of LMDB 1.0 is reported")
  func namesTheFormatOfALaterEngine() throws {
    var later = Data(count: 8192)
    for page in [0, 4096] {
      later[page + 18] = 8
      later.replaceSubrange(page + 24..<page + 28, with: [0xDE, 0xC0, 0xEF, 0xBE])
      later[page + 28] = 2
    }
    try write(later)
    #expect(throws: LMDBError.foreignFormat(version: 2)) { try Environment.open(path: path) }
    #expect(
      "\(LMDBError.foreignFormat(version: 2))"
        == "The file has LMDB's data format 2, written by LMDB 1.0, but format 1 of LMDB 0.9.x is "
        + "required. Export the data with the version that wrote the file, then import the data "
        + "here.")
    #expect(try contents == later)
  }

  @Test("A root outside of the file is detected before the file is mapped")
  func refusesRootsThatLeadNowhere() throws {
    let whole = try contents
    for meta in [0, 4096] {
      for root in [80, 128] {
        var damaged = whole
        // Damages both root pages, so that neither can be chosen.
        for offset in [meta, 4096 - meta] {
          damaged.replaceSubrange(
            offset + root..<offset + root + 8, with: UInt64(1_000_000).nativeBytes)
        }
        try write(damaged)
        #expect(throws: LMDBError.corrupted) { try Environment.open(path: path) }
      }
    }
  }
}
