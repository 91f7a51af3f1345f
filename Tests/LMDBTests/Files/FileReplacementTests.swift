import Foundation
import LMDB
import Testing

/// Recovery from a kill between any two steps of a replacement.
@Suite struct FileReplacementTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("store.arbor")
  }

  private var names: Set<String> {
    Set((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
  }

  @Test(
    "Opening the file reverts an interrupted replacement", arguments: ["-before", "-swap"],
    [false, true])
  func anInterruptedOneIsTakenBack(_ suffix: String, _ hasMovedLock: Bool) async throws {
    let environment = try folder.environment()
    let snapshot = try environment.beginRead()
    let lock = FileIdentity(path: path + "-lock")
    #expect(link(path, path + suffix) == 0)
    if hasMovedLock { #expect(rename(path + "-lock", path + suffix + "-lock") == 0) }
    // Another process that opens the file uses the lock file of this one.
    await #expect(processExitsWith: .success) { [path = path as String] in
      let environment = try Environment.open(path: path)
      #expect(try environment.readers().contains { $0.processID == getppid() })
    }
    #expect(names == ["store.arbor", "store.arbor-lock"])
    #expect(FileIdentity(path: path + "-lock") == lock)
    try environment.write { _ in }
    _ = snapshot.id
  }

  @Test("A hard link that isn't the result of a replacement is kept")
  func anotherNameOfTheFileStays() throws {
    try folder.environment().close()
    for name in ["store.arbor.bak", "other"] {
      #expect(link(path, folder.file(name)) == 0)
      #expect(throws: LMDBError.hardLinked) { try Environment.open(path: path) }
      #expect(names.contains(name))
      unlink(folder.file(name))
    }
    // A separate file with the former name isn't a link to this file.
    try folder.environment("store.arbor-before").close()
    try Environment.open(path: path).close()
    #expect(names.contains("store.arbor-before"))
  }

  @Test("A lock file without a data file isn't reused as the lock file of the next one")
  func aStrayLockFileGoes() throws {
    try folder.environment().close()
    try folder.environment("staged").close()
    for suffix in ["-before", "-swap"] {
      try Data([1]).write(to: URL(filePath: path + suffix + "-lock"))
    }
    let kept = FileIdentity(path: path + "-lock")
    try Environment.replaceFile(at: path, by: folder.file("staged"), keepsFormer: true) { _, _ in }
    #expect(FileIdentity(path: path + "-before-lock") == kept)
  }

  @Test("Leftovers of a replacement that was killed after its last step don't impede the next one")
  func leftoversOfAFinishedOneGo() throws {
    try folder.environment().close()
    try folder.environment("staged").close()
    try folder.environment("store.arbor-swap").close()
    let coming = FileIdentity(path: folder.file("staged"))
    try Environment.replaceFile(at: path, by: folder.file("staged"), keepsFormer: false) { _, _ in }
    #expect(FileIdentity(path: path) == coming)
    #expect(names == ["store.arbor"])
  }
}
