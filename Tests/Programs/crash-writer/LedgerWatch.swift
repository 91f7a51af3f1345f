import ArborData
import Foundation

/// A reader of a ledger while other processes change its contents and its model.
enum LedgerWatch {
  /// Fetches the entries repeatedly until there are at least `count`, then commits one more.
  ///
  /// - Parameter acknowledge: Receives a line for every new count.
  static func run(
    _ path: String, until count: Int, acknowledge: (String) -> Void
  ) throws {
    let store = try LedgerWriter.open(path)
    defer { store.close() }
    let context = store.makeContext()
    var seen: Int?
    while seen.map({ $0 < count }) ?? true {
      let found = try context.fetch(FetchRequest<Entry>()).map(\.amount)
      if found.count != seen { acknowledge("sees \(found.count)") }
      seen = found.count
      Thread.sleep(forTimeInterval: 0.002)
    }
    context.insert(Entry.self).amount = 1
    try context.commit()
    acknowledge("wrote \(count + 1)")
  }
}
