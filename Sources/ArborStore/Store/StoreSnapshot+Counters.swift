internal import ArborModel

extension StoreSnapshot {
  /// All counters of the store, by name.
  package func counters() throws(StoreError) -> [String: UInt64] {
    let arbor = store.databases.arbor
    var counters = [
      StoreFormat.uniqueIDCounter: try StoreCounter.read(
        StoreFormat.uniqueIDCounter, arbor, try reader)
    ]
    for entity in store.schema.concreteEntities {
      let name = StoreFormat.objectCounter(entity.number)
      counters[name] = try StoreCounter.read(name, arbor, try reader)
    }
    return counters
  }
}
