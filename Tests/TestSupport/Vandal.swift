package import ArborModel
package import ArborStore
package import LMDB

/// Writes to a store while bypassing its engine, but keeps the header and the digests consistent, so
/// that a check finds the intended damage and nothing else.
package struct Vandal {
  package let file: StoreEngine

  package init(file: StoreEngine) { self.file = file }

  package func write(
    _ body: (borrowing WriteTransaction, inout HeaderRecord) throws -> Void
  ) throws {
    try file.environment.write { transaction in
      var header = try StoreHeader.read(transaction.reader)
      header.transactionID = transaction.id
      try body(transaction, &header)
      try StoreHeader.write(header, in: transaction)
    }
  }

  /// Writes the header in a transaction that doesn't maintain the digests.
  package func writeHeaderAlone(_ change: (inout HeaderRecord) -> Void = { _ in }) throws {
    try file.environment.write { transaction in
      var header = try StoreHeader.read(transaction.reader)
      header.transactionID = transaction.id
      change(&header)
      try Array(StoreFormat.headerKey.utf8).withUnsafeBytes { key in
        try header.encoded().withUnsafeBytes {
          _ = try transaction.put(.unnamed, key: key, value: $0)
        }
      }
    }
  }

  /// Sets a to-one target to any object number, with a valid checksum.
  package func point(_ number: ObjectNumber, _ name: String, at target: ObjectNumber) throws {
    try rewrite(number) { record, entity in
      record.store(try Draft(file).field(name, entity), target.rawValue)
    }
  }

  /// Writes an attribute's value with a valid checksum, without maintaining anything that depends on it.
  package func setValue(_ number: ObjectNumber, _ name: String, to value: PropertyValue) throws {
    try rewrite(number) { record, entity in
      guard case .attribute(let attribute)? = entity.property(named: name),
        record.set(attribute.field, value, allocator: SlabAllocator())
      else { throw DraftError(name) }
    }
  }

  /// Writes the bytes of an attribute of variable size with a valid checksum.
  package func setBytes(_ number: ObjectNumber, _ name: String, to bytes: [UInt8]) throws {
    try rewrite(number) { record, entity in
      guard case .attribute(let attribute)? = entity.property(named: name) else {
        throw DraftError(name)
      }
      bytes.withUnsafeBytes {
        record.store(attribute.field, bytes: $0, allocator: SlabAllocator())
      }
    }
  }

  /// Sets the version of an object's record, with a valid checksum.
  package func setVersion(_ number: ObjectNumber, to version: UInt32) throws {
    try rewrite(number) { record, _ in record.setVersion(version) }
  }

  /// Moves an object's record to another key, with a valid checksum.
  package func move(_ number: ObjectNumber, to other: ObjectNumber) throws {
    try rewrite(number, as: other) { _, _ in }
  }

  /// Replaces an object's record with that of another of its entity, with a valid checksum. Indexes
  /// keep their entries.
  package func replace(_ number: ObjectNumber, withValuesOf other: ObjectNumber) throws {
    let entity = try entity(of: other)
    let records = file.databases.records(entity.index)
    try write { transaction, _ in
      let source = try transaction.get(records, key: other.rawValue).map(Array.init) ?? []
      let record = RecordBuffer(copying: source, into: SlabAllocator())
      try put(record, of: entity, as: number, commit: Self.commit(of: source), transaction)
    }
  }

  private static func commit(of record: [UInt8]) -> UInt64 {
    record.withUnsafeBytes { bytes in
      bytes.baseAddress.map { RecordView(base: $0, count: bytes.count).commit } ?? 0
    }
  }

  /// Applies `change` to an object's record and writes it under the key of `other`.
  private func rewrite(
    _ number: ObjectNumber, as other: ObjectNumber? = nil,
    _ change: (inout RecordBuffer, EntitySchema) throws -> Void
  ) throws {
    let entity = try entity(of: number)
    let records = file.databases.records(entity.index)
    try write { transaction, _ in
      let stored = try transaction.get(records, key: number.rawValue).map(Array.init) ?? []
      var record = RecordBuffer(copying: stored, into: SlabAllocator())
      try change(&record, entity)
      if other != nil { _ = try transaction.delete(records, key: number.rawValue) }
      try put(
        record, of: entity, as: other ?? number, commit: Self.commit(of: stored), transaction)
    }
  }

  private func entity(of number: ObjectNumber) throws -> EntitySchema {
    guard let entity = file.schema.entity(of: number) else { throw DraftError("\(number)") }
    return entity
  }

  private func put(
    _ record: RecordBuffer, of entity: EntitySchema, as number: ObjectNumber,
    commit: UInt64, _ transaction: borrowing WriteTransaction
  ) throws {
    let view = record.view
    try withExtendedLifetime(record.slab) {
      try transaction.reader.cursor(file.databases.records(entity.index)).put(
        key: number.rawValue, reserving: view.sealedSize(entity.layout), isAbove: false
      ) {
        view.seal(
          into: $0, layout: entity.layout, key: number, version: view.version, commit: commit)
      }
    }
  }

  /// Removes the first entry of an index, and the members of the first owner in a relationship, from
  /// a store that is not open.
  package static func removeFirstEntries(
    ofIndex index: (entity: String, name: String), ofMembers owner: (entity: String, name: String),
    path: String
  ) throws {
    let file = try StoreEngine.open(StoreOpening(.file(path), model: nil))
    defer { file.close() }
    let vandal = Vandal(file: file)
    let entries = try vandal.index(index.entity, index.name)
    let members = try vandal.relationship(owner.entity, owner.name).members
    try vandal.write { transaction, _ in
      let cursor = try transaction.reader.cursor(entries)
      let key = try cursor.first().map { Array($0.key) } ?? []
      _ = try key.withUnsafeBytes { try transaction.delete(entries, key: $0) }
      let links = try transaction.reader.cursor(members)
      let number = try links.first()?.integerKey ?? 0
      _ = try transaction.delete(members, key: number)
    }
  }

  package func database(records entity: String) throws -> Database {
    file.databases.records(try Draft(file).entity(entity).index)
  }

  package func index(_ entity: String, _ name: String) throws -> Database {
    guard let found = file.databases.index(try Draft(file).entity(entity).index, name) else {
      throw DraftError("\(entity).\(name)")
    }
    return found
  }

  package func relationship(
    _ entity: String, _ name: String
  ) throws -> StoreDatabases.Relationship {
    let declaring = try Draft(file).entity(entity).index
    guard
      let found = file.databases.relationships.first(where: {
        $0.schema.declaringEntity == declaring && $0.schema.name == name
      })
    else { throw DraftError("\(entity).\(name)") }
    return found
  }
}
