package import ArborModel
package import Foundation

/// A context's pending state, laid over the store's rows by a fetch or a count.
///
/// The executor evaluates pending records with the same compiled predicate as stored ones, so that
/// an answer does not depend on what has been committed. An overlay is made per fetch and used on
/// one thread; views it gives stay valid for the length of the fetch.
package final class FetchOverlay {
  /// The objects inserted, changed or deleted in the context: stored rows of theirs do not count.
  package let dirty: NumberMap
  /// The objects of one concrete entity that are inserted or changed and not deleted; where there
  /// is a selection, at least those that it means.
  package let pendingRows: (EntitySchema, PendingSelection?) -> [(ObjectNumber, RecordView)]
  /// The record of an inserted, changed or deleted object; nil for others.
  package let pendingRecord: (ObjectNumber) -> RecordView?
  /// Whether an object is deleted in the context.
  package let isDeleted: (ObjectNumber) -> Bool
  /// The registered, unchanged objects, whose records need not be copied; nil for none.
  package let known: NumberMap?

  /// The uncommitted changes of an owner's members in a to-many relationship; nil for none.
  package let links: (ObjectNumber, RelationshipSchema) -> (any PendingLinks)?
  /// Whether an object of an entity, or of one that inherits from it, is inserted, changed or
  /// deleted, or has changed members. Where not, the store's indexes tell all about the entity.
  package let touches: (EntitySchema) -> Bool
  /// A binary outside of a record that only the context has; nil for others.
  package let blob: (BlobName) -> Data?
  /// How many rows have to wait for a commit before fetches select some of them.
  let leastSelected: Int

  package init(
    dirty: NumberMap, known: NumberMap?,
    pendingRows: @escaping (EntitySchema, PendingSelection?) -> [(ObjectNumber, RecordView)],
    pendingRecord: @escaping (ObjectNumber) -> RecordView?,
    isDeleted: @escaping (ObjectNumber) -> Bool,
    links: @escaping (ObjectNumber, RelationshipSchema) -> (any PendingLinks)? = { _, _ in nil },
    touches: @escaping (EntitySchema) -> Bool = { _ in true },
    blob: @escaping (BlobName) -> Data? = { _ in nil },
    leastSelected: Int = PendingSelection.leastRows
  ) {
    self.dirty = dirty
    self.known = known
    self.pendingRows = pendingRows
    self.pendingRecord = pendingRecord
    self.isDeleted = isDeleted
    self.links = links
    self.touches = touches
    self.blob = blob
    self.leastSelected = leastSelected
  }

  /// Whether the store's rows are not all that counts.
  package var hasPendingChanges: Bool { dirty.count > 0 }
}

/// The uncommitted changes of one owner's members in one to-many relationship.
///
/// What is said of a member may be true in the store already: another context may have committed
/// the same link since.
package protocol PendingLinks: AnyObject {
  /// The members beyond the store's.
  var addedMembers: [ObjectNumber] { get }
  /// The store's members that are none any more.
  var removedMembers: [ObjectNumber] { get }

  /// Whether an object is a member; nil where the changes do not tell.
  func says(_ member: ObjectNumber) -> Bool?

  /// The members, the changes laid over the store's.
  func members(over stored: [ObjectNumber]) -> [ObjectNumber]
}

extension PendingLinks {
  /// The number of members, of which `isStored` tells whether they are some in the store.
  func memberCount(over stored: Int, isStored: (ObjectNumber) throws -> Bool) rethrows -> Int {
    var count = stored
    for member in removedMembers where try isStored(member) { count -= 1 }
    for member in addedMembers where try !isStored(member) { count += 1 }
    return count
  }
}
