import Foundation
import Testing

@testable import LMDB

@Suite struct DataFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func expect(_ error: LMDBError, _ path: String) {
    #expect(throws: error) { try Environment.open(path: path) }
  }

  @Test("Paths that aren't regular files are rejected")
  func refusesWhatIsNoFile() throws {
    expect(.noSuchFile, folder.file("missing"))
    expect(.noSuchFile, folder.file("missing/store.arbor"))
    expect(.isDirectory, folder.path)
    expect(.isDirectory, "/")
    #expect(mkfifo(folder.file("pipe"), 0o600) == 0)
    expect(.notRegularFile, folder.file("pipe"))
    expect(.notRegularFile, "/dev/null")
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("nowhere"), withDestinationPath: folder.file("missing"))
    expect(.danglingLink, folder.file("nowhere"))
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("circle"), withDestinationPath: folder.file("circle"))
    expect(.notRegularFile, folder.file("circle"))
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(names == ["circle", "nowhere", "pipe"])
  }

  @Test("A file with two hard links is rejected")
  func refusesAFileWithTwoNames() throws {
    try folder.environment().close()
    let path = folder.file("store.arbor")
    try FileManager.default.linkItem(atPath: path, toPath: folder.file("twin"))
    expect(.hardLinked, path)
    expect(.hardLinked, folder.file("twin"))
    try FileManager.default.removeItem(atPath: folder.file("twin"))
    _ = try Environment.open(path: path)
  }

  @Test("Files are created only on request, and readable by the owner only")
  func createsOnlyWhenAskedAndForItsOwnerOnly() throws {
    expect(.noSuchFile, folder.file("store.arbor"))
    let environment = try folder.environment()
    for name in ["store.arbor", "store.arbor-lock"] {
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name))
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
    #expect(throws: LMDBError.noSuchFile) { try folder.environment("no/such/folder") }
    #expect(throws: LMDBError.isDirectory) { try folder.environment("../") }
    _ = environment.path
  }

  @Test("Canonical paths resolve relative components and reject invalid paths")
  func knowsThePathBehindThePath() throws {
    let canonical = try DataFile.canonicalPath(folder.path)
    #expect(try DataFile.canonicalPath(folder.file("new")) == canonical + "/new")
    try FileManager.default.createDirectory(
      atPath: folder.file("x"), withIntermediateDirectories: true)
    #expect(try DataFile.canonicalPath(folder.path + "/x/../new") == canonical + "/new")
    for path in ["", "a\0b"] {
      #expect(throws: LMDBError.invalidPath) { try DataFile.canonicalPath(path) }
    }
    #expect(throws: LMDBError.isDirectory) { try DataFile.canonicalPath(folder.file("new/")) }
    #expect(throws: LMDBError.noSuchFile) { try DataFile.canonicalPath(folder.file("a/b/c")) }
    let relative = try DataFile.canonicalPath("surely-no-such-file")
    #expect(relative == FileManager.default.currentDirectoryPath + "/surely-no-such-file")
  }

  #if os(Linux)
    /// The magic numbers are those of the `statfs` manual page.
    @Test("Network file systems are recognized")
    func knowsNetworkFileSystems() {
      #expect(
        Set(DataFile.remoteKinds).isSuperset(of: [0x6969, 0xFF53_4D42, 0x0102_1997, 0x6573_5546]))
      #expect(
        Set(DataFile.remoteKinds).isDisjoint(with: [0xEF53, 0x0102_1994, 0x5846_5342, 0x9123_683E]))
    }
  #endif

  @Test("A conflicting lock is reported as in use")
  func tellsALockThatIsTaken() throws {
    try folder.environment().close()
    let path = folder.file("store.arbor")
    let exclusive = try DataFile(path: path, create: false, allowsNetwork: true, lock: .exclusive)
    #expect(throws: LMDBError.inUse) {
      _ = try DataFile(path: path, create: false, allowsNetwork: true, lock: .shared)
    }
    let isShared = exclusive.lock(.shared)
    #expect(isShared)
    let shared = try DataFile(path: path, create: false, allowsNetwork: true, lock: .shared)
    let isExclusive = exclusive.lock(.exclusive)
    let isInPlace = shared.isInPlace
    #expect(!isExclusive && isInPlace)
    try FileManager.default.moveItem(atPath: path, toPath: folder.file("elsewhere"))
    let isStillInPlace = shared.isInPlace
    #expect(!isStillInPlace)
    let sizes = (try shared.size, try exclusive.size)
    #expect(sizes.0 == sizes.1 && sizes.0 > 0)
  }
}
