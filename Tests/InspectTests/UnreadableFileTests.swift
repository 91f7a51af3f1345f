import Foundation
import TestSupport
import Testing

/// An unreadable file leads to exit code 2 and a message that names the file, without any change.
@Suite final class UnreadableFileTests {
  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory
      .appending(path: "unreadable-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }
  deinit { try? FileManager.default.removeItem(at: folder) }

  @Test(
    "An unreadable file is explained and left unchanged",
    arguments: ["missing", "text", "empty", "folder", "zeros"])
  func isExplained(kind: String) throws {
    let url = folder.appending(path: kind)
    switch kind {
    case "text": try Data("no database at all".utf8).write(to: url)
    case "empty": try Data().write(to: url)
    case "zeros": try Data(count: 16384).write(to: url)
    case "folder":
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    default: break
    }
    let outcome = try Inspection(url).run("info")
    #expect(outcome.status == 2)
    #expect(outcome.output == "")
    #expect(outcome.errors.hasPrefix("lmdb-inspect: \(url.path): "))
    let left = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    #expect(left == (kind == "missing" ? [] : [kind]), "nothing is made beside it")
  }

  @Test("An unknown verb is a usage error")
  func anUnknownVerbIsAMistakeOfUse() throws {
    #expect(try Inspection.program.run(["peek", folder.path]).status == 64)
    #expect(try Inspection.program.run(["info"]).status == 64)
  }
}
