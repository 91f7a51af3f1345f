import ArborData
import Foundation
import Testing

@Suite struct StoreFolderTests {
  @Test func followsTheBaseDirectorySpecification() {
    var folder = StoreFolder()
    folder.environment = ["XDG_DATA_HOME": "/data", "HOME": "/people/ada"]
    #if !canImport(Darwin)
      #expect(folder.applicationData.path == "/data")
      folder.environment["XDG_DATA_HOME"] = "relative"
      #expect(folder.applicationData.path == "/people/ada/.local/share")
      folder.environment["XDG_DATA_HOME"] = nil
      #expect(folder.applicationData.path == "/people/ada/.local/share")
    #endif
  }

  @Test func makesAFolderForTheOwnerOnly() throws {
    let root = Corporation.temporaryFolder()
    var folder = StoreFolder()
    folder.environment = ["XDG_DATA_HOME": root.path]
    folder.processName = "tester"
    let file = try folder.file(named: "Notes")
    #expect(file.lastPathComponent == "Notes.arbor")
    let made = file.deletingLastPathComponent()
    let attributes = try FileManager.default.attributesOfItem(atPath: made.path)
    #expect(attributes[.posixPermissions] as? Int == 0o700)
    #if !canImport(Darwin)
      #expect(made.path == root.appending(path: "tester").path)
    #endif
  }
}
