package import ArborStore
internal import LMDB

/// All entries of a store's databases except those that are specific to one file: the header, the
/// log, and the counters of object numbers, which each copy reserves for itself.
package struct StoreContents: Equatable {
  /// The entries of each database, each a key, a zero and a value.
  package private(set) var databases: [String: [[UInt8]]] = [:]

  package init(_ file: StoreEngine) throws {
    for name in try file.environment.databaseNames() where name != StoreFormat.logDatabase {
      guard let database = try file.environment.openDatabase(name) else { continue }
      let transaction = try file.environment.beginRead()
      let cursor = try transaction.reader.cursor(database)
      var entries: [[UInt8]] = []
      while let entry = try cursor.next() {
        let key = Array(entry.key)
        if name == StoreFormat.arborDatabase, Self.isOfOneFile(key) { continue }
        entries.append(key + [0] + Array(entry.value))
      }
      databases[name] = entries
    }
  }

  /// Reads the contents of a store that isn't open.
  package init(path: String) throws {
    var opening = StoreOpening(.file(path), model: nil)
    opening.isReadOnly = true
    let file = try StoreEngine.open(opening)
    defer { file.close() }
    try self.init(file)
  }

  private static func isOfOneFile(_ key: [UInt8]) -> Bool {
    key.starts(with: Array(StoreFormat.counterKey("").utf8))
      || key == Array(StoreFormat.logKey.utf8)
  }
}
