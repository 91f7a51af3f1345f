package import ArborModel
internal import LMDB

extension StoreSnapshot {
  /// Returns what the store's file is made of.
  ///
  /// Reads the list of free pages and up to 256 leaf pages of each database.
  ///
  /// - Parameter limit: Those of the readers that pin more pages are named; nil for none.
  package func space(
    _ readers: [StoreReader] = [], longReadersPinning limit: Int? = nil
  ) throws(StoreError) -> StoreSpace {
    let reader = try reader
    let use = try storing(store.environment.pageUse(in: reader))
    let databases = try databaseSpaces(reader)
    func pages(_ kinds: StoreSpace.Database.Kind...) -> Int {
      databases.reduce(0) { kinds.contains($1.kind) ? $0 + $1.pages : $0 }
    }
    let records = pages(.records)
    let blobs = pages(.largeBinaries)
    let history = pages(.history)
    // Estimates must not exceed what there is.
    let rest = max(0, use.used - records - blobs - history)
    let indexes = min(pages(.index), rest)
    let relationships = min(pages(.relationship, .order), rest - indexes)
    let free = use.free * use.pageSize
    return StoreSpace(
      file: use.fileSize, pageSize: use.pageSize, records: records * use.pageSize,
      indexes: indexes * use.pageSize, relationships: relationships * use.pageSize,
      largeBinaries: blobs * use.pageSize, history: history * use.pageSize,
      // A commit may have come between the snapshot and the look at the file.
      other: (rest - indexes - relationships) * use.pageSize, free: free,
      pinned: min(free, readers.map(\.pinnedBytes).max() ?? 0), reclaimable: use.reclaimable,
      databases: databases,
      longReaders: limit.map { limit in readers.filter { $0.pinnedPages > limit } } ?? [])
  }

  /// The bytes that the records of each concrete entity fill in the file.
  package func recordBytes() throws(StoreError) -> [(entity: String, bytes: Int)] {
    let reader = try reader
    var sizes: [(entity: String, bytes: Int)] = []
    for entity in store.schema.entities where !entity.isAbstract {
      let statistics = try storing(reader.statistics(store.databases.records(entity.index)))
      sizes.append((entity.name, statistics.bytes))
    }
    return sizes
  }

  private func databaseSpaces(_ reader: TransactionReader) throws(StoreError) -> [StoreSpace
    .Database]
  {
    let entities = store.schema.entities
    let databases = store.databases
    var list: [StoreSpace.Database] = []
    func add(
      _ kind: StoreSpace.Database.Kind, _ database: Database, _ entity: Int? = nil,
      _ name: String? = nil
    ) throws(StoreError) {
      let space = try storing(reader.space(database))
      list.append(
        StoreSpace.Database(
          kind: kind, entity: entity.map { entities[$0].name }, name: name,
          storedName: database.name, entries: space.entries, pages: space.pages,
          bytes: space.bytes, fill: space.fill,
          // Pages of trees whose keys have one value each are counted.
          isEstimated: space.isEstimated && database.flags.contains(.duplicates)))
    }
    for entity in entities where !entity.isAbstract {
      try add(.records, databases.records(entity.index), entity.index)
      if let blobs = databases.blobs(entity.index) { try add(.largeBinaries, blobs, entity.index) }
    }
    for index in databases.indexes {
      try add(.index, index.database, index.schema.declaringEntity, index.schema.name)
    }
    for relationship in databases.relationships {
      let (owner, name) = (relationship.schema.declaringEntity, relationship.schema.name)
      try add(.relationship, relationship.members, owner, name)
      if let order = relationship.order { try add(.order, order, owner, name) }
    }
    try add(.history, databases.history)
    try add(.store, databases.arbor)
    return list
  }
}
