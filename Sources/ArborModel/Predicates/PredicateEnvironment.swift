package import ArborFoundation

/// The context that determines a predicate's meaning, besides its text and arguments: the store for
/// object IDs, the current time and the locale.
package struct PredicateEnvironment: Sendable {
  package let schema: ModelSchema
  package let storeID: UUID
  /// The current time, the same for the whole fetch.
  package let now: Date
  /// Whether the evaluation has a budget of work; see ``RecordResolver/charge(_:)``. Code compiled
  /// without one doesn't charge anything.
  package let chargesWork: Bool
  private let givenLocale: Locale?

  /// Creates an environment.
  ///
  /// - Parameter locale: The locale, or `nil` for the process's current one.
  package init(
    schema: ModelSchema, storeID: UUID, now: Date = Date(), locale: Locale? = nil,
    chargesWork: Bool = false
  ) {
    self.chargesWork = chargesWork
    self.schema = schema
    self.storeID = storeID
    self.now = now
    givenLocale = locale
  }

  /// The locale for `[l]` and for localized sort orders.
  package var locale: Locale { givenLocale ?? .current }

  /// Returns the number of an object of this store, or `nil` for an ID of another store or of an
  /// entity that the model doesn't have.
  package func objectNumber(_ id: ObjectID) -> ObjectNumber? {
    guard id.storeID == storeID, let entity = schema.entity(named: id.entityName) else {
      return nil
    }
    return ObjectNumber(entity: entity.number, sequence: id.number)
  }
}

/// A resolver that follows relationships while a predicate is evaluated or a sort key is read, in
/// the state of the store merged with the context's pending changes.
package protocol RecordResolver: AnyObject {
  /// The number of the current evaluation. Memoized results are valid as long as it stays the same.
  var evaluation: UInt64 { get }

  /// Counts list elements that are about to be evaluated. ``members(of:_:)`` counts its elements
  /// itself.
  ///
  /// - Returns: Whether the evaluation may continue. If not, its result is discarded.
  func admitElements(_ count: Int) -> Bool

  /// Counts units of work, each of which takes about as long as reading a record.
  ///
  /// - Returns: Whether the evaluation may continue. If not, its result is discarded.
  func admitWork(_ units: Int) -> Bool

  /// Charges work that is about to be done to the operation's budget, if it has one.
  ///
  /// - Parameter units: The work, in units of roughly a nanosecond.
  /// - Returns: Whether the evaluation may continue. If not, its result is discarded.
  func charge(_ units: Int) -> Bool

  /// Interrupts the operation. The result of the evaluation is discarded.
  func interrupt(_ interruption: Interruption)

  /// Counts the size of a computed value while the value is held in memory.
  ///
  /// - Parameter size: The value's size; see ``PropertyValue/size``.
  /// - Returns: Whether the evaluation may continue. If not, its result is discarded.
  func hold(_ size: Int) -> Bool

  /// The remaining size available for computed values.
  var room: Int { get }

  /// Releases the size of a value that ``hold(_:)`` counted.
  func release(_ size: Int)

  /// Returns the record of another object in the current layout, or `nil` if it doesn't exist. The
  /// view is valid until the query is complete.
  func record(of number: ObjectNumber) -> RecordView?

  /// Returns the members of a to-many relationship: in their order if it is ordered, otherwise in
  /// ascending order.
  func members(of owner: ObjectNumber, _ relationship: RelationshipSchema) -> [ObjectNumber]

  /// Returns the members of a to-many relationship that satisfy a condition on one of their
  /// attributes, in any order, or `nil` if no index finds them.
  ///
  /// - Parameters:
  ///   - condition: An exact condition.
  ///   - most: The number of members after which the search ends.
  func members(
    of owner: ObjectNumber, _ relationship: RelationshipSchema, where condition: IndexableTerm,
    upTo most: Int
  ) -> [ObjectNumber]?

  /// Returns the number of members of a to-many relationship, without scanning them.
  func memberCount(of owner: ObjectNumber, _ relationship: RelationshipSchema) -> Int

  func contains(
    _ member: ObjectNumber, in relationship: RelationshipSchema, of owner: ObjectNumber
  ) -> Bool

  /// Returns a binary value that is stored outside an object's record, or `nil` if it isn't
  /// available.
  func blob(_ reference: BlobReference, of number: ObjectNumber, _ field: RecordField) -> Data?
}

extension RecordResolver {
  package func members(
    of owner: ObjectNumber, _ relationship: RelationshipSchema, where condition: IndexableTerm,
    upTo most: Int
  ) -> [ObjectNumber]? { nil }
}

/// A compiled predicate: returns whether a record of the entity it was compiled for satisfies it.
///
/// The resolver is required for predicates that follow relationships; without one, relationships
/// are `nil`. Not thread-safe: a compiled predicate caches regular expressions that it reads from
/// records, and stores the objects whose collections it traverses.
package typealias CompiledPredicate = (RecordView, ObjectNumber, (any RecordResolver)?) -> Bool

extension RecordView {
  /// Returns the value of a field, loading it if it is stored outside the record, or null if it
  /// isn't available.
  ///
  /// - Parameters:
  ///   - number: The number of the record's object.
  ///   - source: The resolver that loads the value, or `nil` if values outside the record are not
  ///     available.
  package func value(
    _ field: RecordField, of number: ObjectNumber, from source: (any RecordResolver)?
  ) -> PropertyValue {
    guard let reference = blob(field) else { return value(field) }
    return source?.blob(reference, of: number, field).map(PropertyValue.binary) ?? .null
  }
}
