internal import ArborModel

/// One access path to the rows of a query that the conditions of its predicate open.
final class AccessCandidate {
  enum AccessPath {
    /// The objects that the predicate names.
    case objects([ObjectNumber])
    /// Ranges of an index's keys, made of conditions on its leading columns.
    case index(IndexReference, ScanRanges, [ColumnMatch])
    /// The texts that have all of some words, each looked for in an index of words.
    case words(IndexReference, [ScanRanges], [TokenQuery.Token])
    /// The members of owners, by a to-many relationship that derives from the to-one relationship
    /// the predicate is about.
    case members(RelationshipSchema, owners: [ObjectNumber])
    /// The objects that a to-one relationship of some objects leads to: the inverse of the one the
    /// predicate is about.
    case inverse(RelationshipSchema, of: [ObjectNumber])
  }

  let accessPath: AccessPath
  /// The conjuncts that hold for all rows found by this access path.
  let covered: [Int]
  /// The related objects that the access path begins with.
  let related: [RelatedRows]
  /// What else the index's keys tell.
  let filter: KeyFilter?

  init(
    accessPath: AccessPath, covered: [Int], related: [RelatedRows] = [], filter: KeyFilter? = nil
  ) {
    self.accessPath = accessPath
    self.covered = covered
    self.filter = filter
    self.related = related
  }

  /// The index that is used, if one is.
  var index: IndexReference? {
    switch accessPath {
    case .index(let index, _, _), .words(let index, _, _): index
    case .objects, .members, .inverse: nil
    }
  }

  /// How many looks into the store it begins with.
  var lookups: Int {
    switch accessPath {
    case .objects(let numbers): numbers.count
    case .index(_, let ranges, _): ranges.ranges.count
    case .words(_, let words, _): words.count
    case .members(_, let owners): owners.count
    case .inverse(_, let objects): objects.count
    }
  }

  /// Whether the objects it names are stored for certain.
  var namesStoredObjects: Bool {
    if case .objects = accessPath { false } else { true }
  }

  /// Whether its numbers are kept in lists, each with its count.
  var isCountable: Bool {
    switch accessPath {
    case .objects, .inverse: false
    case .index, .words, .members: true
    }
  }

  /// Whether what it looks for has been found: where not, its rows can be estimated only.
  var isKnown: Bool { related.allSatisfy { $0.count.numbers != nil } }

  /// Returns whether the access path may find objects of entities outside of `family`. An index
  /// contains the objects of all entities that inherit it.
  func mayLeave(_ family: [EntitySchema], in schema: ModelSchema) -> Bool {
    switch accessPath {
    case .objects, .inverse: true
    case .index(let index, _, _), .words(let index, _, _):
      schema.entities[index.schema.declaringEntity].concreteFamily.count != family.count
    case .members(let relationship, _):
      schema.entities[relationship.destination].concreteFamily.count != family.count
    }
  }

  /// Whether it finds the same numbers as another one.
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

/// An access path that conditions open, before the keys for it are made: only the access paths that
/// are tried need them.
struct AccessOption {
  enum Kind {
    case objects(ColumnMatch)
    /// An index, and the conditions on its leading columns.
    case index(IndexReference, [ColumnMatch])
    /// An index of words, and which of the conjuncts names words.
    case words(IndexReference, Int)
    /// A to-one relationship, by its slot.
    case members(Int, ColumnMatch)
  }

  let kind: Kind
  /// Access paths with a lower rank find fewer rows, as a rule, and are tried first; of those with
  /// the same rank the ones with the shorter keys.
  let rank: (Int, Int)
}

/// One of an entity's indexes, as plans name it.
///
/// Neither a transaction nor a database belongs to it, so that a plan can be made, kept and printed
/// without a store.
struct IndexReference: Equatable {
  let entity: EntitySchema
  /// Which of the entity's indexes it is.
  let position: Int

  var schema: IndexSchema { entity.indexes[position] }

  /// The form of the index's keys.
  var keyColumns: [KeyDecoder.Column] { entity.keyColumns(of: schema) }

  static func == (left: Self, right: Self) -> Bool {
    left.entity === right.entity && left.position == right.position
  }
}
