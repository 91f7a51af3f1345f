import Foundation
import Testing

@testable import LMDB

@Suite struct EnvironmentMaintenanceTests {
  private let folder: TemporaryFolder
  private let environment: Environment
  private let database: Database

  init() throws {
    folder = try TemporaryFolder()
    environment = try folder.environment()
    database = try #require(try environment.openDatabase("it", .integerKey, create: true))
    try environment.write { [database] transaction in
      for key in 0..<1000 {
        try transaction.put(database, UInt64(key).nativeBytes, [UInt8](repeating: 1, count: 100))
      }
    }
  }

  @Test("The file's size and state are described")
  func describesTheFile() throws {
    let info = try environment.info()
    #expect(info.mapSize == 1 << 30)
    #expect(info.pageSize >= 4096)
    #expect(info.maximumReaders == 1024)
    #expect(try environment.lastTransactionID == info.lastTransactionID)
    try environment.write { try $0.clear(database) }
    #expect(try environment.lastTransactionID == info.lastTransactionID + 1)
    let shape = try environment.statistics(of: database)
    #expect(shape.entries == 0 && shape.depth == 0)
  }

  @Test("A copy contains the last commit", arguments: [false, true])
  func copiesTheLastCommit(compacting: Bool) throws {
    try environment.write { transaction in
      for key in 0..<900 { try transaction.delete(database, key: UInt64(key)) }
    }
    let pinned = try environment.beginRead()
    let target = folder.file("copy.arbor")
    try environment.copy(to: target, compacting: compacting)
    #expect(throws: LMDBError.system(errno: EEXIST)) {
      try environment.copy(to: target, compacting: compacting)
    }
    let attributes = try FileManager.default.attributesOfItem(atPath: target)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    let copy = try Environment.open(path: target)
    let same = try #require(try copy.openDatabase("it", .integerKey, create: false))
    #expect(try copy.statistics(of: same).entries == 100)
    #expect(try copy.value(same, UInt64(950).nativeBytes)?.count == 100)
    let pages = (try copy.info().lastPage, try environment.info().lastPage)
    #expect(compacting ? pages.0 < pages.1 : pages.0 == pages.1)
    try copy.write { try $0.put(same, key: 1, value: 1, .overwrite) }
    _ = pinned.id
  }

  @Test("Free pages are counted")
  func countsFreePages() throws {
    let before = try environment.read { try environment.freePageCount(in: $0.reader) }
    let leaves = try environment.statistics(of: database).leafPages
    try environment.write { try $0.clear(database) }
    let after = try environment.read { try environment.freePageCount(in: $0.reader) }
    #expect(after >= before + leaves - 3 && after <= before + leaves + 5)
  }

  @Test("Pages freed by the last commit are counted")
  func countsWhatTheLastCommitHasFreed() throws {
    let leaves = try environment.statistics(of: database).leafPages
    try environment.write { try $0.clear(database) }
    let freed = try environment.pagesFreedByLastCommit()
    #expect(freed >= leaves && freed <= leaves + 8)
    try environment.write { try $0.put(database, key: 1, value: 1, .overwrite) }
    #expect(try environment.pagesFreedByLastCommit() < 8)
  }

  @Test(
    "The first process to open the file may be a reader, with or without an existing lock file",
    arguments: [false, true])
  func readsFirst(removesLock: Bool) throws {
    let last = try environment.lastTransactionID
    let path = environment.path
    try environment.close()
    if removesLock { try FileManager.default.removeItem(atPath: path + "-lock") }
    for isImmutable in [false, true] {
      var options = EnvironmentOptions()
      options.isReadOnly = true
      options.isImmutable = isImmutable
      let reader = try Environment.open(path: path, options: options)
      let same = try #require(try reader.openDatabase("it"))
      try reader.read { transaction in
        let entries = try transaction.entryCount(same)
        #expect(entries == 1000)
        #expect(transaction.id == last)
      }
      try reader.close()
    }
  }

  @Test("A failed copy leaves no file")
  func leavesNothingBehindAFailedCopy() throws {
    #expect(throws: LMDBError.noSuchFile) {
      try environment.copy(to: folder.file("no/copy"), compacting: false)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
  }

  @Test("The reader slot of a process that died with an open snapshot is freed by the next check")
  func freesTheSlotsOfDeadProcesses() async throws {
    let environment = environment
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = environment.path as String] in
      let other = try Environment.open(path: path)
      let snapshot = try other.beginRead()
      kill(getpid(), SIGKILL)
      _ = snapshot.id
    }
    let held = try environment.readers().filter { $0.transactionID != nil }
    #expect(held.count == 1)
    #expect(held.first?.processID != getpid())
    #expect(try environment.checkStaleReaders() == 1)
    #expect(try environment.checkStaleReaders() == 0)
    #expect(try environment.readers().allSatisfy { $0.transactionID == nil })
  }

  @Test("Opening a snapshot succeeds if dead processes occupy every slot")
  func makesRoomAmongDeadReaders() async throws {
    let path = folder.file("few.arbor")
    let few = try folder.environment("few.arbor") { $0.maximumReaders = 2 }
    for _ in 0..<2 {
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
        let other = try Environment.open(path: path)
        let first = try other.beginRead()
        let second = try? other.beginRead()
        kill(getpid(), SIGKILL)
        _ = first.id
        _ = second?.id
      }
    }
    let first = try few.beginRead()
    let second = try few.beginRead()
    let isSame = first.id == second.id
    #expect(isSame)
  }

  @Test("Lines of the reader table are parsed")
  func readsLinesOfTheReaderTable() {
    let busy = ReaderInfo(line: "     12345 7f00aa 17\n")
    #expect(busy == ReaderInfo(processID: 12345, transactionID: 17))
    #expect(ReaderInfo(line: "  12345 7f00aa -\n")?.transactionID == nil)
    #expect(ReaderInfo(line: "    pid     thread     txnid\n") == nil)
    #expect(ReaderInfo(line: "(no active readers)\n") == nil)
  }

  @Test("Synchronizing is refused within a write transaction only")
  func isNotSynchronizedWhileWriting() throws {
    try environment.synchronize()
    try environment.write { _ in
      #expect(throws: LMDBError.nestedWrite) { try environment.synchronize() }
    }
  }
}
