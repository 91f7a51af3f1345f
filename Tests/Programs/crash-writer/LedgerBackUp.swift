import ArborData
import Foundation

/// Repeated backups of a ledger while other processes write to it.
enum LedgerBackUp {
  /// Returns the log of the ledger at a path.
  static func log(of path: String) -> FolderLog { FolderLog(URL(filePath: path + ".log")) }

  /// Returns the path to which the ledger is restored from its log.
  static func restored(_ path: String) -> String { path + ".restored" }

  /// Restores the ledger to a path next to it.
  @discardableResult
  static func restore(_ path: String) throws -> String {
    try PersistentStore.restore(from: log(of: path), to: URL(filePath: restored(path)))
    return restored(path)
  }

  /// Backs up the ledger `count` times.
  ///
  /// - Parameters:
  ///   - interval: A snapshot is taken at every `interval`-th backup; 0 for only when the log needs
  ///     one.
  ///   - acknowledge: Receives a line with the sequence number for every backup.
  static func run(
    _ path: String, snapshotEvery interval: Int, count: Int, acknowledge: (String) -> Void
  ) throws {
    let store = try LedgerWriter.open(path)
    defer { store.close() }
    acknowledge("opened 1")
    for number in 1...count {
      let wantsSnapshot = interval > 0 && number.isMultiple(of: interval)
      let added = try store.backUp(to: log(of: path), snapshot: wantsSnapshot)
      acknowledge("backed \(added.sequence)")
    }
  }
}
