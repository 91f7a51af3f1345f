internal import CLMDB

/// The databases that are open in an environment, by name.
///
/// LMDB passes the handle of a database that a transaction has opened to the environment only when
/// that transaction commits; an abort closes it. `pending` contains these databases in between.
/// Handles are never closed, because that is unsafe while others read.
struct DatabaseTable {
  private var committed: [String: Database] = [:]
  private var pending: [String: Database] = [:]
  /// The databases that the current write transaction has deleted.
  private var deleted: [Database] = []

  /// Returns a database that every new transaction can use, or `nil` if there isn't one with the
  /// name.
  func committed(_ name: String) -> Database? { committed[name] }

  /// Returns a database that the write transaction can use, or `nil` if there isn't one with the
  /// name.
  func known(_ name: String) -> Database? { pending[name] ?? committed[name] }

  /// The databases that every new transaction can use, in the order of their handles.
  var all: [Database] { committed.values.sorted { $0.handle < $1.handle } }

  mutating func addPending(_ database: Database) { pending[database.name] = database }

  mutating func addCommitted(_ database: Database) { committed[database.name] = database }

  mutating func delete(_ database: Database) {
    if pending.removeValue(forKey: database.name) != nil { return }
    committed[database.name] = nil
    deleted.append(database)
  }

  /// Ends the write transaction, keeping or discarding the databases that it opened. Returns the
  /// databases whose deletion was undone, in the order of their handles.
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
