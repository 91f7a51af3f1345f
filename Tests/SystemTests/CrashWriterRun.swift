import ArborData
import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A running crash-writer, whose output is read line by line.
final class CrashWriterRun {
  private let program: StartedProgram
  private let errors: URL
  private var pending: [UInt8] = []
  /// The complete lines read so far.
  private(set) var lines: [String] = []

  init(_ arguments: [String], environment: [String: String] = [:]) throws {
    errors = FileManager.default.temporaryDirectory.appending(path: "err-\(UUID().uuidString)")
    try Data().write(to: errors)
    program = try StartedProgram(
      BuiltProgram("crash-writer").executable, arguments, environment: environment, output: .pipe,
      errors: .file(FileHandle(forWritingTo: errors)))
  }

  deinit { try? FileManager.default.removeItem(at: errors) }

  /// Reads until `count` lines begin with a word; returns `false` if the writer ended first.
  func read(until count: Int, _ word: String) -> Bool {
    while acknowledged(word).count < count {
      if !readMore() { return false }
    }
    return true
  }

  /// Kills the writer and reads the rest of its output.
  func kill() {
    program.kill()
    _ = finish()
  }

  /// Stops the writer until it is continued.
  func stop() { program.send(SIGSTOP) }

  /// Continues the writer after it has been stopped.
  func resume() { program.resume() }

  /// The writer's process ID.
  var processID: Int32 { program.identifier }

  /// Waits for the writer to end; returns its exit code and the contents of its standard error.
  func finish() -> (status: Int32, errors: String) {
    while readMore() {}
    let status = program.wait()
    return (status, (try? String(contentsOf: errors, encoding: .utf8)) ?? "")
  }

  /// Returns the numbers on the lines that begin with a word.
  func acknowledged(_ word: String) -> [Int64] {
    lines.filter { $0.hasPrefix(word + " ") }
      .flatMap { $0.split(separator: " ").dropFirst().compactMap { Int64($0) } }
  }

  private func readMore() -> Bool {
    let bytes = program.read()
    pending.append(contentsOf: bytes)
    while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
      lines.append(String(decoding: pending[..<end], as: UTF8.self))
      pending.removeSubrange(...end)
    }
    return !bytes.isEmpty
  }
}

extension CrashWriterRun {
  /// Opens the ledger at a path with a changed model while another process appends to it. Expects
  /// that the other process stops with an explanation and that the store is sound.
  static func stopped(
    at path: String, by open: () throws -> PersistentStore
  ) throws -> (store: PersistentStore, writer: CrashWriterRun) {
    let writer = try CrashWriterRun(["append", path, "1", "1000000"])
    #expect(writer.read(until: 50, "appended"))
    let store = try open()
    let end = writer.finish()
    #expect(end.status == 1)
    #expect(end.errors.contains("Reopen the store."), "\(end.errors)")
    try store.check()
    return (store, writer)
  }
}
