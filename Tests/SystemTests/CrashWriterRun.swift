import ArborData
import Foundation
import TestSupport
import Testing

/// A running crash-writer, whose lines are read as they come.
final class CrashWriterRun {
  private let program: StartedProgram
  private let errors: URL
  private var pending: [UInt8] = []
  /// The complete lines so far.
  private(set) var lines: [String] = []

  init(_ arguments: [String], environment: [String: String] = [:]) throws {
    errors = FileManager.default.temporaryDirectory.appending(path: "err-\(UUID().uuidString)")
    try Data().write(to: errors)
    program = try StartedProgram(
      BuiltProgram("crash-writer").executable, arguments, environment: environment, output: .pipe,
      errors: .file(FileHandle(forWritingTo: errors)))
  }

  deinit { try? FileManager.default.removeItem(at: errors) }

  /// Reads until so many lines begin with a word; false where the writer ended before.
  func read(until count: Int, _ word: String) -> Bool {
    while acknowledged(word).count < count {
      if !readMore() { return false }
    }
    return true
  }

  /// Kills the writer and reads what it had still said.
  func kill() {
    program.kill()
    _ = finish()
  }

  /// Waits for the end; gives the exit code and what stands on the standard error.
  func finish() -> (status: Int32, errors: String) {
    while readMore() {}
    let status = program.wait()
    return (status, (try? String(contentsOf: errors, encoding: .utf8)) ?? "")
  }

  /// The numbers on the lines that begin with a word.
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
  /// Opens the ledger at a path in a way that changes its model while another process appends to
  /// it, which has to stop, to say why, and to leave the store sound.
  static func stopped(
    at path: String, by open: () throws -> PersistentStore
  ) throws -> (store: PersistentStore, writer: CrashWriterRun) {
    let writer = try CrashWriterRun(["append", path, "1", "1000000"])
    #expect(writer.read(until: 50, "appended"))
    let store = try open()
    let end = writer.finish()
    #expect(end.status == 1)
    #expect(end.errors.contains("Reopen it"), "\(end.errors)")
    try store.check()
    return (store, writer)
  }
}
