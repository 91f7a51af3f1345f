import Foundation

/// A ledger compared with SQLite: N transactions with two postings each, and a full-text index.
extension Benchmark {
  func compareLedgers(rounds: Int) throws {
    let data = LedgerData(count: count)
    let (own, imported, other) = (path + ".arbor", path + "-imported.arbor", path + ".sqlite")
    for suffix in ["", "-lock"] {
      try? FileManager.default.removeItem(atPath: own + suffix)
      try? FileManager.default.removeItem(atPath: imported + suffix)
    }
    for suffix in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: other + suffix)
    }
    let store = try LedgerStore(path: own)
    let database = try SQLiteLedger(path: other)
    try Meter.measure("ledger_insert_arbor") {
      try store.load(data)
      return (count, 0)
    }
    try Meter.measure("ledger_insert_sqlite") {
      try database.load(data)
      return (count, 0)
    }
    let document = data.document()
    let second = try LedgerStore(path: imported)
    try Meter.measure("ledger_import_arbor") {
      try second.importTransactions(from: document)
      return (count, 0)
    }
    guard try second.sums() == store.sums() else {
      throw BenchmarkError("the sums of the imported ledger differ")
    }
    second.close()
    for _ in 0..<max(1, rounds) {
      try Meter.measure("ledger_group_arbor") { try store.sums() }
      try Meter.measure("ledger_group_sqlite") { try database.sums() }
      try Meter.measure("ledger_search_arbor") { (try store.search("winter concert"), 0) }
      try Meter.measure("ledger_search_sqlite") { (try database.search("winter concert"), 0) }
    }
    store.close()
    for file in [own, other] {
      let size = try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int
      Meter.printLine(["ledger_bytes", file, "\(size ?? 0)"])
    }
  }
}
