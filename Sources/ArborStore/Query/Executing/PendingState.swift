package import ArborFoundation
package import ArborModel

/// A context's uncommitted changes, which a query merges into the stored rows.
///
/// The executor evaluates pending records with the same compiled predicate as stored ones, so that
/// the result doesn't depend on what has been committed. Returned records and members stay valid
/// until the query ends.
package protocol PendingState: AnyObject {
  /// The objects inserted, changed or deleted in the context. Their stored rows are ignored.
  var dirty: NumberMap { get }

  /// The registered objects, whose records need not be copied, or `nil` if there are none.
  var known: NumberMap? { get }

  /// The minimum number of dirty objects for which fetches select pending rows by key.
  var leastSelected: Int { get }

  /// Returns the inserted and changed objects of one concrete entity that are not deleted. With a
  /// selection, returns at least those it selects.
  func pendingRows(
    of entity: EntitySchema, _ selection: PendingSelection?
  ) -> [(ObjectNumber, RecordView)]

  /// Returns the record of an inserted, changed or deleted object, or `nil` for other objects.
  func pendingRecord(of number: ObjectNumber) -> RecordView?

  /// Returns whether an object is deleted in the context.
  func isDeleted(_ number: ObjectNumber) -> Bool

  /// Returns whether an object of an entity, or of one that inherits from it, is inserted, changed
  /// or deleted, or has changed members. Otherwise the store's indexes are complete for the entity.
  func touches(_ entity: EntitySchema) -> Bool

  /// Returns the members of a to-many relationship: the stored ones with the pending changes
  /// applied.
  func members(
    of owner: ObjectNumber, _ relationship: RelationshipSchema, over stored: [ObjectNumber]
  ) -> [ObjectNumber]

  /// Returns the members that the changes add to and remove from a to-many relationship, or `nil`
  /// if there are none. An added link may already be stored, and a removed one may be missing,
  /// because another context may have committed the same change.
  func changedMembers(
    of owner: ObjectNumber, _ relationship: RelationshipSchema
  ) -> (added: [ObjectNumber], removed: [ObjectNumber])?

  /// Returns whether an object is a member of a to-many relationship, or `nil` if the changes don't
  /// determine it.
  func isMember(
    _ member: ObjectNumber, of owner: ObjectNumber, _ relationship: RelationshipSchema
  ) -> Bool?

  /// Returns an external binary value that only the context has, or `nil` for others.
  func blob(_ key: BlobKey) -> Data?
}

extension PendingState {
  package var leastSelected: Int { PendingSelection.leastRows }

  /// Whether there are changes to merge with the stored rows.
  var hasPendingChanges: Bool { dirty.count > 0 }
}
