internal import ArborModel

/// The counts by which a planner decides: exact where LMDB keeps them, counted up to a bound
/// otherwise.
///
/// A plan depends on a query, a schema and these answers alone. ``StoredCounts`` reads them from a
/// transaction; ``CollectingCounts`` does so for a query that is about to run. All but the last
/// cost a look for each entity or index.
protocol Counts {
  /// How many objects of some concrete entities are stored.
  func objectCount(of family: [EntitySchema]) throws -> Int

  /// How many entries an index has, those of entities that are not asked for among them.
  func entryCount(of index: IndexReference) throws -> Int

  /// How many members all owners of a to-many relationship have together.
  func linkCount(of relationship: RelationshipSchema) throws -> Int

  /// How many leaf pages the records of some concrete entities take.
  func leafPages(of family: [EntitySchema]) throws -> Int

  /// How many leaf pages an index takes.
  func leafPages(of index: IndexReference) throws -> Int

  /// Which of an entity's indexes lack entries, by their positions: they are kept, and not read.
  func unreadyIndexes(of entity: EntitySchema) -> Set<Int>

  /// How many objects an access path finds; nil as soon as there are more than `most`, or finding
  /// out has cost more than `effort`, in units of ``Cost``.
  ///
  /// - Parameters:
  ///   - candidate: An access path whose keys are known: none of its related rows is an estimate.
  ///   - family: The concrete entities whose objects count.
  /// - Complexity: Linear in the keys that the access path has, up to the bounds.
  func count(_ candidate: AccessCandidate, of family: [EntitySchema], upTo most: Int, effort: Int)
    throws -> RowCount?
}

/// Ends counting as soon as it is certain that there are too many rows, or that finding out costs
/// too much.
struct CountBound {
  /// The number of rows that are still allowed.
  var most: Int
  /// The cost that is still allowed, in units of ``Cost``.
  var effort: Int

  /// Accounts for the search for a key.
  @inline(__always)
  mutating func look() { effort -= Cost.seek }

  /// Accounts for a key that is skipped; returns whether counting continues.
  @inline(__always)
  mutating func allowsStep() -> Bool {
    effort -= Cost.key
    return effort >= 0
  }

  /// Accounts for a key and its rows; returns whether counting continues.
  @inline(__always)
  mutating func allows(key count: Int) -> Bool {
    effort -= Cost.key
    return allows(count)
  }

  /// Accounts for rows; returns whether counting continues.
  @inline(__always)
  mutating func allows(_ count: Int) -> Bool {
    effort -= count / 8
    most -= count
    return most >= 0 && effort >= 0
  }
}

/// How many rows something finds, and how well that is known.
enum RowCount {
  /// The rows' numbers, ascending and different: counting them has read them anyway.
  case gathered([UInt64])
  case exact(Int)
  /// A guess from other counts.
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

  /// The numbers if they are known, or `nil`.
  var numbers: [UInt64]? {
    if case .gathered(let numbers) = self { numbers } else { nil }
  }
}
