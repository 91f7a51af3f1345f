import ArborData
import Foundation
import TestSupport
import Testing

@testable import crash_writer

/// The disk fills up during a commit. The error says so, every acknowledged commit is kept, and the
/// store is usable again once there is room.
@Suite("Full disks during a commit", .serialized) struct FullDiskTests {
  @Test("Exceeding the file size limit is handled like a full disk")
  func aFileSizeLimitIsAFullDisk() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    try fill(folder.path("ledger.arbor"), environment: ["CRASH_WRITER_FILE_LIMIT": "400000"])
  }

  @Test(
    "A small disk that fills up loses no acknowledged commit",
    .enabled(if: SmallDisk.isPermitted, "mounting takes a privilege"))
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

    // Deleting must not require additional room.
    let full = try CrashWriterRun(["empty", path, "0", "1"], environment: environment).finish()
    #expect(full.status == 0, "\(full.errors)")
    let emptied = try LedgerWriter.open(path)
    try emptied.check()
    #expect(try emptied.makeContext().count(FetchRequest<Entry>()) == 0)
  }
}

/// An in-memory file system of a given size.
struct SmallDisk {
  let url: URL

  /// Whether this process may mount file systems, which some containers forbid.
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

  /// Remounts the file system as read-only.
  ///
  /// The system refuses this while a file is open for writing. A child process that another test
  /// just started may have inherited such a file until it executes its own program.
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
