import ArborData
import ArborStore
import Foundation

/// Scrubs of a ledger that other processes use.
enum LedgerScrub {
  /// Scrubs the ledger `count` times.
  static func run(_ path: String, count: Int, acknowledge: (String) -> Void) throws {
    let store = try LedgerWriter.open(path)
    defer { store.close() }
    for number in 1...count {
      try store.scrub()
      acknowledge("scrubbed \(number)")
    }
  }

  /// Claims the exclusive right to scrub and holds it until the process is killed, like a slow
  /// process.
  static func hold(_ path: String, acknowledge: (String) -> Void) throws {
    var opening = StoreOpening(.file(path), model: nil)
    opening.scrubInterval = nil
    let file = try StoreEngine.open(opening)
    let isOurs = try file.scrubAlone { () throws(StoreError) in
      acknowledge("claimed 1")
      while true { Thread.sleep(forTimeInterval: 3600) }
    }
    if !isOurs { acknowledge("refused 1") }
  }

  /// Opens the ledger when a scrub is due, waits until it has been scrubbed, and then stays for
  /// three more seconds.
  static func attend(_ path: String, acknowledge: (String) -> Void) throws {
    var options = StoreOptions()
    options.scrubInterval = .zero
    let store = try PersistentStore(
      for: LedgerClasses.all, at: .file(URL(filePath: path)), options: options)
    defer { store.close() }
    let former = try store.lastScrub()
    acknowledge("opened 1")
    while try store.lastScrub() == former { Thread.sleep(forTimeInterval: 0.02) }
    acknowledge("scrubbed 1")
    Thread.sleep(forTimeInterval: 3)
  }
}
