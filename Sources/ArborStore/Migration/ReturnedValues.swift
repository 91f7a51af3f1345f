internal import ArborModel
internal import LMDB

/// Restores the values of attributes whose types a migration changed, when it is reverted despite
/// later commits.
///
/// Records that were not written since still contain the former values. Others contain values of
/// the newer type, which are converted back if they fit the former type.
struct ReturnedValues {
  let migration: LightweightMigration
  let parts: StoreParts
  let former: FormerModel
  /// The layouts of the former model.
  let layouts: StoreLayouts
  private let limit = WorkLimit()

  /// An attribute in the three models.
  private struct Column {
    let attribute: AttributeSchema
    let retyped: RetypedAttribute
    let before: RecordField
    let since: RecordField
    var unfitting = ObjectTally()
    var missing = ObjectTally()

    private var isMandatory: Bool { !attribute.description.isOptional }

    /// Returns the value that an object will have.
    ///
    /// - Parameter value: The present value, or `nil` if it cannot be converted to the former type.
    mutating func value(_ value: PropertyValue?, of number: ObjectNumber) -> PropertyValue {
      if value == nil, !retyped.isDropped { unfitting.add(number) }
      if let value, !value.isNull || !isMandatory { return value }
      let filling = attribute.description.defaultValue
      if filling.isNull, isMandatory { missing.add(number) }
      return filling
    }
  }

  /// Restores all values.
  ///
  /// - Throws: `notReverted` with the values that cannot be converted to the former types and may
  ///   not be dropped.
  /// - Complexity: Linear in the number of objects of entities with such an attribute.
  func restore(_ transaction: borrowing WriteTransaction) throws(StoreError) {
    if migration.retyped.isEmpty { return }
    let arbor = parts.databases.arbor
    let formerLayouts = try StoreOpener.layouts(of: former.schema, transaction.reader, arbor)
    var obstacles: [MigrationObstacle] = []
    for entity in migration.new.concreteEntities {
      guard let before = former.schema.entity(numbered: entity.number),
        let since = migration.old.entity(numbered: entity.number),
        !since.isAbstract
      else { continue }
      var columns = columns(of: entity, before, since)
      if columns.isEmpty { continue }
      try restore(&columns, of: entity, before, since, formerLayouts, transaction)
      for column in columns { obstacles += self.obstacles(column, of: since, transaction.reader) }
    }
    guard obstacles.isEmpty else { throw migration.refusal(obstacles) }
  }

  private func columns(
    of entity: EntitySchema, _ before: EntitySchema, _ since: EntitySchema
  ) -> [Column] {
    entity.attributes.compactMap { attribute in
      guard let retyped = migration.retyped(attribute.name, of: entity.name),
        let former = before.attributes.first(where: { $0.name == attribute.name }),
        let present = since.attributes.first(where: { $0.name == retyped.source })
      else { return nil }
      return Column(
        attribute: attribute, retyped: retyped, before: former.field, since: present.field)
    }
  }

  private func restore(
    _ columns: inout [Column], of entity: EntitySchema, _ before: EntitySchema,
    _ since: EntitySchema, _ formerLayouts: StoreLayouts, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    let records = parts.databases.records(since.index)
    // Values of both types then have the same layout, so it is unknown which ones are older.
    let isSameLayout = since.layout.number == before.layout.number
    var next: UInt64? = 0
    while let first = next {
      // Writing invalidates cursors, so each batch has its own.
      let batch = try Self.batch(of: records, from: first, transaction.reader)
      next = batch.count < Self.batchSize ? nil : batch.last.map { $0.rawValue + 1 }
      let allocator = SlabAllocator(slabSize: 4 << 10, keepsSlabs: true)
      for number in batch {
        try limit.checkStore()
        guard let stored = try transaction.reader.storedRecord(number, in: records) else {
          continue
        }
        let isWritten = stored.layoutNumber > before.layout.number || isSameLayout
        let source = isWritten ? since : before
        let record = try (isWritten ? parts.layouts : formerLayouts).verified(
          stored, of: number, entity: source, allocator: allocator)
        let upgraded = try layouts.verified(
          stored, of: number, entity: entity, allocator: allocator)
        var buffer = RecordBuffer(copying: upgraded.bytes, into: allocator)
        for index in columns.indices {
          let column = columns[index]
          let value = record.value(isWritten ? column.since : column.before)
          let kept = columns[index].value(
            isWritten ? column.retyped.type.kind.restored(value) : value, of: number)
          _ = buffer.set(column.attribute.field, kept, allocator: allocator)
        }
        try transaction.put(buffer.view, of: number, entity, in: records)
      }
    }
  }

  private static var batchSize: Int { 1 << 10 }

  /// Returns the numbers of the objects in the next batch.
  private static func batch(
    of records: Database, from first: UInt64, _ reader: TransactionReader
  ) throws(StoreError) -> [ObjectNumber] {
    try storing { () throws(LMDBError) in
      let cursor = try reader.cursor(records)
      var batch: [ObjectNumber] = []
      var entry = try cursor.seek(first)
      while let found = entry, batch.count < batchSize {
        batch.append(ObjectNumber(rawValue: found.integerKey))
        entry = try cursor.next()
      }
      return batch
    }
  }

  private func obstacles(
    _ column: Column, of since: EntitySchema, _ reader: TransactionReader
  ) -> [MigrationObstacle] {
    let checks = MigrationChecks(migration, parts, reader)
    let (name, type) = (column.attribute.name, column.retyped.type)
    let entity = migration.new.entity(numbered: since.number)?.name ?? since.name
    if column.unfitting.count > 0 {
      return checks.obstacle(
        entity, name, column.unfitting, since,
        " with a value that was written since the migration and that \(type) cannot hold"
      ) {
        "\($0); list \"\(column.retyped.lossName)\" in revertMigration(_:dropping:) to drop the "
          + "values, or change them with the newer model"
      }
    }
    return checks.obstacle(entity, name, column.missing, since, " without a value") {
      "it is mandatory without a default, but \($0). Set values, or delete the objects, with the "
        + "newer model"
    }
  }
}

extension WriteTransaction {
  /// Replaces the record of an object without changing its version and commit.
  func put(
    _ record: RecordView, of number: ObjectNumber, _ entity: EntitySchema,
    in records: Database
  ) throws(StoreError) {
    let commit = try reader.storedRecord(number, in: records)?.commit ?? 0
    var bytes = [UInt8](repeating: 0, count: record.sealedSize(entity.layout))
    bytes.withUnsafeMutableBytes {
      record.seal(
        into: $0, layout: entity.layout, key: number, version: record.version, commit: commit)
    }
    _ = try storing(put(records, key: number.rawValue, value: bytes))
  }
}
