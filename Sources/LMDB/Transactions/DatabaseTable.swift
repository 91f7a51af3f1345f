internal import CLMDB

/// The databases that are open in an environment, by name.
///
/// LMDB gives the handle of a database that a transaction opened to the environment only when that
/// transaction commits; an abort takes it back. `pending` holds them in between. Handles are never
/// closed: that would be unsafe while others read.
struct DatabaseTable {
  private var committed: [String: Database] = [:]
  private var pending: [String: Database] = [:]
  /// Deleted by the transaction that is writing.
  private var deleted: [Database] = []

  /// A database that every new transaction knows.
  func committed(_ name: String) -> Database? { committed[name] }

  /// A database that the writing transaction knows.
  func known(_ name: String) -> Database? { pending[name] ?? committed[name] }

  /// Those that every new transaction knows, in the order of their handles.
  var all: [Database] { committed.values.sorted { $0.handle < $1.handle } }

  mutating func addPending(_ database: Database) { pending[database.name] = database }

  mutating func addCommitted(_ database: Database) { committed[database.name] = database }

  mutating func delete(_ database: Database) {
    if pending.removeValue(forKey: database.name) != nil { return }
    committed[database.name] = nil
    deleted.append(database)
  }

  /// Ends the writing transaction; what it opened lives on or not. Gives the databases whose
  /// deletion was undone, in the order of their handles.
  mutating func finish(isCommitted: Bool) -> [Database] {
    if pending.isEmpty, deleted.isEmpty { return [] }
    defer {
      pending.removeAll()
      deleted.removeAll()
    }
    if isCommitted {
      committed.merge(pending) { _, new in new }
      return []
    }
    return deleted.sorted { $0.handle < $1.handle }
  }
}
