package import ArborStore
internal import LMDB

/// What tests do with a store's transactions that the store itself does in other ways.
package protocol EngineTransaction: ~Copyable {
  var reader: EngineReader { get }
}

extension EngineSnapshot: EngineTransaction {}
extension EngineWriter: EngineTransaction {}

extension EngineTransaction where Self: ~Copyable {
  package func get(
    _ database: EngineDatabase, key: some EngineBytes
  ) throws(EngineError) -> UnsafeRawBufferPointer? {
    try key.withBytes { (key) throws(EngineError) in try reader.get(database, key: key) }
  }

  package func cursor(_ database: EngineDatabase) throws(EngineError) -> EngineCursor {
    try reader.cursor(database)
  }

  package func entryCount(_ database: EngineDatabase) throws(EngineError) -> Int {
    try reader.entryCount(database)
  }
}

extension EngineEnvironment {
  /// Runs `body` in a write transaction and commits when it returns; aborts when it throws.
  @discardableResult
  package func write<R>(_ body: (borrowing EngineWriter) throws -> R) throws -> R {
    try base.write { try body(EngineWriter($0)) }
  }

  package func databaseNames() throws(EngineError) -> [String] { try base.databaseNames() }

  /// Runs `body` in a snapshot.
  package func read<R>(_ body: (borrowing EngineSnapshot) throws -> R) throws -> R {
    let snapshot = try beginRead()
    return try body(snapshot)
  }
}
