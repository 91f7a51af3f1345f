import ArborLocks
import Foundation
import Testing

@testable import LMDB

/// Removal of unfinished files whose process died. Files in use, finished or unrelated are kept.
@Suite struct UnfinishedFileTests {
  private let folder: TemporaryFolder
  private var target: String { folder.file("a.arbor") }
  private var names: Set<String> {
    Set((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
  }

  init() throws { folder = try TemporaryFolder() }

  private func write(_ name: String) throws {
    try Data([1]).write(to: URL(filePath: folder.file(name)))
  }

  @Test("A new unfinished file is empty and readable by its owner only")
  func isNewEmptyAndForItsOwnerOnly() throws {
    let file = try UnfinishedFile(beside: target)
    #expect(file.path.hasPrefix(target + ".new-") && file.path.count == target.count + 13)
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    #expect(attributes[.size] as? Int == 0 && attributes[.posixPermissions] as? Int == 0o600)
  }

  @Test("Files of dead processes are removed, and all others are kept")
  func whatTheDeadLeftGoes() throws {
    let kept: Set = [
      "a.arbor", "a.arbor-lock", "b.arbor.new-12345678", "a.arbor.new-1234567",
      "a.arbor.new-1234567G", "a.arbor.new-123456789", "a.arbor.damaged-12345678",
      "ba.arbor.new-12345678",
    ]
    for name in kept { try write(name) }
    for name in ["12345678", "ABCDEF00", "ABCDEF00-lock", "00000000-lock"] {
      try write("a.arbor.new-" + name)
    }
    try FileManager.default.createDirectory(
      atPath: folder.file("a.arbor.new-00000001"), withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("a.arbor.new-00000002"), withDestinationPath: target)
    UnfinishedFile.removeAbandoned(beside: target)
    #expect(names == kept.union(["a.arbor.new-00000001", "a.arbor.new-00000002"]))
  }

  @Test("A file that is still in use is kept")
  func whatSomebodyWorksOnStays() throws {
    do {
      let file = try UnfinishedFile(beside: target)
      #expect(FileManager.default.createFile(atPath: file.path + "-lock", contents: nil))
      for _ in 0..<3 { UnfinishedFile.removeAbandoned(beside: target) }
      #expect(names.count == 2)
      #expect(FileManager.default.fileExists(atPath: file.path))
    }
    UnfinishedFile.removeAbandoned(beside: target)
    #expect(names == [])
  }

  @Test("A file that has just been finished can be locked at once, despite concurrent checks")
  func aFinishedFileIsFreeForAll() throws {
    let file = try UnfinishedFile(beside: target)
    let found = try DataFile(path: file.path, create: false, allowsNetwork: true, lock: .exclusive)
    let isInPlace = found.isInPlace
    #expect(isInPlace)
  }

  @Test("Concurrent cleanup never removes a file that is still held")
  func noMakerLosesItsFile() throws {
    let target = target
    let isOver = Atomic(false)
    let finished = Lock<[String]>([])
    withExtendedLifetime(folder) {
      DispatchQueue.concurrentPerform(iterations: 4) { worker in
        guard worker > 0 else {
          while !isOver.load(ordering: .relaxed) { UnfinishedFile.removeAbandoned(beside: target) }
          return
        }
        for number in 0..<200 {
          do {
            let file = try UnfinishedFile(beside: target)
            let target = "\(target).\(worker).\(number)"
            if rename(file.path, target) == 0 { finished.withLock { $0.append(target) } }
          } catch {
            Issue.record(error)
          }
        }
        if worker == 1 { isOver.store(true, ordering: .relaxed) }
      }
      let targets = finished.withLock { $0 }
      #expect(targets.count == 600)
      #expect(targets.allSatisfy { FileManager.default.fileExists(atPath: $0) })
    }
  }
}
