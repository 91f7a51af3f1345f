import ArborData
import Foundation

/// Reads a ledger while others change it, and its model.
enum LedgerWatch {
  /// Counts the entries over and over, until there are so many, then commits one more.
  ///
  /// - Parameter acknowledge: Takes one line for every new count.
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
