public import ArborFoundation
public import ArborModel
internal import ArborStore

// The element of `StoreChanges`, which creates it from a history entry. `StoreObservers` and
// `CommitNotifications` only report that there is a new one.

/// The changes made by one commit to a store, or a migration of the store. See
/// ``PersistentStore/changes``.
///
/// An object is in at most one of the sets. Commits with more than 10,000 changed objects, and the
/// purging of a store, don't list their changes; see ``isComplete``.
public struct CommittedChanges: Sendable, Hashable {
  /// The commit's sequence number, which increases by one with each commit to the store.
  public var commitSequence: UInt64 { token.sequence }
  /// The position of the commit in the store's history, from which ``PersistentStore/changes(since:)``
  /// continues.
  public let token: HistoryToken
  /// The date of the commit, or `nil` if the element represents several commits or a migration.
  public let date: Date?
  /// The ``ManagedObjectContext/author`` of the committing context.
  public let author: String?
  /// The ``ManagedObjectContext/name`` of the committing context.
  public let contextName: String?
  /// A Boolean value that indicates whether this process made the commit. `false` if the element
  /// represents several commits or a migration.
  public let isFromThisProcess: Bool
  /// A Boolean value that indicates whether the sets list all changes. Otherwise they are empty,
  /// and anything in the store may have changed: the commit was too large to be listed, or the
  /// element represents all commits up to ``commitSequence``, of which there were too many to keep.
  public let isComplete: Bool
  /// The objects inserted by the commit.
  public let inserted: Set<ObjectID>
  /// The objects the commit changed: in their attributes, the targets of their to-one
  /// relationships, or the members of relationships that are ordered or to-many on both sides.
  ///
  /// If the members of an unordered one-to-many relationship change, this contains the members,
  /// whose to-one side changes, but not the owner.
  public let updated: Set<ObjectID>
  /// The objects deleted by the commit.
  public let deleted: Set<ObjectID>
  /// The migration to another model version that the element announces instead of a commit, or
  /// `nil` for commits.
  ///
  /// Such an element lists no objects, and its ``commitSequence`` is that of the preceding commit.
  /// It is complete if the store can still be read as before.
  public let migration: MigrationNotice?
  private let names: [ObjectID: Set<String>]
  private let tombstones: [ObjectID: [String: PropertyValue]]

  /// Returns the names of an updated object's changed properties, or an empty set for other
  /// objects.
  ///
  /// Properties have their current names in the model, even if they were named differently at the
  /// time of the commit. Properties that have since been removed are omitted. For an entity that
  /// has had more than 63 properties, those from the 64th on are reported together, along with its
  /// relationships that are ordered or to-many on both sides.
  public func changedProperties(of id: ObjectID) -> Set<String> { names[id] ?? [] }

  /// Returns the preserved values of a deleted object, keyed by attribute name: those of the
  /// attributes marked with ``AttributeDescription/isPreservedOnDeletion``. Empty for other
  /// objects. Values that were `nil` are omitted.
  ///
  /// ```swift
  /// for await changes in store.changes {
  ///   for id in changes.deleted { server.forget(changes.tombstone(of: id)["serverID"]) }
  /// }
  /// ```
  public func tombstone(of id: ObjectID) -> [String: PropertyValue] { tombstones[id] ?? [:] }

  /// Creates the changes from a history entry.
  init(_ entry: HistoryEntry, _ token: HistoryToken, in engine: StoreEngine) {
    self.token = token
    date = entry.date
    author = entry.author
    contextName = entry.contextName
    isFromThisProcess = engine.notifications.isOwn(entry.sequence)
    isComplete = !entry.isBulk
    var (inserted, updated, deleted) = (Set<ObjectID>(), Set<ObjectID>(), Set<ObjectID>())
    var names: [ObjectID: Set<String>] = [:]
    // Objects of one commit often have the same changed properties, so they share one set of names.
    var known: [UInt64: Set<String>] = [:]
    var entity: EntitySchema?
    for change in entry.changes {
      if entity?.number != change.number.entity {
        entity = engine.schema.entity(of: change.number)
        known = [:]
      }
      guard let entity else { continue }
      let id = ObjectID(storeID: engine.id, entityName: entity.name, number: change.number.sequence)
      switch change.kind {
      case .insert: inserted.insert(id)
      case .delete: deleted.insert(id)
      case .update:
        updated.insert(id)
        let bits = change.changedProperties
        let changed = known[bits] ?? entity.propertyNames(changed: bits)
        known[bits] = changed
        names[id] = changed
      }
    }
    (self.inserted, self.updated, self.deleted) = (inserted, updated, deleted)
    self.names = names
    tombstones = Self.tombstones(of: entry, in: engine)
    migration = nil
  }

  private static func tombstones(
    of entry: HistoryEntry, in engine: StoreEngine
  ) -> [ObjectID: [String: PropertyValue]] {
    var tombstones: [ObjectID: [String: PropertyValue]] = [:]
    for tombstone in entry.tombstones {
      guard let entity = engine.schema.entity(of: tombstone.number) else { continue }
      let id = ObjectID(
        storeID: engine.id, entityName: entity.name, number: tombstone.number.sequence)
      tombstones[id] = tombstone.values
    }
    return tombstones
  }

  /// Creates an element for a migration or, without one, for commits that the history no longer
  /// contains.
  init(upTo token: HistoryToken, _ migration: MigrationNotice? = nil) {
    self.token = token
    self.migration = migration
    date = nil
    author = nil
    contextName = nil
    isFromThisProcess = false
    isComplete = migration.map { $0.reading == .current } ?? false
    inserted = []
    updated = []
    deleted = []
    names = [:]
    tombstones = [:]
  }
}
