package import ArborModel
internal import LMDB

extension StoreSnapshot {
  /// Returns the space usage of the store's file.
  ///
  /// Reads the list of free pages and up to 4,096 leaf pages of each database.
  ///
  /// - Parameter limit: The number of pinned pages above which a reader is listed, or `nil` to list
  ///   none.
  package func space(
    _ readers: [StoreReader] = [], longReadersPinning limit: Int? = nil
  ) throws(StoreError) -> StoreSpace {
    let reader = try reader
    let use = try storing(store.environment.pageUse(in: reader))
    let databases = try databaseSpaces(reader, use)
    func pages(_ kinds: StoreSpace.Database.Kind...) -> Int {
      databases.reduce(0) { kinds.contains($1.kind) ? $0 + $1.pages : $0 }
    }
    let records = pages(.records)
    let blobs = pages(.largeBinaries)
    let history = pages(.history)
    let indexes = pages(.index)
    let relationships = pages(.relationship, .order)
    let other = use.used - records - blobs - history - indexes - relationships
    let free = use.free * use.pageSize
    return StoreSpace(
      file: use.fileSize, pageSize: use.pageSize, records: records * use.pageSize,
      indexes: indexes * use.pageSize, relationships: relationships * use.pageSize,
      largeBinaries: blobs * use.pageSize, history: history * use.pageSize,
      // A commit may have happened between the snapshot and reading the size of the file.
      other: max(0, other) * use.pageSize, free: free,
      pinned: min(free, readers.map(\.pinnedBytes).max() ?? 0), reclaimable: use.reclaimable,
      databases: databases,
      longReaders: limit.map { limit in readers.filter { $0.pinnedPages > limit } } ?? [])
  }

  /// Returns the number of bytes that the records of each concrete entity occupy in the file.
  package func recordBytes() throws(StoreError) -> [(entity: String, bytes: Int)] {
    let reader = try reader
    var sizes: [(entity: String, bytes: Int)] = []
    for entity in store.schema.entities where !entity.isAbstract {
      let statistics = try storing(reader.statistics(store.databases.records(entity.index)))
      sizes.append((entity.name, statistics.bytes))
    }
    return sizes
  }

  /// Returns the databases in the order of the model, with their sizes. Estimated sizes divide the
  /// remaining pages of the file among their databases.
  func databaseSpaces(
    _ reader: TransactionReader, _ use: PageUse
  ) throws(StoreError) -> [StoreSpace.Database] {
    let entities = store.schema.entities
    let databases = store.databases
    var list: [(kind: StoreSpace.Database.Kind, database: Database, entity: Int?, name: String?)] =
      []
    for entity in entities where !entity.isAbstract {
      list.append((.records, databases.records(entity.index), entity.index, nil))
      if let blobs = databases.blobs(entity.index) {
        list.append((.largeBinaries, blobs, entity.index, nil))
      }
    }
    for index in databases.indexes {
      list.append((.index, index.database, index.schema.declaringEntity, index.schema.name))
    }
    for relationship in databases.relationships {
      let (owner, name) = (relationship.schema.declaringEntity, relationship.schema.name)
      list.append((.relationship, relationship.members, owner, name))
      if let order = relationship.order { list.append((.order, order, owner, name)) }
    }
    list.append((.history, databases.history, nil, nil))
    list.append((.store, databases.arbor, nil, nil))
    let spaces = try storing(reader.spaces(list.map(\.database), within: use.pagesOfDatabases))
    return zip(list, spaces).map { each, space in
      StoreSpace.Database(
        kind: each.kind, entity: each.entity.map { entities[$0].name }, name: each.name,
        storedName: each.database.name, entries: space.entries, pages: space.pages,
        bytes: space.bytes, fill: space.fill,
        // The pages of trees with a single value per key are counted exactly.
        isEstimated: space.isEstimated && each.database.flags.contains(.duplicates))
    }
  }
}
