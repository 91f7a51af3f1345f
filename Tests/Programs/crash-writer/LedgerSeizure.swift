import ArborStore
import Foundation
import LMDB

/// A process that is stopped while it writes.
enum LedgerSeizure {
  /// Begins transactions, and stops this process in each of them.
  ///
  /// - Parameter acknowledge: Receives a line before the process stops, and one after the transaction
  ///   has ended.
  static func run(_ path: String, count: Int, acknowledge: (String) -> Void) throws {
    let engine = try StoreEngine.open(StoreOpening(.file(path), model: nil))
    for number in 1...count {
      try engine.environment.runWrite { _ in
        acknowledge("seized \(number)")
        raise(SIGSTOP)
        return false
      }
      acknowledge("released \(number)")
    }
    engine.close()
  }
}
