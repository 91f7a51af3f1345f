import Foundation
import Testing

@testable import LMDB

@Suite struct EngineVersionTests {
  @Test("The linked engine version is supported")
  func thisOneFits() throws {
    #expect(EngineVersion.linked.description.hasPrefix("0.9."))
    try EngineVersion.linked.validate()
  }

  @Test(
    "An unsupported engine is rejected before a file is created",
    arguments: [(1, 0, 0), (0, 8, 12), (0, 10, 1)] as [(Int32, Int32, Int32)])
  func anotherOneIsRefusedAndNamed(major: Int32, minor: Int32, patch: Int32) throws {
    let folder = try TemporaryFolder()
    var options = EnvironmentOptions()
    options.create = true
    let stub = EngineVersion(major: major, minor: minor, patch: patch)
    let error = #expect(throws: LMDBError.foreignEngine(found: "\(major).\(minor).\(patch)")) {
      _ = try Environment.open(path: folder.file("store.arbor"), options: options, engine: stub)
    }
    #expect(
      error.map { "\($0)" }
        == "The program uses LMDB \(major).\(minor).\(patch), but LMDB 0.9.x is required. Install "
        + "the required version of liblmdb. Files of LMDB 0.9 and 1.0 are not compatible.")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
  }
}
