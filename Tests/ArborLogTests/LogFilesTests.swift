import ArborModel
import ArborStore
import Foundation
import TestSupport
import Testing

@testable import ArborLog

@Suite struct LogFilesTests {
  /// Opening a pipe must not wait for a writer.
  @Test(
    "A pipe or a folder in the place of a log's file is an error",
    arguments: ["log", "writer", "manifest", "snapshot.arbor", "segment"])
  func notAFile(_ name: String) throws {
    let folder = try TemporaryFolder()
    let log = FolderLog(folder.url.appending(path: "log"))
    try TemporaryStore.use(OfficeModel.make()) { store in
      _ = try log.backUp(store.file, snapshot: false)
      try store.file.setMetadata("note", [1])
      _ = try log.backUp(store.file, snapshot: false)
      let base = LogBase.folder(1, in: try log.path)
      let path =
        switch name {
        case "log", "writer": "\(try log.path)/\(name)"
        case "segment": "\(base)/\(LogSegment(first: 1, last: 1).name)"
        default: "\(base)/\(name)"
        }
      for isPipe in [true, false] {
        try FileManager.default.removeItem(atPath: path)
        #expect((isPipe ? mkfifo(path, 0o600) : mkdir(path, 0o700)) == 0)
        let error = #expect(throws: ArborError.self) {
          if name == "writer" {
            _ = try log.backUp(store.file, snapshot: false)
          } else {
            _ = try log.verify()
          }
        }
        #expect(
          error?.message == "\(path) is damaged: it is not a regular file. Restore the file from "
            + "another copy of the log.")
        guard name != "writer" else { continue }
        #expect(throws: ArborError.self) { try log.restore(to: folder.path("x"), at: .newest) }
      }
    }
  }

  @Test("A pipe in place of an unfinished file is removed")
  func unfinishedPipe() throws {
    let folder = try TemporaryFolder()
    let log = FolderLog(folder.url.appending(path: "log"))
    try FileManager.default.createDirectory(at: log.url, withIntermediateDirectories: false)
    let path = LogFiles.unfinishedName("\(try log.path)/next")
    #expect(mkfifo(path, 0o600) == 0)
    let error = #expect(throws: ArborError.self) { _ = try LogOutput(path) }
    #expect(error?.code == .corrupted)
    try TemporaryStore.use(OfficeModel.make()) { store in
      #expect(try log.backUp(store.file, snapshot: false).isSnapshot)
      try log.verify()
    }
    #expect(!FileManager.default.fileExists(atPath: path))
  }
}
