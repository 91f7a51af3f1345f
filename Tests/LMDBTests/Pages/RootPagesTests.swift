import Foundation
import Testing

@testable import LMDB

/// A file that another program changes while it is open.
@Suite struct RootPagesTests {
  private let folder: TemporaryFolder
  private let path: String
  private let environment: Environment
  private let database: Database

  /// Creates a file with a few commits and keeps it open.
  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("store.arbor")
    environment = try folder.environment()
    database = try #require(try environment.openDatabase("it", [], create: true))
    try commit(3)
  }

  private func commit(_ count: Int) throws {
    for _ in 0..<count { try environment.write { try $0.put(database, [1], [1]) } }
  }

  private var contents: Data { get throws { try Data(contentsOf: URL(filePath: path)) } }

  /// Overwrites the file in place, as `cp` and `rsync --inplace` do, without truncating it.
  private func overwrite(_ data: Data, at offset: UInt64 = 0) throws {
    let handle = try FileHandle(forWritingTo: URL(filePath: path))
    try handle.seek(toOffset: offset)
    try handle.write(contentsOf: data)
    try handle.close()
  }

  private func expectReplaced(sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(throws: LMDBError.fileReplaced, sourceLocation: sourceLocation) {
      _ = try environment.beginRead()
    }
    #expect(throws: LMDBError.fileReplaced, sourceLocation: sourceLocation) {
      try environment.write { _ in }
    }
    #expect(throws: LMDBError.fileReplaced, sourceLocation: sourceLocation) {
      try environment.verifyPages()
    }
  }

  @Test("A file overwritten with an older copy is an error", arguments: [1, 2, 5])
  func anOlderCopyInPlaceIsAnError(commits: Int) throws {
    let older = try contents
    try commit(commits)
    try overwrite(older)
    expectReplaced()
    // Once all users have closed it, it is an ordinary file again.
    try environment.close()
    let again = try Environment.open(path: path)
    let same = try #require(try again.openDatabase("it", [], create: false))
    #expect(try again.value(same, [1]) == [1])
  }

  @Test("A file overwritten with a newer copy is an error")
  func aNewerCopyInPlaceIsAnError() throws {
    let copy = folder.file("copy")
    try environment.copy(to: copy, compacting: false)
    let other = try Environment.open(path: copy)
    let same = try #require(try other.openDatabase("it", [], create: false))
    for _ in 0..<4 { try other.write { try $0.put(same, [9], [9]) } }
    try other.close()
    try overwrite(Data(contentsOf: URL(filePath: copy)))
    expectReplaced()
  }

  @Test("Overwritten root pages are an error", arguments: [0x00, 0xFF, 0xA5] as [UInt8])
  func overwrittenRootPagesAreAnError(byte: UInt8) throws {
    for length in [8192, 4096 + 152] {
      let sound = try contents
      try overwrite(Data(repeating: byte, count: length))
      expectReplaced()
      _ = try? environment.info()
      _ = try? environment.lastTransactionID
      _ = try? environment.adoptForeignSize()
      try overwrite(sound)
      _ = try environment.beginRead()
    }
  }

  @Test(
    "A page count that exceeds any map is an error, even with valid transaction IDs",
    arguments: [1 << 40, 1 << 52, UInt64.max >> 1, UInt64.max - 1])
  func growthForAnOverwrittenPageCountIsAnError(lastPage: UInt64) throws {
    for root in [0, 4096] as [UInt64] { try overwrite(Data(lastPage.nativeBytes), at: root + 136) }
    #expect(throws: LMDBError.fileReplaced) { try environment.growMap() }
    #expect(throws: LMDBError.fileReplaced) { try environment.adoptForeignSize() }
    #expect(throws: LMDBError.fileReplaced) { try environment.write { _ in } }
    #expect(throws: LMDBError.fileReplaced) { _ = try environment.beginRead() }
  }

  @Test("Snapshots that begin between commits are valid")
  func aSnapshotThatBeginsBetweenCommitsIsSound() throws {
    let commits = 2000
    let writer = DispatchGroup()
    DispatchQueue.global().async(group: writer) { [self] in try? commit(commits) }
    var reads = 0
    while writer.wait(timeout: .now()) == .timedOut {
      let snapshot = try environment.beginRead()
      let value = try snapshot.bytes(database, [1])
      #expect(value == [1])
      reads += 1
    }
    #expect(reads > 0)
    #expect(try environment.lastTransactionID >= UInt64(commits))
  }

  // MARK: Removed and renamed files

  @Test("Commits to a removed file are rejected")
  func commitsIntoARemovedFileAreRefused() throws {
    #expect(unlink(path) == 0)
    #expect(throws: LMDBError.fileReplaced) { try commit(1) }
    // Existing data can still be read.
    #expect(try environment.value(database, [1]) == [1])
  }

  @Test("Commits to a renamed file are rejected until it is back")
  func commitsIntoARenamedFileAreRefusedUntilItIsBack() throws {
    #expect(rename(path, folder.file("aside")) == 0)
    #expect(throws: LMDBError.fileReplaced) { try commit(1) }
    try folder.environment("other.arbor").close()
    #expect(rename(folder.file("other.arbor"), path) == 0)
    #expect(throws: LMDBError.fileReplaced) { try commit(1) }
    #expect(rename(folder.file("aside"), path) == 0)
    try commit(1)
  }
}
