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

/// Follows to-one relationships while a predicate is evaluated or a sort key is read.
package protocol RecordResolver: AnyObject {
  /// The record of another object in the current layout, pending state first; nil where there is no
  /// such object. The view is valid until the next call.
  func record(of number: ObjectNumber) -> RecordView?
}

/// A predicate as code: whether a record of the entity it was compiled for fulfils it.
///
/// The resolver is needed where the predicate follows relationships; without one they lead to nil.
/// One thread at a time may call it: it remembers the regular expressions that records hold.
package typealias CompiledPredicate = (RecordView, ObjectNumber, (any RecordResolver)?) -> Bool
