internal import ArborModel
internal import LMDB

/// One access path to the rows of a query that the conditions of its predicate open.
final class AccessCandidate {
  enum AccessPath {
    /// The objects that the predicate names.
    case objects([ObjectNumber])
    /// Ranges of an index's keys, made of conditions on its leading columns.
    case index(IndexSchema, Database, ScanRanges, [ColumnMatch])
    /// The texts that have all of some words, each looked for in an index of words.
    case words(IndexSchema, Database, [ScanRanges], [TokenQuery.Token])
    /// The members of owners, in the database of a to-many relationship that derives from the
    /// to-one relationship the predicate is about.
    case members(RelationshipSchema, Database, owners: [ObjectNumber])
    /// The objects that a to-one relationship of some objects leads to: the inverse of the one the
    /// predicate is about.
    case inverse(RelationshipSchema, of: [ObjectNumber])
  }

  let accessPath: AccessPath
  /// The conjuncts that hold for all rows found by this access path.
  let covered: [Int]
  /// The related objects that the access path begins with.
  let related: [RelatedRows]
  /// The number throughout the store of the index that is used, if one is.
  let place: Int?
  /// What else the index's keys tell.
  let filter: KeyFilter?

  init(
    accessPath: AccessPath, covered: [Int], related: [RelatedRows] = [], place: Int? = nil,
    filter: KeyFilter? = nil
  ) {
    self.accessPath = accessPath
    self.covered = covered
    self.filter = filter
    self.related = related
    self.place = place
  }

  /// How many looks into the store it begins with.
  var lookups: Int {
    switch accessPath {
    case .objects(let numbers): numbers.count
    case .index(_, _, let ranges, _): ranges.ranges.count
    case .words(_, _, let words, _): words.count
    case .members(_, _, let owners): owners.count
    case .inverse(_, let objects): objects.count
    }
  }

  /// Whether the objects it names are stored for certain.
  var namesStoredObjects: Bool {
    if case .objects = accessPath { false } else { true }
  }
}
