package import ArborModel
package import Foundation

/// A context's uncommitted changes, which a query lays over the store's rows.
///
/// The executor evaluates pending records with the same compiled predicate as stored ones, so that
/// an answer does not depend on what has been committed. Records and members that it returns stay
/// valid for the length of the query.
package protocol PendingState: AnyObject {
  /// The objects inserted, changed or deleted in the context: stored rows of theirs do not count.
  var dirty: NumberMap { get }

  /// The registered objects, whose records need not be copied; nil if there are none.
  var known: NumberMap? { get }

  /// The number of dirty objects from which on fetches select some of them by their keys.
  var leastSelected: Int { get }

  /// The inserted and changed objects of one concrete entity that are not deleted; with a
  /// selection, at least those that it means.
  func pendingRows(
    of entity: EntitySchema, _ selection: PendingSelection?
  ) -> [(ObjectNumber, RecordView)]

  /// The record of an inserted, changed or deleted object; nil for others.
  func pendingRecord(of number: ObjectNumber) -> RecordView?

  /// Whether an object is deleted in the context.
  func isDeleted(_ number: ObjectNumber) -> Bool

  /// Whether an object of an entity, or of one that inherits from it, is inserted, changed or
  /// deleted, or has changed members. Otherwise the store's indexes tell everything about the
  /// entity.
  func touches(_ entity: EntitySchema) -> Bool

  /// The members of a to-many relationship, the changes laid over the store's.
  func members(
    of owner: ObjectNumber, _ relationship: RelationshipSchema, over stored: [ObjectNumber]
  ) -> [ObjectNumber]

  /// The members that the changes add to a to-many relationship and remove from it; nil if there
  /// are none. A link that is added may be in the store already, and one that is removed may not,
  /// since another context may have committed the same.
  func changedMembers(
    of owner: ObjectNumber, _ relationship: RelationshipSchema
  ) -> (added: [ObjectNumber], removed: [ObjectNumber])?

  /// Whether an object is a member of a to-many relationship; nil if the changes don't tell.
  func isMember(
    _ member: ObjectNumber, of owner: ObjectNumber, _ relationship: RelationshipSchema
  ) -> Bool?

  /// A binary outside of a record that only the context has; nil for others.
  func blob(_ name: BlobName) -> Data?
}

extension PendingState {
  package var leastSelected: Int { PendingSelection.leastRows }

  /// Whether the store's rows are not all that counts.
  var hasPendingChanges: Bool { dirty.count > 0 }
}
