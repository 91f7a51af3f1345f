import ArborExchange
import ArborModel
import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite struct SeedFileTests {
  @Test("Folders and pipes are rejected")
  func refusesWhatIsNoRegularFile() throws {
    let workshop = try SeedWorkshop()
    let folder = workshop.folder.appending(path: "folder.json")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let pipe = workshop.folder.appending(path: "pipe.json")
    #expect(mkfifo(pipe.path, 0o600) == 0)
    for name in ["folder.json", "pipe.json"] {
      let error = try workshop.failure(of: "{\"seedlings\": [{\"seedFile\": \"\(name)\"}]}")
      #expect(error.code == .fileUnreadable)
      #expect(error.message.contains("not a regular file"))
    }
  }

  @Test("A missing file is reported")
  func saysThatAFileIsMissing() throws {
    let workshop = try SeedWorkshop()
    try workshop.write("{}", to: "file.json")
    for name in ["none.json", "none/none.json", "file.json/none.json"] {
      let error = try workshop.failure(of: "{\"seedlings\": [{\"seedFile\": \"\(name)\"}]}")
      #expect(error.code == .fileUnreadable && error.message.contains("doesn't exist"))
    }
  }

  @Test("A symbolic link that points to itself is an error")
  func saysThatALinkEndsNowhere() throws {
    let workshop = try SeedWorkshop()
    try FileManager.default.createSymbolicLink(
      atPath: workshop.folder.appending(path: "loop.json").path, withDestinationPath: "loop.json")
    let error = try workshop.failure(of: #"{"seedlings": [{"seedFile": "loop.json"}]}"#)
    #expect(error.code == .fileUnreadable && error.message.contains("cannot be read"))
  }
}
