internal import ArborFoundation
package import ArborModel
internal import LMDB

extension CommitWriter {
  /// Chooses the object of a claim in the state that the transaction has reached, and writes the set
  /// with its change. No commit can come between the two.
  ///
  /// - Throws: `nothingToClaim` if the query finds no object, `conflict` if it finds another one than
  ///   expected, and the errors of other sets.
  mutating func writeClaim(
    _ claim: ChangeSet.Claim, of set: ChangeSet, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> CommitReceipt {
    let allocator = SlabAllocator(slabSize: 4 << 10, keepsSlabs: true)
    defer { withExtendedLifetime(allocator) {} }
    let unfinished = try UnfinishedIndexes.read(
      header, transaction.reader, store.schema, store.databases)
    guard
      let (number, record) = try claim.find(in: store, transaction.reader, unfinished, allocator),
      let entity = store.schema.entity(of: number)
    else { throw .nothingToClaim }
    if let expected = claim.expected, expected != (number, record.version) {
      throw .conflict([
        CommitConflict(
          number: expected.number, baseVersion: expected.version, currentRecord: nil)
      ])
    }
    let claimed = try claim.changed(record, of: number, entity, in: store, allocator)
    var set = set
    set.claim = nil
    set.records = [
      .update(
        number, from: record.version, claimed,
        changedProperties: claimed.editedFields(since: record, in: entity.layout))
    ]
    var receipt = try writeChangeSet(set, transaction)
    receipt.claimed = ClaimedObject(number: number, record: Array(claimed.bytes))
    return receipt
  }
}

extension ChangeSet.Claim {
  /// Returns the first object of the query and a copy of its record, or `nil` if there isn't one.
  fileprivate func find(
    in store: StoreEngine, _ reader: TransactionReader, _ unfinished: UnfinishedIndexes?,
    _ allocator: SlabAllocator
  ) throws(StoreError) -> (number: ObjectNumber, record: RecordView)? {
    // The thread that leads the group commit may run in another task than the one that claims.
    let limit = WorkLimit(until: deadline)
    limit.ignoresCancellation = true
    let source = QuerySource(
      store: store, reader: reader, unfinished: unfinished, limit: limit, locale: locale)
    return try translatingErrors {
      let found = try QueryExecutor(source, query, overlay: nil).fetch(allocator).rows.first
      return found.flatMap { row in row.record.map { (row.number, $0) } }
    }
  }

  /// Returns a record with the claim's values.
  fileprivate func changed(
    _ record: RecordView, of number: ObjectNumber, _ entity: EntitySchema, in store: StoreEngine,
    _ allocator: SlabAllocator
  ) throws(StoreError) -> RecordView {
    var buffer = RecordBuffer(copying: record.bytes, into: allocator)
    for (name, value) in values {
      var fits = false
      switch entity.property(named: name) {
      case .attribute(let attribute):
        let isTagged = attribute.field.kind == .tagged
        let fitting = isTagged ? value : attribute.description.type.fitting(value)
        fits = fitting.map { buffer.set(attribute.field, $0, allocator: allocator) } ?? false
      case .relationship(let relationship):
        guard let field = relationship.field else { break }
        switch value {
        case .null: buffer.setNull(field)
        case .objectID(let id): buffer.store(field, try store.objectNumber(id).rawValue)
        default: break
        }
        fits = true
      case nil: break
      }
      guard fits else { throw .invalidChange(number, what: "The claim can't set \(name).") }
    }
    return buffer.view
  }
}

extension EntitySchema {
  /// Returns whether a property is stored in an object's record alone, so that a claim can set it.
  /// The members of an inverse that is derived from it follow by themselves.
  package func isClaimable(_ property: PropertySchema, in schema: ModelSchema) -> Bool {
    switch property {
    case .attribute(let attribute):
      !attribute.field.isTransient && !attribute.field.isExternal
    case .relationship(let relationship):
      relationship.field.map { !$0.isTransient } ?? false
        && schema.inverse(of: relationship).storage == .derived
    }
  }
}
