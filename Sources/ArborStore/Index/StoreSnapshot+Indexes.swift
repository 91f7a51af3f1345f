package import ArborModel
internal import LMDB

extension StoreEngine {
  /// Counts one more use of an index, by its number in the store. Some nanoseconds.
  package func noteUse(ofIndex number: Int) { indexUse[number].increment() }
}

extension StoreSnapshot {
  /// Every index with its size and its uses, by entity and name. Looks at up to 256
  /// pages of each.
  package func indexes() throws(StoreError) -> [IndexStatistics] {
    let reader = try reader
    var list: [IndexStatistics] = []
    for (number, index) in store.databases.indexes.enumerated() {
      let space = try storing { () throws(LMDBError) in try reader.space(index.database) }
      let entity = store.schema.entities[index.schema.declaringEntity]
      list.append(
        IndexStatistics(
          entity: entity.name, name: index.schema.name,
          columns: index.schema.columns.map { column in
            FetchIndexDescription.Element(
              entity.name(of: column.source), isAscending: column.isAscending,
              kind: column.kind.description)
          }, isUnique: index.schema.isUnique, condition: index.schema.condition?.text,
          entries: space.entries, pages: space.pages, bytes: space.bytes,
          uses: store.indexUse[number].value))
    }
    return list.sorted { ($0.entity, $0.name) < ($1.entity, $1.name) }
  }
}
