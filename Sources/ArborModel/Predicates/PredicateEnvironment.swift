package import Foundation

/// What the meaning of a predicate depends on beside its text and arguments: whose numbers object
/// IDs stand for, and what time it is.
package struct PredicateEnvironment: Sendable {
  package let schema: ModelSchema
  package let storeID: UUID
  /// The one instant that the whole fetch takes for the present.
  package let now: Date
  private let givenLocale: Locale?

  /// - Parameter locale: nil for the process's current locale.
  package init(schema: ModelSchema, storeID: UUID, now: Date = Date(), locale: Locale? = nil) {
    self.schema = schema
    self.storeID = storeID
    self.now = now
    givenLocale = locale
  }

  /// Whose rules `[l]` and localized orders follow.
  package var locale: Locale { givenLocale ?? .current }

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

  /// Counts elements of lists that are about to be evaluated, as ``members(of:_:)`` does by itself.
  ///
  /// - Returns: Whether the evaluation may continue. If not, its outcome is not used.
  func admitElements(_ count: Int) -> Bool

  /// Counts units of work that take about as long as reading a record.
  ///
  /// - Returns: Whether the evaluation may continue. If not, its outcome is not used.
  func admitWork(_ units: Int) -> Bool

  /// Ends the operation. The outcome of the evaluation is not used.
  func interrupt(_ interruption: Interruption)

  /// Counts a computed value while it is held beside others.
  ///
  /// - Parameter size: The value's bytes and elements; see ``PropertyValue/size``.
  /// - Returns: Whether the evaluation may continue. If not, its outcome is not used.
  func hold(_ size: Int) -> Bool

  /// How much more computed values may take.
  var room: Int { get }

  /// Gives back the room of a value that ``hold(_:)`` counted.
  func release(_ size: Int)

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

extension RecordView {
  /// The value of a field, loaded where it lies outside of the record; null where it cannot be
  /// had.
  ///
  /// - Parameters:
  ///   - number: Whose record it is.
  ///   - source: What loads it.
  package func value(
    _ field: RecordField, of number: ObjectNumber, from source: (any RecordResolver)?
  ) -> PropertyValue {
    guard let reference = blob(field) else { return value(field) }
    return source?.blob(reference, of: number, field).map(PropertyValue.binary) ?? .null
  }
}
