import Foundation
import Testing

@testable import LMDB

@Suite struct ScrubClaimTests {
  @Test("The claim to scrub a file has one holder at a time")
  func oneHasItAtATime() throws {
    let folder = try TemporaryFolder()
    let environment = try folder.environment()
    let other = try folder.environment("other.arbor")
    var first = environment.claimScrub()
    #expect(first != nil)
    #expect(environment.claimScrub() == nil)
    // A claim covers one file, and neither opening nor replacing the file waits for it.
    #expect(other.claimScrub() != nil)
    let path = folder.file("store.arbor")
    let identity = try #require(FileIdentity(path: path))
    try OpeningLock.exclusively(path, identity) { try environment.write { _ in } }
    first = nil
    #expect(environment.claimScrub() != nil)
    #expect(environment.claimScrub() != nil)
  }

  @Test("If the file can't be opened for writing, scrubbing is always permitted")
  func nothingElseStandsInTheWay() throws {
    let folder = try TemporaryFolder()
    let environment = try folder.environment()
    try FileManager.default.removeItem(atPath: folder.file("store.arbor"))
    let first = environment.claimScrub()
    #expect(first != nil && environment.claimScrub() != nil)
  }
}
