import ArborData
import Foundation

/// Backs a ledger up, again and again, beside those who write to it.
enum LedgerBackUp {
  /// The log of the ledger at a path.
  static func log(of path: String) -> FolderLog { FolderLog(URL(filePath: path + ".log")) }

  /// Where the ledger is restored to from its log.
  static func restored(_ path: String) -> String { path + ".restored" }

  /// Restores the ledger beside itself.
  @discardableResult
  static func restore(_ path: String) throws -> String {
    try PersistentStore.restore(from: log(of: path), to: URL(filePath: restored(path)))
    return restored(path)
  }

  /// Backs up so often.
  ///
  /// - Parameters:
  ///   - interval: Every so many times a snapshot is made; 0 only where the log needs one.
  ///   - acknowledge: Takes one line for every backup, with its sequence.
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
