package import ArborModel
package import LMDB

/// The store as it was when the snapshot was taken, for one thread at a time.
///
/// A snapshot keeps every page alive that was freed since: hold it for one operation and close it.
package final class StoreSnapshot {
  package let store: StoreFile
  /// The sequence of the newest commit it shows.
  package let sequence: UInt64
  private let openReader: TransactionReader
  private var transaction: ReadTransaction?
  private var isOpen = true

  init(store: StoreFile, sequence: UInt64, _ transaction: consuming ReadTransaction) {
    self.store = store
    self.sequence = sequence
    openReader = transaction.reader
    self.transaction = consume transaction
  }

  /// The snapshot's transaction. What it returns is valid until the snapshot is closed.
  ///
  /// - Throws: `closed` once the snapshot is.
  package var reader: TransactionReader {
    @inline(__always) get throws(StoreError) {
      guard isOpen else { throw .closed }
      return openReader
    }
  }

  /// Ends the snapshot. Nothing happens the second time.
  package func close() {
    isOpen = false
    transaction = nil
  }

  // MARK: Single objects

  /// A verified copy of an object's record in the newest layout, in the allocator's slab; nil where
  /// there is no such object.
  package func record(
    _ number: ObjectNumber, allocator: SlabAllocator
  ) throws(StoreError) -> RecordView? {
    guard let entity = store.schema.entity(of: number), !entity.isAbstract else { return nil }
    let reader = try reader
    let database = store.databases.records(entity.index)
    let found = try storing { () throws(LMDBError) in
      try reader.get(database, key: number.rawValue)
    }
    guard let found, let base = found.baseAddress else { return nil }
    let stored = RecordView(base: base, count: found.count)
    let view = try store.verified(stored, of: number, entity: entity, allocator: allocator)
    // An upgraded record lies in the slab already.
    guard view.base == base else { return view }
    let copy = allocator.allocate(view.count)
    copy.copyMemory(from: view.base, byteCount: view.count)
    return RecordView(base: copy, count: view.count)
  }

  /// Whether there is such an object.
  package func exists(_ number: ObjectNumber) throws(StoreError) -> Bool {
    guard let entity = store.schema.entity(of: number), !entity.isAbstract else { return false }
    let reader = try reader
    let database = store.databases.records(entity.index)
    return try storing { () throws(LMDBError) in
      try reader.get(database, key: number.rawValue) != nil
    }
  }

  // MARK: Relationships

  /// The members of a to-many relationship: in their order where it is ordered, else ascending.
  package func members(
    _ relationship: RelationshipSchema, of owner: ObjectNumber
  ) throws(StoreError) -> [ObjectNumber] {
    guard let found = databases(of: relationship, owner) else { return [] }
    let reader = try reader
    return try storing { () throws(LMDBError) in
      if let order = found.order {
        return try OrderedMembers.read(reader, order, owner).map(\.member)
      }
      var members: [ObjectNumber] = []
      let cursor = try reader.cursor(found.members)
      var batch = try cursor.firstBatch(owner.rawValue)
      while let values = batch {
        members.reserveCapacity(members.count + values.count / 8)
        for offset in stride(from: 0, to: values.count, by: 8) {
          let raw = values.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
          members.append(ObjectNumber(rawValue: raw))
        }
        batch = try cursor.nextBatch()
      }
      return members
    }
  }

  /// The number of members; costs no walk.
  package func memberCount(
    _ relationship: RelationshipSchema, of owner: ObjectNumber
  ) throws(StoreError) -> Int {
    guard let found = databases(of: relationship, owner) else { return 0 }
    let reader = try reader
    return try storing { () throws(LMDBError) in
      let cursor = try reader.cursor(found.members)
      guard try cursor.seekExact(owner.rawValue) != nil else { return 0 }
      return try cursor.valueCount()
    }
  }

  /// Whether an object is a member. Logarithmic.
  package func contains(
    _ member: ObjectNumber, in relationship: RelationshipSchema, of owner: ObjectNumber
  ) throws(StoreError) -> Bool {
    guard let found = databases(of: relationship, owner) else { return false }
    let reader = try reader
    return try storing { () throws(LMDBError) in
      if found.order != nil {
        return try OrderedMembers.position(reader, found.members, owner, member) != nil
      }
      let cursor = try reader.cursor(found.members)
      return try cursor.seekExact(owner.rawValue, value: member.rawValue) != nil
    }
  }

  private func databases(
    of relationship: RelationshipSchema, _ owner: ObjectNumber
  ) -> StoreDatabases.Relationship? {
    let databases = store.databases
    guard let entity = store.schema.entity(of: owner),
      let place = databases.relationshipPlace(entity: entity.index, slot: relationship.slot)
    else { return nil }
    return databases.relationships[place]
  }
}
