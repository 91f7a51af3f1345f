public import ArborModel
internal import ArborStore
public import Foundation

// The element of `StoreChanges`, which makes it of an entry of the history. `StoreObservers` and
// `CommitNotifications` only say that there is one.

/// What one commit to a store did, or a migration of it. See ``PersistentStore/changes``.
///
/// An object is in one of the sets. A commit whose changes are too many to be listed — above 10,000
/// objects — and the emptying of a store list nothing and say so: ``isComplete``.
public struct CommittedChanges: Sendable, Hashable {
  /// The commit's position among all commits to the store, which grows by one with each.
  public let commitSequence: UInt64
  /// When the commit was made; nil where the element stands for several.
  public let date: Date?
  /// Who made the changes, as the committing context's ``ManagedObjectContext/author`` says.
  public let author: String?
  /// The committing context's ``ManagedObjectContext/name``.
  public let contextName: String?
  /// Whether this process made the commit; false where the element stands for several.
  public let isFromThisProcess: Bool
  /// Whether the sets tell everything. Otherwise they are empty, and anything in the store may have
  /// changed: the commit was too large to be listed, or the element stands for all commits up to
  /// ``commitSequence`` that were too many to be kept.
  public let isComplete: Bool
  /// The objects that the commit inserted.
  public let inserted: Set<ObjectID>
  /// The objects that the commit changed in their attributes, in what their to-one relationships
  /// lead to, or in the members of relationships that are to-many on both sides or ordered.
  ///
  /// The owner of a plain one-to-many relationship is not among them when its members change: the
  /// members are, by their to-one side.
  public let updated: Set<ObjectID>
  /// The objects that the commit deleted.
  public let deleted: Set<ObjectID>
  /// The migration to another version of the model that the element announces in place of a commit;
  /// nil for commits.
  ///
  /// Such an element lists no objects, and its ``commitSequence`` is that of the commit before. It
  /// is complete where the store can be read on as before.
  public let migration: MigrationNotice?
  private let names: [ObjectID: Set<String>]
  private let tombstones: [ObjectID: [String: PropertyValue]]

  /// The properties of an updated object that changed; none of others.
  ///
  /// Properties are named as the model calls them now, also where another one did when they were
  /// committed; what has been removed since is not named. An entity that has had more than 63
  /// properties names those from the 64th on together, and with them its relationships that are
  /// to-many on both sides or ordered.
  public func changedProperties(of id: ObjectID) -> Set<String> { names[id] ?? [] }

  /// What is kept of a deleted object: the values of the attributes that the model marks to be
  /// kept, see ``AttributeDescription/isPreservedOnDeletion``, by name; empty for others. Values
  /// that were nil are left out.
  ///
  /// ```swift
  /// for await changes in store.changes {
  ///   for id in changes.deleted { server.forget(changes.tombstone(of: id)["serverID"]) }
  /// }
  /// ```
  public func tombstone(of id: ObjectID) -> [String: PropertyValue] { tombstones[id] ?? [:] }

  /// What the history says.
  init(_ entry: HistoryEntry, in engine: StoreEngine) {
    commitSequence = entry.sequence
    date = entry.date
    author = entry.author
    contextName = entry.contextName
    isFromThisProcess = engine.notifications.isOwn(entry.sequence)
    isComplete = !entry.isBulk
    var (inserted, updated, deleted) = (Set<ObjectID>(), Set<ObjectID>(), Set<ObjectID>())
    var names: [ObjectID: Set<String>] = [:]
    // Many objects of one commit changed in the same properties: their names are one set.
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

  /// The news of a migration; without one, what is left to say where the history does not reach
  /// back any more.
  init(upTo sequence: UInt64, _ migration: MigrationNotice? = nil) {
    commitSequence = sequence
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
