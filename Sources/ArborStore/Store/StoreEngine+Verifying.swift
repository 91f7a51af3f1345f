internal import ArborModel
internal import LMDB

extension StoreEngine {
  /// Lets `observer` be told of the first damage that is found; the first that asks for it.
  package func onDamage(_ observer: @escaping @Sendable (StoreError) -> Void) {
    health.observe(observer)
  }

  /// The databases that the file has to consist of.
  var expectedDatabases: [String: DatabaseFlags] {
    var list = StoreDatabases.list(schema)
    // A file of an earlier format, opened for reading only, has no large binaries.
    if schema.entities.allSatisfy({ databases.blobs($0.index) == nil }) {
      list.removeLast(StoreDatabases.blobList(schema).count)
    }
    return Dictionary(list.map { ($0.name, $0.flags) }) { first, _ in first }
  }

  /// The databases that may be there: the log, and what is kept for the sake of the way back to a
  /// former model.
  var allowedDatabases: Set<String> {
    var names: Set<String> = [StoreFormat.logDatabase]
    for entry in schema.catalog.entries.values {
      names.insert(StoreFormat.recordDatabase(entry.storedName))
      names.insert(StoreFormat.blobDatabase(entry.storedName))
      for part in entry.relationships.values {
        names.insert(StoreFormat.relationshipDatabase(part.storedName))
        names.insert(StoreFormat.orderDatabase(part.storedName))
      }
    }
    return names
  }

  /// Verifies the pages of the newest commit; what is found makes the store suspect.
  func verifyPages(_ limit: WorkLimit) throws(StoreError) {
    if let finding = health.finding { throw finding }
    do throws(LMDBError) {
      try environment.verifyPages(expecting: expectedDatabases, allowing: allowedDatabases) {
        !limit.admit()
      }
    } catch {
      if let interruption = limit.interruption { throw .interrupted(interruption) }
      if case .damaged = error { health.note(StoreError(error)) }
      throw StoreError(error, path: path)
    }
  }
}
