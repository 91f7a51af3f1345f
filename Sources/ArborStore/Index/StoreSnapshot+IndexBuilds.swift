internal import ArborModel
internal import LMDB

extension StoreSnapshot {
  /// The indexes that are not ready to be read, by entity and name; empty where all are.
  ///
  /// - Complexity: Some lookups for each of them.
  package func indexBuilds() throws(StoreError) -> [IndexBuildStatus] {
    guard let unfinishedIndexes else { return [] }
    let schema = store.schema
    var list: [IndexBuildStatus] = []
    for (indexNumber, index) in store.databases.indexes.enumerated() {
      guard let build = unfinishedIndexes[indexNumber] else { continue }
      let owner = schema.entities[index.schema.declaringEntity]
      let reader = try reader
      let count = try storing { () throws(LMDBError) in
        var count = 0
        for entity in owner.concreteFamily {
          count += try reader.entryCount(store.databases.records(entity))
        }
        return count
      }
      list.append(
        IndexBuildStatus(
          entity: owner.name, index: index.schema.name, isUnique: index.schema.isUnique,
          state: build.state,
          objectsDone: build.state == .writeOnly ? count : (count * Int(build.part)) >> 16,
          objectCount: count))
    }
    return list.sorted { ($0.entity, $0.index) < ($1.entity, $1.index) }
  }
}
