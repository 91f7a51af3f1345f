internal import ArborModel
internal import LMDB

extension StoreEngine {
  /// Returns the databases of the store, including those left from former models. Snapshots that
  /// read them must begin afterwards.
  func digestedDatabases() throws(StoreError) -> [DigestedDatabase] {
    var list = [
      DigestedDatabase(
        database: databases.arbor, title: "The entries of the database arbor", entity: nil),
      DigestedDatabase(
        database: databases.history, title: "The entries of the history", entity: nil),
    ]
    for entity in schema.concreteEntities {
      let name = entity.name
      list.append(
        DigestedDatabase(
          database: databases.records(entity.index), title: "The records of \(name)", entity: name))
      guard let blobs = databases.blobs(entity.index) else { continue }
      list.append(
        DigestedDatabase(database: blobs, title: "The large binaries of \(name)", entity: name))
    }
    for index in databases.indexes {
      let entity = schema.entities[index.schema.declaringEntity].name
      list.append(
        DigestedDatabase(
          database: index.database,
          title: "The entries of the index \(entity).\(index.schema.name)", entity: entity))
    }
    for relationship in databases.relationships {
      let entity = schema.entities[relationship.schema.declaringEntity].name
      let title = "The links of \(entity).\(relationship.schema.name)"
      list.append(DigestedDatabase(database: relationship.members, title: title, entity: entity))
      guard let order = relationship.order else { continue }
      list.append(DigestedDatabase(database: order, title: title, entity: entity))
    }
    return try list + otherDatabases(than: Set(list.map(\.database.name)))
  }

  /// Returns the log and the databases that a migration keeps until it is confirmed, if they have
  /// entries.
  private func otherDatabases(than known: Set<String>) throws(StoreError) -> [DigestedDatabase] {
    let snapshot = try snapshot(reportsFindings: false)
    defer { snapshot.close() }
    // Those that are damaged are reported when they are compared.
    guard let digests = try? digests(snapshot) else { return [] }
    let others = allowedDatabases.subtracting(known).sorted().filter(digests.lists)
    var list: [DigestedDatabase] = []
    for name in others {
      let found = try storing(environment.openDatabase(name))
      guard let found else { continue }
      list.append(
        DigestedDatabase(
          database: found, title: "The entries of the database \(name)", entity: nil))
    }
    return list
  }

  func digests(_ snapshot: borrowing StoreSnapshot) throws(StoreError) -> DatabaseDigests {
    let reader = try snapshot.reader
    let header = try StoreHeader.read(reader, path: path)
    return try StoreDigests.read(reader, of: header.transactionID)
  }
}
