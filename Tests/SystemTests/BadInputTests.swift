import ArborData
import Foundation
import TestSupport
import Testing

@testable import crash_writer

/// Opening a path that is not a store, or one in a folder without write permission, throws a
/// descriptive error and changes nothing.
@Suite("Invalid paths and files") final class BadInputTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func failure(at path: String) -> ArborError? {
    do {
      _ = try LedgerWriter.open(path)
      return nil
    } catch {
      return error as? ArborError
    }
  }

  @Test(
    "Opening a file that is not a store throws an error and leaves the file unchanged",
    arguments: [Data("a letter, no database".utf8), Data(count: 1 << 14), Data([0x53, 0x51])])
  func aForeignFileStaysAsItIs(bytes: Data) throws {
    let path = folder.path("letter.arbor")
    try bytes.write(to: URL(filePath: path))
    let error = try #require(failure(at: path))
    #expect(error.code == .notAStore || error.code == .corrupted)
    #expect(error.message.contains(path) || error.message.contains("file"))
    #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["letter.arbor"])
  }

  @Test("A directory cannot be opened as a store")
  func aDirectoryIsNoFile() throws {
    let error = try #require(failure(at: folder.url.path))
    #expect(error.code == .notAStore)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
  }

  @Test("The error for a missing folder names it")
  func aFolderThatIsNotThereIsNamed() throws {
    let path = folder.path("nowhere/ledger.arbor")
    let error = try #require(failure(at: path))
    #expect(error.message.contains("nowhere") || error.message.contains("folder"), "\(error)")
  }

  @Test("Different paths to the same file share one store")
  func anotherSpellingSharesTheStore() throws {
    let path = folder.path("ledger.arbor")
    let first = try LedgerWriter.open(path)
    let link = folder.path("link.arbor")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    let name = folder.url.lastPathComponent
    for spelling in [path, link, folder.url.path + "/../\(name)/./ledger.arbor"] {
      let second = try LedgerWriter.open(spelling)
      #expect(second.id == first.id)
      // Both see each other's commits at once and draw numbers from one counter.
      let context = second.makeContext()
      context.insert(Label.self).name = spelling
      try context.commit()
      let found = try first.makeContext()
        .count(FetchRequest<Label>(predicate: "name == \(spelling)"))
      #expect(found == 1)
      #expect(try second.uniqueIDs.next() > first.uniqueIDs.next() - 2)
      second.close()
    }
    try first.check()
    #expect(!FileManager.default.fileExists(atPath: link + "-lock"))
  }

  @Test("Opening a store in a folder without write permission throws an error")
  func aFolderOfOthersIsReadOnly() throws {
    // A child process without privileges tries this, because root may write anywhere.
    let home = folder.path("others")
    try FileManager.default.createDirectory(
      atPath: home, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o555])
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: folder.url.path)
    let run = try CrashWriterRun(
      ["rounds", home + "/ledger.arbor", "1", "3"], environment: ["CRASH_WRITER_USER": "65534"])
    let end = run.finish()
    #expect(end.status == 1)
    let message =
      "The folder \(home) is not writable. Check its permissions, or create the store in another "
      + "folder."
    #expect(end.errors.contains(message), "\(end.errors)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: home) == [])
  }

  @Test(
    "A store on a read-only medium can be read",
    .enabled(if: SmallDisk.isPermitted, "mounting takes a privilege"))
  func aMediumThatCannotBeWrittenCanBeRead() throws {
    let disk = try SmallDisk(bytes: 1 << 22)
    defer { disk.unmount() }
    let url = disk.url.appending(path: "ledger.arbor")
    try LedgerWriter(path: url.path) { _ in }.write(rounds: 3, seed: 1)
    try disk.makeReadOnly()
    #expect(try #require(failure(at: url.path)).code == .readOnly)
    let options = StoreOptions(isReadOnly: true)
    let store = try PersistentStore(for: LedgerClasses.all, at: .file(url), options: options)
    #expect(try LedgerState(reading: store) == LedgerState(seed: 1, rounds: 3))
    store.close()
  }
}
