import Foundation
import Testing

@testable import LMDB

@Suite struct ScrubClaimTests {
  @Test func oneHasItAtATime() throws {
    let folder = try TemporaryFolder()
    let environment = try folder.environment()
    let other = try folder.environment("other.arbor")
    var first = environment.claimScrub()
    #expect(first != nil)
    #expect(environment.claimScrub() == nil)
    // It is of one file, and nobody who opens or replaces that waits for it.
    #expect(other.claimScrub() != nil)
    let path = folder.file("store.arbor")
    let identity = try #require(FileIdentity(path: path))
    try OpeningLock.exclusively(path, identity) { try environment.write { _ in } }
    first = nil
    #expect(environment.claimScrub() != nil)
    #expect(environment.claimScrub() != nil)
  }

  /// Where the file cannot be opened for writing nobody is kept from scrubbing.
  @Test func nothingElseStandsInTheWay() throws {
    let folder = try TemporaryFolder()
    let environment = try folder.environment()
    try FileManager.default.removeItem(atPath: folder.file("store.arbor"))
    let first = environment.claimScrub()
    #expect(first != nil && environment.claimScrub() != nil)
  }
}
