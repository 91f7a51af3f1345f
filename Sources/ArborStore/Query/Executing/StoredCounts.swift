internal import ArborModel
internal import LMDB

/// The counts of one transaction: sums of the counts that the store maintains per key. Reads
/// numbers only to exclude those of other entities. Used to explain queries.
class StoredCounts: Counts {
  let source: QuerySource

  init(_ source: QuerySource) { self.source = source }

  func objectCount(of family: [EntitySchema]) throws -> Int {
    var count = 0
    for entity in family { count += try source.reader.entryCount(source.records(entity)) }
    return count
  }

  func entryCount(of index: IndexReference) throws -> Int {
    try source.reader.entryCount(source.database(of: index))
  }

  func linkCount(of relationship: RelationshipSchema) throws -> Int {
    try source.reader.entryCount(source.members(of: relationship))
  }

  func leafPages(of family: [EntitySchema]) throws -> Int {
    try family.reduce(0) { total, entity in
      total + (try source.reader.statistics(source.records(entity)).leafPages)
    }
  }

  func leafPages(of index: IndexReference) throws -> Int {
    try source.reader.statistics(source.database(of: index)).leafPages
  }

  func unreadyIndexes(of entity: EntitySchema) -> Set<Int> { source.unreadyIndexes(of: entity) }

  func count(
    _ candidate: AccessCandidate, of family: [EntitySchema], upTo most: Int, effort: Int
  ) throws -> RowCount? {
    switch candidate.accessPath {
    case .objects(let objects): return .estimate(Set(objects.filter { $0.isOf(family) }).count)
    case .inverse(_, let objects): return objects.count <= most ? .estimate(objects.count) : nil
    case .words(let index, let words, _):
      return try count(words, source.database(of: index), of: family, effort: effort)
    case .index, .members: break
    }
    let isMixed = candidate.mayLeave(family, in: source.schema)
    var bound = CountBound(most: most, effort: effort)
    var total = 0
    let isAll = try source.forEachKey(of: candidate, &bound) { entry, count, cursor in
      total += isMixed ? try Self.count(entry, count, cursor, of: family) : count
    }
    return isAll ? .exact(total) : nil
  }

  /// Returns the number of a key's objects that belong to the given entities.
  private static func count(
    _ entry: Entry, _ count: Int, _ cursor: borrowing Cursor, of family: [EntitySchema]
  ) throws -> Int {
    // Members of ordered relationships are stored with their positions.
    guard entry.value.count != OrderedMembers.valueSize else { return count }
    if count == 1 { return ObjectNumber(rawValue: cursor.number(of: entry)).isOf(family) ? 1 : 0 }
    var numbers: [UInt64] = []
    try CandidateCollector.appendAll(of: entry.key, cursor, to: &numbers)
    return numbers.count { ObjectNumber(rawValue: $0).isOf(family) }
  }

  /// Estimates the number of texts that contain all words, assuming that the words are independent.
  private func count(
    _ words: [ScanRanges], _ database: Database, of family: [EntitySchema], effort: Int
  ) throws -> RowCount? {
    let all = try objectCount(of: family)
    let cursor = try source.reader.cursor(database)
    var bound = CountBound(most: .max, effort: effort)
    var (rows, keyCount) = (all, 0)
    for word in words {
      var total = 0
      for range in word.ranges {
        let isAll = try source.forEachKey(cursor, in: range) { _, count in
          keyCount += 1
          total += count
          return bound.allows(key: count)
        }
        guard isAll else { return nil }
      }
      rows = Selectivity.rows(rows, min(1, Double(total) / Double(max(1, all))))
    }
    return words.count == 1 && keyCount <= 1 ? .exact(rows) : .estimate(rows)
  }

  /// Returns the number of rows of an access path, or `nil` if numbers of other entities or
  /// duplicates would be counted too.
  ///
  /// - Complexity: Linear in the number of keys.
  func exactCount(of candidate: AccessCandidate, _ family: [EntitySchema]) throws -> Int? {
    switch candidate.accessPath {
    case .objects, .inverse, .words: return nil
    // An object has an entry for each of its elements.
    case .index(let index, let ranges, _) where index.schema.hasManyKeys:
      if ranges.ranges.count > 1 { return nil }
    case .index, .members: break
    }
    guard !candidate.mayLeave(family, in: source.schema) else { return nil }
    var total = 0
    var bound = CountBound(most: .max, effort: .max)
    _ = try source.forEachKey(of: candidate, &bound) { _, count, _ in total += count }
    return total
  }
}

/// The counts of a query that is about to run. Counting gathers the numbers in the same scan,
/// because most of them are read next.
final class CollectingCounts: StoredCounts {
  /// A previous result. Planning again after a trial requests the same counts.
  private struct Known {
    let candidate: AccessCandidate
    let family: [EntitySchema]
    let most: Int
    let effort: Int
    /// The numbers, or `nil` if there were too many or gathering was too expensive.
    let numbers: [UInt64]?

    func answers(
      _ candidate: AccessCandidate, _ family: [EntitySchema], _ most: Int, _ effort: Int
    ) -> Bool {
      guard self.candidate.findsSame(as: candidate),
        self.family.elementsEqual(family, by: { $0 === $1 })
      else { return false }
      return numbers.map { $0.count <= most } ?? (most <= self.most && effort <= self.effort)
    }
  }

  private var known: [Known] = []

  override func count(
    _ candidate: AccessCandidate, of family: [EntitySchema], upTo most: Int, effort: Int
  ) throws -> RowCount? {
    if let known = known.first(where: { $0.answers(candidate, family, most, effort) }) {
      return known.numbers.map { .gathered($0) }
    }
    let numbers = try CandidateCollector(source: source, family: family)
      .collect(candidate, atMost: most, effort: effort)
    known.append(
      Known(candidate: candidate, family: family, most: most, effort: effort, numbers: numbers))
    return numbers.map { .gathered($0) }
  }
}
