package import ArborModel

/// A full-text search in the form that the store runs: with resolved names and parsed text.
package struct TextSearch: Sendable {
  /// An attribute to search.
  package struct Column: Sendable {
    /// The attribute's slot.
    package let slot: Int
    /// The position of its text index among the entity's indexes.
    package let index: Int
    /// The weight of a word in this attribute.
    package let weight: Double

    package init(slot: Int, index: Int, weight: Double = 1) {
      self.slot = slot
      self.index = index
      self.weight = weight
    }
  }

  /// The objects to search. The order, limit and offset are ignored.
  package let objects: StoreQuery
  package let text: SearchText
  /// The attributes to search, at least one. Their indexes all have the same condition, or none.
  package let columns: [Column]
  /// The maximum number of rows, or 0 for no limit.
  package let limit: Int
  /// The number of best rows to skip.
  package let offset: Int

  package init(
    _ text: SearchText, in columns: [Column], of objects: StoreQuery, limit: Int, offset: Int
  ) {
    self.text = text
    self.columns = columns
    self.objects = objects
    self.limit = max(0, limit)
    self.offset = max(0, offset)
  }
}

/// An object that a search found.
package struct ScoredRow: Sendable, Hashable {
  package let number: ObjectNumber
  /// The relevance, greater than 0. Higher is better.
  package let score: Double
}

extension StoreSnapshot {
  /// Returns the stored and pending objects whose texts match a search, the best first. Objects
  /// with equal scores are ordered by number.
  ///
  /// - Throws: The same errors as ``fetch(_:overlay:allocator:)``.
  package func search(
    _ search: TextSearch, overlay: (any PendingState)?
  ) throws(StoreError) -> [ScoredRow] {
    try answer(search.objects, for: .search, overlay: overlay, rows: { $0.count }) { executor in
      try executor.search(search)
    }
  }
}

extension QueryExecutor {
  fileprivate func search(_ search: TextSearch) throws -> [ScoredRow] {
    guard !search.text.wanted.isEmpty, !planner.isNeverTrue else { return [] }
    let postings = try Postings(search, self)
    let nodes = planner.conjuncts.map(\.node)
    let plan = AccessPlan(access: .numbers(postings.candidates), residual: nodes)
    var pending = try pendingMatches()
    if !pending.isEmpty {
      // The store's index doesn't include uncommitted rows.
      let index = query.entity.indexes[search.columns[0].index]
      let filter = try IndexFilter(index, source.schema, storeID: source.store.id)
      pending.removeAll { !(filter?.holds($0.record, $0.number) ?? true) }
    }
    var rows = RowDelivery(to: RankedRows(search, postings.statistics), pending: pending)
    try visit(plan, &rows)
    return rows.sink(as: RankedRows.self).best(offset: search.offset)
  }
}

/// The data of a search from its text indexes: the candidate objects and the rarity of the search
/// terms.
private struct Postings {
  /// The objects that contain every search term in at least one of the attributes.
  private(set) var candidates: CandidateNumbers
  private(set) var statistics: TextStatistics

  init(_ search: TextSearch, _ executor: QueryExecutor) throws {
    let source = executor.source
    let entity = executor.query.entity
    for column in search.columns {
      try Self.demand(IndexReference(entity: entity, position: column.index), source)
    }
    let collector = CandidateCollector(source: source, family: executor.family)
    var common: [UInt64]?
    var counts: [Int] = []
    var lists: [CandidateNumbers] = []
    for term in search.text.wanted {
      // Each attribute is searched separately, because a phrase has to be within one of them.
      var found: [UInt64] = []
      for column in search.columns {
        let index = IndexReference(entity: entity, position: column.index)
        let columns = index.keyColumns
        let ranges = term.tokens.compactMap {
          ScanRanges(columns: columns, matches: [ColumnMatch($0)])
        }
        let candidate = AccessCandidate(accessPath: .words(index, ranges, term.tokens), covered: [])
        let numbers = try collector.collect(candidate) ?? []
        lists.append(CandidateNumbers(candidate, .gathered(numbers)))
        found += numbers
      }
      if search.columns.count > 1 { SortedNumbers.sortUnique(&found) }
      counts.append(found.count)
      common = common.map { SortedNumbers.intersection($0, found) } ?? found
    }
    candidates = CandidateNumbers(.intersection(lists), .gathered(common ?? []), covered: [])
    statistics = TextStatistics(
      objects: try StoredCounts(source).objectCount(of: executor.family), counts: counts,
      averageLength: try Self.averageLength(search, entity, source))
  }

  /// Throws if a text index is still being built, because the rarity of a word can only be
  /// determined from the complete index.
  private static func demand(_ index: IndexReference, _ source: QuerySource) throws {
    guard !source.isReady(index) else { return }
    throw ArborError(
      .notAllowed,
      "The index \(index.schema.name) of \(index.entity.name) is still being built and cannot be "
        + "searched yet. Search again when PersistentStore.indexBuilds() no longer lists the "
        + "index, or fetch with TOKENMATCHES, which reads the objects."
    ).with(entity: index.entity.name)
  }

  /// Returns the average number of distinct words per object, or `nil` if it is unknown.
  private static func averageLength(
    _ search: TextSearch, _ entity: EntitySchema, _ source: QuerySource
  ) throws -> Double? {
    let counts = StoredCounts(source)
    var length = 0.0
    for column in search.columns {
      let index = IndexReference(entity: entity, position: column.index)
      // The number of objects that satisfy a condition is not maintained.
      guard index.schema.condition == nil else { return nil }
      let family = source.schema.entities[index.schema.declaringEntity].concreteFamily
      let objects = try counts.objectCount(of: family.map { source.schema.entities[$0] })
      guard objects > 0 else { return nil }
      length += Double(try counts.entryCount(of: index)) / Double(objects)
    }
    return length > 0 ? length : nil
  }
}
