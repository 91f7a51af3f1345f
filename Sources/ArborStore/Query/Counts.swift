internal import ArborModel

/// What a planner knows about the data: numbers, exact where the engine keeps them and counted up
/// to a bound otherwise.
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
