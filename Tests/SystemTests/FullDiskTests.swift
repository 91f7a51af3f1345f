import ArborData
import Foundation
import TestSupport
import Testing

@testable import crash_writer

/// The disk fills up in the middle of the work: an error that says so, every acknowledged commit
/// kept, and the store usable again when there is room.
@Suite(.serialized) struct FullDiskTests {
  @Test func aFileSizeLimitIsAFullDisk() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    try fill(folder.path("ledger.arbor"), environment: ["CRASH_WRITER_FILE_LIMIT": "400000"])
  }

  @Test(.enabled(if: SmallDisk.isPermitted, "mounting takes a privilege"))
  func aSmallDiskFills() throws {
    let disk = try SmallDisk(bytes: 1 << 19)
    defer { disk.unmount() }
    try fill(disk.url.appending(path: "ledger.arbor").path, environment: [:])
  }

  private func fill(_ path: String, environment: [String: String]) throws {
    let seed = UInt64.random(in: 0...(.max))
    let writer = try CrashWriterRun(
      ["rounds", path, "\(seed)", "1000000"], environment: environment)
    let end = writer.finish()
    #expect(end.status == 1)
    #expect(end.errors.contains("disk") || end.errors.contains("room"), "\(end.errors)")
    let rounds = try #require(writer.acknowledged("round").last.map { Int($0) })
    #expect(rounds > 0)

    let store = try LedgerWriter.open(path)
    try store.check()
    let state = try #require(try LedgerState(reading: store))
    #expect(state == LedgerState(seed: seed, rounds: rounds), "seed \(seed)")
    store.close()

    // Deleting needs no room that is not there.
    let full = try CrashWriterRun(["empty", path, "0", "1"], environment: environment).finish()
    #expect(full.status == 0, "\(full.errors)")
    let emptied = try LedgerWriter.open(path)
    try emptied.check()
    #expect(try emptied.makeContext().count(FetchRequest<Entry>()) == 0)
  }
}

/// A file system of a given size, in memory.
struct SmallDisk {
  let url: URL

  /// Whether this process may mount: some containers forbid it.
  static let isPermitted: Bool = {
    guard let disk = try? SmallDisk(bytes: 1 << 16) else { return false }
    disk.unmount()
    return true
  }()

  struct Refused: Error {}

  init(bytes: Int, options: String = "") throws {
    url = FileManager.default.temporaryDirectory.appending(path: "disk-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    let arguments = ["-t", "tmpfs", "-o", "size=\(bytes)\(options)", "tmpfs", url.path]
    guard Self.run("mount", arguments) else {
      try? FileManager.default.removeItem(at: url)
      throw Refused()
    }
  }

  /// Makes what is on it unchangeable.
  ///
  /// The system refuses while a file on it is open for writing, if only by a program that another
  /// test is about to start, which has inherited it until it runs.
  func makeReadOnly() throws {
    for _ in 0..<200 {
      if Self.run("mount", ["-o", "remount,ro", url.path]) { return }
      Thread.sleep(forTimeInterval: 0.05)
    }
    throw Refused()
  }

  func unmount() {
    _ = Self.run("umount", ["-l", url.path])
    try? FileManager.default.removeItem(at: url)
  }

  private static func run(_ command: String, _ arguments: [String]) -> Bool {
    let env = URL(filePath: "/usr/bin/env")
    return (try? StartedProgram(env, [command] + arguments).wait()) == 0
  }
}
