import Foundation
import Testing

@testable import LMDB

@Suite struct OpeningLockTests {
  @Test("Opening a file waits for its replacement")
  func whoOpensWaitsForWhoReplaces() throws {
    let folder = try TemporaryFolder()
    try folder.environment().close()
    let path = folder.file("store.arbor")
    let identity = try #require(FileIdentity(path: path))
    let hasOpened = DispatchSemaphore(value: 0)
    try OpeningLock.exclusively(path, identity) {
      Thread {
        if (try? Environment.open(path: path)) != nil { hasOpened.signal() }
      }.start()
      #expect(hasOpened.wait(timeout: .now() + 0.05) == .timedOut)
    }
    #expect(hasOpened.wait(timeout: .now() + 30) == .success)
    // A file that is already open needs no lock.
    let environment = try Environment.open(path: path)
    try OpeningLock.exclusively(path, identity) { try environment.write { _ in } }
  }

  @Test("A replaced file is detected when it is locked")
  func noticesAnotherFile() throws {
    let folder = try TemporaryFolder()
    try folder.environment().close()
    let other = try #require(FileIdentity(path: folder.path))
    #expect(throws: LMDBError.fileReplaced) {
      try OpeningLock.exclusively(folder.file("store.arbor"), other) {}
    }
  }
}
