import ArborData
import Foundation
import Testing

@Suite struct StoreFolderTests {
  @Test("The folder follows the XDG base directory specification")
  func followsTheBaseDirectorySpecification() {
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

  @Test("The folder is accessible to its owner only")
  func makesAFolderForTheOwnerOnly() throws {
    let root = Corporation.temporaryFolder()
    var folder = StoreFolder()
    folder.environment = ["XDG_DATA_HOME": root.path]
    folder.processName = "tester"
    let file = try folder.file(named: "Notes")
    #expect(file == folder.url.appending(path: "Notes.arbor", directoryHint: .notDirectory))
    #expect(try folder.file(named: "", fileName: "notes.db").lastPathComponent == "notes.db")
    for name in ["", ".", "..", "a/b", "a\0b"] {
      let alias = #expect(throws: ArborError.self) { try folder.file(named: name) }
      let own = #expect(throws: ArborError.self) { try folder.file(named: "a", fileName: name) }
      #expect(alias?.code == .invalidArgument && own?.code == .invalidArgument, "\(name)")
    }
    let made = file.deletingLastPathComponent()
    let attributes = try FileManager.default.attributesOfItem(atPath: made.path)
    #expect(attributes[.posixPermissions] as? Int == 0o700)
    #if !canImport(Darwin)
      #expect(made.path == root.appending(path: "tester").path)
    #endif
  }
}
