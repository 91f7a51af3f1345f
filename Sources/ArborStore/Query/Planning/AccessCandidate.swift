internal import ArborModel

/// An access path to the rows of a query that the conjuncts of its predicate make possible.
final class AccessCandidate {
  enum AccessPath {
    /// The objects that the predicate names.
    case objects([ObjectNumber])
    /// Ranges of an index's keys, derived from the conditions on its leading columns.
    case index(IndexReference, ScanRanges, [ColumnMatch])
    /// The texts that contain all of several words, each looked up in a text index.
    case words(IndexReference, [ScanRanges], [TokenQuery.Token])
    /// The members of the owners, read through the to-many inverse of the to-one relationship that
    /// the predicate tests.
    case members(RelationshipSchema, owners: [ObjectNumber])
    /// The targets of the given objects in the to-one inverse of the relationship that the
    /// predicate tests.
    case inverse(RelationshipSchema, of: [ObjectNumber])
  }

  let accessPath: AccessPath
  /// The conjuncts that hold for all rows found by this access path.
  let covered: [Int]
  /// The related objects that the access path starts from.
  let related: [RelatedRows]
  /// Further conditions that are evaluated on the keys of the index.
  let filter: KeyFilter?

  init(
    accessPath: AccessPath, covered: [Int], related: [RelatedRows] = [], filter: KeyFilter? = nil
  ) {
    self.accessPath = accessPath
    self.covered = covered
    self.filter = filter
    self.related = related
  }

  /// The index that the access path reads, if any.
  var index: IndexReference? {
    switch accessPath {
    case .index(let index, _, _), .words(let index, _, _): index
    case .objects, .members, .inverse: nil
    }
  }

  /// The number of initial lookups.
  var lookups: Int {
    switch accessPath {
    case .objects(let numbers): numbers.count
    case .index(_, let ranges, _): ranges.ranges.count
    case .words(_, let words, _): words.count
    case .members(_, let owners): owners.count
    case .inverse(_, let objects): objects.count
    }
  }

  /// Whether all objects of the access path are known to be stored.
  var namesStoredObjects: Bool {
    if case .objects = accessPath { false } else { true }
  }

  /// Whether the store counts the numbers per key, so that they can be counted without reading
  /// them.
  var isCountable: Bool {
    switch accessPath {
    case .objects, .inverse: false
    case .index, .words, .members: true
    }
  }

  /// Whether all related objects have been found. Otherwise the rows can only be estimated.
  var isKnown: Bool { related.allSatisfy { $0.count.numbers != nil } }

  /// Returns whether the access path may find objects outside `family`. An index contains the
  /// objects of all entities that share it.
  func mayLeave(_ family: [EntitySchema], in schema: ModelSchema) -> Bool {
    switch accessPath {
    case .objects, .inverse: true
    case .index(let index, _, _), .words(let index, _, _):
      schema.entities[index.schema.declaringEntity].concreteFamily.count != family.count
    case .members(let relationship, _):
      schema.entities[relationship.destination].concreteFamily.count != family.count
    }
  }

  /// Returns whether both access paths find the same numbers.
  func findsSame(as other: AccessCandidate) -> Bool {
    switch (accessPath, other.accessPath) {
    case (.index(let index, let ranges, _), .index(let otherIndex, let otherRanges, _)):
      index == otherIndex && filter == other.filter && ranges.ranges == otherRanges.ranges
    case (.words(let index, let words, _), .words(let otherIndex, let otherWords, _)):
      index == otherIndex && words.map(\.ranges) == otherWords.map(\.ranges)
    case (
      .members(let relationship, let owners), .members(let otherRelationship, let otherOwners)
    ):
      relationship.slot == otherRelationship.slot
        && relationship.declaringEntity == otherRelationship.declaringEntity
        && owners == otherOwners
    default: false
    }
  }
}

/// An access path whose keys have not been encoded yet. Only access paths that are tried need
/// encoded keys.
struct AccessOption {
  enum Kind {
    case objects(ColumnMatch)
    /// An index, with the conditions on its leading columns.
    case index(IndexReference, [ColumnMatch])
    /// A text index, with the position of the conjunct that searches for words.
    case words(IndexReference, Int)
    /// The slot of a to-one relationship, with the condition on it.
    case members(Int, ColumnMatch)
  }

  let kind: Kind
  /// The order in which access paths are tried. A lower rank usually finds fewer rows; the second
  /// component prefers shorter keys.
  let rank: (Int, Int)
}

/// A reference to one of an entity's indexes.
///
/// It holds neither a transaction nor a database, so that a plan can be created, kept and printed
/// without a store.
struct IndexReference: Equatable {
  let entity: EntitySchema
  /// The position of the index among the entity's indexes.
  let position: Int

  var schema: IndexSchema { entity.indexes[position] }

  var keyColumns: [KeyDecoder.Column] { entity.keyColumns(of: schema) }

  static func == (left: Self, right: Self) -> Bool {
    left.entity === right.entity && left.position == right.position
  }
}
