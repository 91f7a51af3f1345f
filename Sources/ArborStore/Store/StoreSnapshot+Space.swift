package import ArborModel
internal import LMDB

extension StoreSnapshot {
  /// What the store's file is made of. Reads no entries but the list of free pages.
  package func space() throws(StoreError) -> StoreSpace {
    let reader = try reader
    let databases = store.databases
    let entities = store.schema.entities.filter { !$0.isAbstract }.map(\.index)
    let use = try storing { () throws(LMDBError) in try store.environment.pageUse(in: reader) }
    let records = try pages(entities.map(databases.records), reader)
    let indexes = try pages(databases.indexes.map(\.database), reader)
    let relationships = try pages(
      databases.relationships.flatMap { [$0.members] + ($0.order.map { [$0] } ?? []) }, reader)
    let blobs = try pages(entities.compactMap(databases.blobs), reader)
    let history = try pages([databases.history], reader)
    // A commit may have come between the snapshot and the look at the file.
    let other = max(0, use.used - records - indexes - relationships - blobs - history)
    return StoreSpace(
      file: use.fileSize, pageSize: use.pageSize, records: records * use.pageSize,
      indexes: indexes * use.pageSize, relationships: relationships * use.pageSize,
      largeBinaries: blobs * use.pageSize, history: history * use.pageSize,
      other: other * use.pageSize, free: use.free * use.pageSize,
      reclaimable: max(0, use.fileSize - use.compacted * use.pageSize))
  }

  /// The bytes that the records of each concrete entity fill in the file.
  package func recordBytes() throws(StoreError) -> [(entity: String, bytes: Int)] {
    let reader = try reader
    let pageSize = try storing { () throws(LMDBError) in try store.environment.info().pageSize }
    var sizes: [(entity: String, bytes: Int)] = []
    for entity in store.schema.entities where !entity.isAbstract {
      let count = try pages([store.databases.records(entity.index)], reader)
      sizes.append((entity.name, count * pageSize))
    }
    return sizes
  }

  private func pages(
    _ databases: [Database], _ reader: TransactionReader
  ) throws(StoreError) -> Int {
    try storing { () throws(LMDBError) in
      var count = 0
      for database in databases {
        let statistics = try reader.statistics(database)
        count += statistics.branchPages + statistics.leafPages + statistics.overflowPages
      }
      return count
    }
  }
}

extension StoreFile {
  /// The snapshots that processes hold of the store, those of the oldest state first.
  package func readers() throws(StoreError) -> [StoreReader] {
    guard !hasEnded else { throw .closed }
    let held = try storing(path: path) { () throws(LMDBError) in try environment.heldSnapshots() }
    return held.map {
      StoreReader(
        processID: $0.processID, transactionsBehind: $0.transactionsBehind,
        pinnedBytes: $0.pinnedBytes)
    }
  }
}
