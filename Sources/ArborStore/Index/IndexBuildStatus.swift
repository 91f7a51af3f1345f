internal import ArborModel
internal import LMDB

/// How far an index is filled that is not ready yet.
package struct IndexBuildStatus: Sendable, Hashable {
  /// The entity that declares the index.
  package let entity: String
  package let index: String
  package let isUnique: Bool
  package let state: IndexBuildList.State
  /// How many objects are in it, estimated from how far their numbers go.
  package let objectsDone: Int
  /// How many objects there are.
  package let objectCount: Int
}

extension StoreSnapshot {
  /// The indexes that are not ready to be read, by entity and name; empty where all are.
  ///
  /// - Complexity: A look at the last record of each entity that they cover.
  package func indexBuilds() throws(StoreError) -> [IndexBuildStatus] {
    guard let unfinishedIndexes else { return [] }
    let schema = store.schema
    var list: [IndexBuildStatus] = []
    for (place, index) in store.databases.indexes.enumerated() {
      guard let build = unfinishedIndexes[place] else { continue }
      let owner = schema.entities[index.schema.declaringEntity]
      var (done, count) = (0, 0)
      for entity in owner.concreteFamily.map({ schema.entities[$0] }) {
        let progress = try progress(of: build.filled, in: entity)
        done += progress.done
        count += progress.count
      }
      list.append(
        IndexBuildStatus(
          entity: owner.name, index: index.schema.name, isUnique: index.schema.isUnique,
          state: build.state, objectsDone: done, objectCount: count))
    }
    return list.sorted { ($0.entity, $0.index) < ($1.entity, $1.index) }
  }

  /// How many objects an entity has, and about how many of them up to a number.
  private func progress(
    of filled: UInt64, in entity: EntitySchema
  ) throws(StoreError) -> (done: Int, count: Int) {
    let reader = try reader
    let records = store.databases.records(entity.index)
    return try storing { () throws(LMDBError) in
      let count = try reader.entryCount(records)
      let cursor = try reader.cursor(records)
      guard let last = try cursor.last()?.integerKey, filled < last,
        let first = try cursor.first()?.integerKey
      else { return (count, count) }
      guard filled >= first else { return (0, count) }
      let part = Double(filled - first + 1) / Double(last - first + 1)
      return (min(count, Int(part * Double(count))), count)
    }
  }
}
