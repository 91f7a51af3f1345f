internal import ArborModel

/// The counts that a planner relies on. They are exact if LMDB maintains them; others are counted
/// up to a bound.
///
/// A plan depends only on a query, a schema and these counts. ``StoredCounts`` reads them from a
/// transaction; ``CollectingCounts`` does so for a query that is about to run. All methods but the
/// last cost one lookup per entity or index.
protocol Counts {
  /// Returns the number of stored objects of the given concrete entities.
  func objectCount(of family: [EntitySchema]) throws -> Int

  /// Returns the number of entries of an index, including entries of entities outside the query.
  func entryCount(of index: IndexReference) throws -> Int

  /// Returns the total number of members of a to-many relationship over all owners.
  func linkCount(of relationship: RelationshipSchema) throws -> Int

  /// Returns the number of leaf pages that hold the records of the given concrete entities.
  func leafPages(of family: [EntitySchema]) throws -> Int

  /// Returns the number of leaf pages of an index.
  func leafPages(of index: IndexReference) throws -> Int

  /// Returns the positions of the entity's indexes that are maintained but still lack entries, and
  /// therefore must not be read.
  func unreadyIndexes(of entity: EntitySchema) -> Set<Int>

  /// Returns the number of objects that an access path finds, or `nil` once there are more than
  /// `most` or counting has cost more than `effort`, in units of ``Cost``.
  ///
  /// - Parameters:
  ///   - candidate: An access path whose keys are known: none of its related rows is an estimate.
  ///   - family: The concrete entities whose objects are counted.
  /// - Complexity: Linear in the number of keys of the access path, up to the bounds.
  func count(_ candidate: AccessCandidate, of family: [EntitySchema], upTo most: Int, effort: Int)
    throws -> RowCount?
}

/// A limit that stops counting once there are too many rows or counting has become too expensive.
struct CountBound {
  /// The number of rows that are left.
  var most: Int
  /// The cost that is left, in units of ``Cost``.
  var effort: Int

  /// Accounts for the search for a key.
  @inline(__always)
  mutating func look() { effort -= Cost.seek }

  /// Accounts for a skipped key and returns whether counting continues.
  @inline(__always)
  mutating func allowsStep() -> Bool {
    effort -= Cost.key
    return effort >= 0
  }

  /// Accounts for a key and its rows and returns whether counting continues.
  @inline(__always)
  mutating func allows(key count: Int) -> Bool {
    effort -= Cost.key
    return allows(count)
  }

  /// Accounts for rows and returns whether counting continues.
  @inline(__always)
  mutating func allows(_ count: Int) -> Bool {
    effort -= count / 8
    most -= count
    return most >= 0 && effort >= 0
  }
}

/// A number of rows and its accuracy.
enum RowCount {
  /// The numbers of the rows, ascending and distinct. Counting had to read them anyway.
  case gathered([UInt64])
  case exact(Int)
  /// An estimate that is derived from other counts.
  case estimate(Int)

  var rows: Int {
    switch self {
    case .gathered(let numbers): numbers.count
    case .exact(let rows), .estimate(let rows): rows
    }
  }

  var isExact: Bool {
    if case .estimate = self { false } else { true }
  }

  /// The numbers of the rows, if they are known.
  var numbers: [UInt64]? {
    if case .gathered(let numbers) = self { numbers } else { nil }
  }
}
