internal import ArborModel

/// The entries that one change set adds to and removes from every index and relationship, in memory
/// that is reused across commits. Used only by the thread that leads the group commit.
final class CommitWorkspace {
  /// A to-one link whose target has to be checked separately, because no derived relationship
  /// covers it.
  struct Claim {
    let owner: ObjectNumber
    let slot: Int
    let target: ObjectNumber
  }

  /// A binary value outside its record that is no longer referred to.
  struct DroppedBlob {
    let entity: Int
    let name: BlobName
    let reference: BlobReference
  }

  let indexes: [IndexMaintainer]
  /// The maintainers by relationship number. `nil` for ordered relationships.
  let relationships: [RelationshipMaintainer?]
  /// The maintainers by relationship number. `nil` for unordered relationships.
  let ordered: [OrderedMaintainer?]
  /// The maintainer of derived values, or `nil` if the model has none.
  let derived: DerivedMaintainer?
  /// The numbers of the relationships whose number of members the model limits.
  let counted: [Int]
  var claims: [Claim] = []
  var droppedBlobs: [DroppedBlob] = []
  /// The names of the binary values that changed fields newly refer to.
  var newBlobs: Set<BlobName> = []
  /// The preserved values of deleted objects, in the order of their numbers.
  var tombstones: [HistoryEntry.Tombstone] = []
  /// Deleted objects whose entries are removed by number.
  var swept = SweptObjects()
  /// The greatest record number of each entity, by entity index.
  var greatestNumbers: [GreatestNumber]
  /// The ID of the transaction that follows the last one. If the next one has a different ID,
  /// another process has written.
  private var expectedTransaction: UInt64 = 0

  init(_ store: StoreEngine) throws(StoreError) {
    let databases = store.databases
    indexes = try IndexMaintainer.all(of: databases, store.schema, storeID: store.id)
    derived = store.schema.hasDerivations ? try DerivedMaintainer(store) : nil
    greatestNumbers = Array(repeating: GreatestNumber(), count: store.schema.entities.count)
    relationships = databases.relationships.map {
      $0.order == nil ? RelationshipMaintainer($0) : nil
    }
    counted = databases.relationships.indices.filter {
      databases.relationships[$0].schema.isCounted
    }
    ordered = databases.relationships.map { relationship in
      relationship.order.map { OrderedMaintainer(members: relationship.members, order: $0) }
    }
  }

  // MARK: Ends of databases

  /// Begins a transaction. Cached ends of databases stay valid if it immediately follows the last
  /// one that was written with this workspace.
  func begin(_ transactionID: UInt64) {
    if transactionID != expectedTransaction { forgetEnds() }
    // Values cached in a transaction that is not committed are invalid.
    expectedTransaction = 0
  }

  func forgetEnds() {
    for index in indexes { index.forgetEnd() }
    for relationship in relationships { relationship?.forgetEnd() }
    for entityIndex in greatestNumbers.indices { greatestNumbers[entityIndex].forget() }
  }

  /// Records whether the transaction was committed.
  func end(_ transactionID: UInt64, isCommitted: Bool) {
    expectedTransaction = isCommitted ? transactionID + 1 : 0
  }

  func removeAll() {
    for index in indexes where !index.isEmpty { index.removeAll() }
    for relationship in relationships {
      if let relationship, !relationship.isEmpty { relationship.removeAll() }
    }
    for ordered in ordered { if let ordered, !ordered.isEmpty { ordered.removeAll() } }
    derived?.removeAll()
    droppedBlobs.removeAll()
    newBlobs.removeAll()
    tombstones.removeAll()
    swept.removeAll()
    claims.removeAll(keepingCapacity: claims.capacity < 1 << 12)
  }
}
