import ArborData
import Foundation

/// A ledger whose commits go through a log.
enum LedgerSharing {
  /// The environment variable that contains the path of the log's folder.
  static let variable = "ARBOR_LEDGER_LOG"

  static func open(_ path: String, _ log: FileLog) throws -> PersistentStore {
    try PersistentStore(
      for: LedgerClasses.all, at: .file(URL(filePath: path)), following: log,
      options: LedgerJournal.options)
  }

  /// Commits rounds through the log in the folder that the environment specifies.
  ///
  /// - Parameter acknowledge: Receives a line for every entry of the log, and those of the writer.
  static func run(
    _ path: String, seed: UInt64, rounds: Int, acknowledge: @escaping @Sendable (String) -> Void
  ) throws {
    let folder = ProcessInfo.processInfo.environment[variable] ?? path + ".log"
    let log = FileLog(URL(filePath: folder), acknowledge: acknowledge)
    let writer = try LedgerWriter(try open(path, log), acknowledge: acknowledge)
    try writer.write(rounds: rounds, seed: seed)
    writer.store.close()
  }
}
