import Testing
import LMDB

@Suite struct FolderTests {
  @Test("The folder of a path is found and can be synchronized")
  func isWhatTheFileLiesIn() throws {
    #expect(Folder.path(of: "store") == ".")
    #expect(Folder.path(of: "/store") == "/")
    #expect(Folder.path(of: "a/b/store") == "a/b")
    let folder = try TemporaryFolder()
    try Folder.synchronize(of: folder.file("store"))
    #expect(throws: LMDBError.noSuchFile) { try Folder.synchronize(of: folder.file("a/store")) }
  }
}
