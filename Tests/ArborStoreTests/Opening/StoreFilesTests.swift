import ArborModel
import Foundation
import TestSupport
import Testing
import ArborStore

@Suite struct StoreFilesTests {
  /// Calls `body` with a store and a copy of it that has one more commit.
  private func withTwo(_ body: (_ path: String, _ staged: String) throws -> Void) throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let (path, staged) = (folder.path("a.arbor"), folder.path("a.arbor-migration"))
    let file = try StoreEngine.open(StoreOpening(.file(path), model: OfficeModel.make()))
    try file.copy(to: staged, compacting: false)
    file.close()
    let next = try StoreEngine.open(StoreOpening(.file(staged), model: nil))
    try next.purge()
    next.close()
    try body(path, staged)
    try TemporaryStore.check(path: path)
  }

  private func sequence(_ path: String) throws -> UInt64 {
    let file = try StoreEngine.open(StoreOpening(.file(path), model: nil))
    defer { file.close() }
    return file.lastSequence
  }

  @Test("Replacing a store can keep the former one, which can be put back")
  func replacesAStoreAndPutsItBack() throws {
    try withTwo { path, staged in
      var seen: [UInt64] = []
      try StoreFiles.replace(path, by: staged, keepsFormer: true) { seen.append($0.sequence) }
      #expect(seen == [0])
      #expect(try sequence(path) == 1)
      let former = StoreFiles.formerPath(of: path)
      #expect(former == path + "-before")
      #expect(try sequence(former) == 0)
      try TemporaryStore.check(path: former)
      try StoreFiles.replace(path, by: former)
      #expect(try sequence(path) == 0)
      #expect(!FileManager.default.fileExists(atPath: former))
    }
  }

  @Test("A failed replacement reports the cause and keeps the store")
  func namesWhatKeepsItFromReplacing() throws {
    func text(_ body: () throws -> Void) -> String {
      do { try body() } catch { return "\(error)" }
      return "nothing"
    }
    try withTwo { path, staged in
      #expect(
        text { try StoreFiles.replace(path, by: path + "-none") }
          == "missing(path: \"\(path)-none\")")
      let former = path + "-before"
      try Data().write(to: URL(filePath: former))
      #expect(
        text { try StoreFiles.replace(path, by: staged, keepsFormer: true) }
          == "inputOutput(operation: \"link\", path: Optional(\"\(former)\"), errno: \(EEXIST))"
      )
      let open = try StoreEngine.open(StoreOpening(.file(path), model: nil))
      #expect(
        text { try StoreFiles.replace(path, by: staged) } == "inUse(path: Optional(\"\(path)\"))")
      open.close()
      #expect(
        text {
          try StoreFiles.replace(path, by: staged) { (_) throws(StoreError) in
            throw .modelChanged
          }
        } == "modelChanged")
      #expect(try sequence(path) == 0)
    }
  }
}
