package import Foundation

/// What the meaning of a predicate depends on beside its text and arguments: whose numbers object
/// IDs stand for, and what time it is.
package struct PredicateEnvironment: Sendable {
  package let schema: ModelSchema
  package let storeID: UUID
  /// The one instant that the whole fetch takes for the present.
  package let now: Date

  package init(schema: ModelSchema, storeID: UUID, now: Date = Date()) {
    self.schema = schema
    self.storeID = storeID
    self.now = now
  }

  /// The number of an object of this store, or nil for an ID of another store or entity.
  package func objectNumber(_ id: ObjectID) -> ObjectNumber? {
    guard id.storeID == storeID, let entity = schema.entity(named: id.entityName) else {
      return nil
    }
    return ObjectNumber(entity: entity.number, sequence: id.number)
  }
}

/// Follows relationships while a predicate is evaluated or a sort key is read: what the store holds
/// with the pending changes of the asking context laid over it.
package protocol RecordResolver: AnyObject {
  /// A number that no other evaluation has: what was found out with it may be used again as long as
  /// it is the same.
  var evaluation: UInt64 { get }

  /// Counts an element of a list that is about to be evaluated, as ``members(of:_:)`` does of its
  /// own accord; false where the evaluation has to stop. Nobody uses its outcome then.
  func admitElement() -> Bool

  /// Counts elements that are about to be added to those of a list; false where the evaluation has
  /// to stop, since it takes too long or since no list may become so long. Nobody uses its outcome
  /// then.
  func admitJoining(_ added: Int, to present: Int) -> Bool

  /// The record of another object in the current layout; nil where there is no such object. The
  /// view is valid until the query has been answered.
  func record(of number: ObjectNumber) -> RecordView?

  /// The members of a to-many relationship: in their order where it is ordered, else ascending.
  func members(of owner: ObjectNumber, _ relationship: RelationshipSchema) -> [ObjectNumber]

  /// The number of members, without a scan of them.
  func memberCount(of owner: ObjectNumber, _ relationship: RelationshipSchema) -> Int

  func contains(
    _ member: ObjectNumber, in relationship: RelationshipSchema, of owner: ObjectNumber
  ) -> Bool

  /// A binary that lies outside of an object's record; nil where it cannot be had.
  func blob(_ reference: BlobReference, of number: ObjectNumber, _ field: RecordField) -> Data?
}

/// A predicate as code: whether a record of the entity it was compiled for fulfils it.
///
/// The resolver is needed where the predicate follows relationships; without one they lead to nil.
/// One thread at a time may call it: it remembers the regular expressions that records hold, and
/// the objects whose collections it traverses.
package typealias CompiledPredicate = (RecordView, ObjectNumber, (any RecordResolver)?) -> Bool
