package import ArborFoundation
package import ArborModel
package import LMDB

/// The state of the store as of one commit: an MVCC snapshot. Must be used by one thread at a time.
///
/// Pages that later commits free are not reused while a snapshot is open. Hold it for one operation
/// and close it.
package final class StoreSnapshot {
  package let store: StoreEngine
  /// The sequence number of the newest commit in the snapshot.
  package let sequence: UInt64
  /// The indexes that are not ready for reading, or `nil` if all are.
  package let unfinishedIndexes: UnfinishedIndexes?
  /// The observer of the queries on the snapshot, if any.
  package var watch: QueryWatch?
  /// The limit that ends operations on the snapshot early.
  package lazy var limit = WorkLimit()
  /// The locale for localized comparisons, or `nil` for the process's locale.
  package var locale: Locale?
  private let openReader: TransactionReader
  private var transaction: ReadTransaction?
  private var isOpen = true

  init(
    store: StoreEngine, sequence: UInt64, _ unfinished: UnfinishedIndexes?,
    _ transaction: consuming ReadTransaction
  ) {
    self.store = store
    self.sequence = sequence
    unfinishedIndexes = unfinished
    openReader = transaction.reader
    self.transaction = consume transaction
  }

  /// The snapshot's transaction. Its results are valid until the snapshot is closed.
  ///
  /// - Throws: `closed` if the snapshot is closed.
  package var reader: TransactionReader {
    @inline(__always) get throws(StoreError) {
      guard isOpen else { throw .closed }
      return openReader
    }
  }

  /// Closes the snapshot. Does nothing if it is already closed.
  package func close() {
    isOpen = false
    transaction = nil
  }

  // MARK: Single objects

  /// Returns a verified copy of an object's record in the newest layout, in the allocator's slab,
  /// or `nil` if the object does not exist.
  package func record(
    _ number: ObjectNumber, allocator: SlabAllocator
  ) throws(StoreError) -> RecordView? {
    guard let entity = store.schema.entity(of: number), !entity.isAbstract else { return nil }
    return try record(number, of: entity, allocator: allocator)
  }

  /// Returns a verified copy of the record of an object of a given entity, or `nil` if the object
  /// does not exist.
  @inline(__always)
  func record(
    _ number: ObjectNumber, of entity: EntitySchema, allocator: SlabAllocator
  ) throws(StoreError) -> RecordView? {
    let reader = try reader
    let database = store.databases.records(entity.index)
    guard let stored = try reader.storedRecord(number, in: database) else { return nil }
    if let damage = stored.verify(entity.layout, key: number) {
      return try store.layouts.upgraded(
        stored, of: number, entity: entity, allocator: allocator, after: damage)
    }
    let copy = allocator.allocate(stored.count)
    copy.copyMemory(from: stored.base, byteCount: stored.count)
    return RecordView(base: copy, count: stored.count)
  }

  /// Returns whether an object exists.
  package func exists(_ number: ObjectNumber) throws(StoreError) -> Bool {
    guard let entity = store.schema.entity(of: number), !entity.isAbstract else { return false }
    let reader = try reader
    let database = store.databases.records(entity.index)
    return try storing(reader.get(database, key: number.rawValue) != nil)
  }

  // MARK: Relationships

  /// Returns the members of a to-many relationship. Those of an ordered relationship are in order;
  /// otherwise they are ascending.
  package func members(
    _ relationship: RelationshipSchema, of owner: ObjectNumber
  ) throws(StoreError) -> [ObjectNumber] {
    let stored = try storedMembers
    let members = try storing(stored.members(relationship, of: owner))
    try check(members[...], relationship, of: owner)
    return members
  }

  /// Throws if a member does not belong to the relationship's destination. In a forged file, it may
  /// have an unknown class or layout.
  func check(
    _ members: ArraySlice<ObjectNumber>, _ relationship: RelationshipSchema, of owner: ObjectNumber
  ) throws(StoreError) {
    // Members of one entity are consecutive.
    var accepted: UInt16?
    for member in members where member.entity != accepted {
      guard store.schema.leads(relationship, to: member) else {
        throw .corrupted(
          entity: store.schema.entity(of: owner)?.name, object: owner,
          what: "The relationship \(relationship.name) refers to the object number "
            + "\(member.rawValue), whose entity the relationship doesn't accept.")
      }
      accepted = member.entity
    }
  }

  /// Returns the number of members, without a scan.
  package func memberCount(
    _ relationship: RelationshipSchema, of owner: ObjectNumber
  ) throws(StoreError) -> Int {
    let stored = try storedMembers
    return try storing(stored.count(relationship, of: owner))
  }

  /// Returns whether an object is a member.
  ///
  /// - Complexity: Logarithmic.
  package func contains(
    _ member: ObjectNumber, in relationship: RelationshipSchema, of owner: ObjectNumber
  ) throws(StoreError) -> Bool {
    let stored = try storedMembers
    return try storing(stored.contains(member, in: relationship, of: owner))
  }

  var storedMembers: StoredMembers {
    get throws(StoreError) { StoredMembers(store: store, reader: try reader) }
  }
}
