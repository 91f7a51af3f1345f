internal import ArborModel

/// Finds the access paths that the conjuncts of a predicate make possible.
struct AccessCandidates {
  /// The combined condition of all comparisons of a property that use the same folding.
  private struct Match {
    let subject: IndexableTerm.Subject
    let folding: StringFolding
    let match: ColumnMatch
  }

  private let scope: PlanScope
  private let conjuncts: [Conjunct]
  /// The positions of the entity's indexes that are not ready for reading.
  private let unready: Set<Int>
  private var matches: [Match] = []
  /// The related objects that matches refer to.
  private var related: [RelatedRows] = []
  /// The positions of the conjuncts that search for words.
  private var words: [Int] = []

  private var entity: EntitySchema { scope.entity }

  init(_ conjuncts: [Conjunct], of scope: PlanScope, _ counts: some Counts) {
    self.scope = scope
    self.conjuncts = conjuncts
    unready = counts.unreadyIndexes(of: scope.entity)
    var groups: [[(Int, IndexableTerm)]] = []
    for (index, conjunct) in conjuncts.enumerated() {
      guard let term = conjunct.term else { continue }
      if case .words = term.condition {
        words.append(index)
      } else if let known = groups.firstIndex(where: { group in
        group[0].1.subject == term.subject && group[0].1.folding == term.folding
      }) {
        groups[known].append((index, term))
      } else {
        groups.append([(index, term)])
      }
    }
    for group in groups {
      guard let match = ColumnMatch(group) else { continue }
      let term = group[0].1
      matches.append(Match(subject: term.subject, folding: term.folding, match: match))
    }
  }

  /// Returns whether the index at a position is ready for reading.
  func isReady(_ position: Int) -> Bool { !unready.contains(position) }

  private func reference(_ position: Int) -> IndexReference {
    IndexReference(entity: entity, position: position)
  }

  /// The entity's indexes that are ready for reading, those with the fewest columns first.
  var shortestIndexes: [IndexReference] {
    entity.indexes.indices.filter(isReady).map(reference)
      .sorted { $0.schema.columns.count < $1.schema.columns.count }
  }

  private func match(
    _ subject: IndexableTerm.Subject, _ folding: StringFolding = .none
  ) -> ColumnMatch? {
    matches.first { $0.subject == subject && $0.folding == folding }?.match
  }

  /// Returns the condition that the conjuncts impose on an index column, or `nil` if there isn't
  /// one.
  private func match(_ column: IndexSchema.Column) -> ColumnMatch? {
    switch column.kind {
    case .plain, .elements: return match(column.subject)
    case .tokens: return nil
    case .folded(let folding):
      let subject = column.source.subject
      if let match = match(subject, folding) { return match }
      // Strings that are equal under a stricter folding are equal under the index's folding too.
      return matches.first { $0.subject == subject && $0.folding.isStrictSubset(of: folding) }
        .flatMap { ColumnMatch(folding: $0.match, folding) }
    }
  }

  /// Adds the related objects of a relationship and returns the access paths that they make
  /// possible, the most promising first. Does nothing if the predicate itself constrains the
  /// relationship.
  mutating func add(_ related: RelatedRows) -> [AccessOption] {
    let slot = related.condition.relationship.slot
    guard match(.toOne(slot: slot)) == nil else { return [] }
    self.related.append(related)
    matches.append(
      Match(
        subject: .toOne(slot: slot), folding: .none,
        match: ColumnMatch(related.condition, related.count)))
    return all().filter { option in
      switch option.kind {
      case .objects, .words: false
      case .members(let other, _): other == slot
      case .index(_, let leading): leading.contains { $0.related?.condition === related.condition }
      }
    }
  }

  /// Returns the related objects that a match refers to, or `nil` if it doesn't refer to any.
  private func rows(of match: ColumnMatch) -> RelatedRows? {
    guard let condition = match.related?.condition else { return nil }
    return related.first { $0.condition === condition }
  }

  /// Returns all access paths, the most promising first.
  func all() -> [AccessOption] {
    var options: [AccessOption] = []
    for known in matches {
      guard case .points(let values) = known.match.condition else { continue }
      switch known.subject {
      case .object: options.append(AccessOption(kind: .objects(known.match), rank: (0, 0)))
      case .toOne(let slot):
        // The inverse relationship has no entry for `nil`.
        guard !values.contains(where: \.isNull) else { continue }
        options.append(AccessOption(kind: .members(slot, known.match), rank: (4, 0)))
      case .attribute, .part, .elements: continue
      }
    }
    for (position, index) in entity.indexes.enumerated() where isReady(position) {
      let leading = leadingMatches(of: index)
      for word in words(of: index) {
        options.append(AccessOption(kind: .words(reference(position), word), rank: (3, 1)))
      }
      guard !leading.isEmpty || index.condition != nil && !index.hasManyKeys,
        implied(by: index) != nil
      else { continue }
      options.append(
        AccessOption(
          kind: .index(reference(position), leading), rank: Self.rank(of: index, leading)))
    }
    if options.count > 1 { options.sort { $0.rank < $1.rank } }
    return options
  }

  private static func rank(of index: IndexSchema, _ leading: [ColumnMatch]) -> (Int, Int) {
    let points = leading.prefix { match in
      if case .points = match.condition { true } else { false }
    }.count
    let columns = index.columns.count
    if points == columns { return (index.isUnique ? 1 : 2, columns) }
    return (points > 0 ? 3 : leading.isEmpty ? 6 : 5, columns)
  }

  /// Returns the access path with its encoded keys, or `nil` if it is not usable.
  func candidate(_ option: AccessOption) -> AccessCandidate? {
    switch option.kind {
    case .objects(let match):
      return AccessCandidate(accessPath: .objects(numbers(match)), covered: match.covered)
    case .members(let slot, let match): return membersCandidate(slot, match)
    case .index(let index, let leading): return indexCandidate(index, leading)
    case .words(let index, let word): return wordsCandidate(index, word)
    }
  }

  /// Returns the conditions on the leading columns of an index, up to the first column without one.
  func leadingMatches(of index: IndexSchema) -> [ColumnMatch] {
    var leading: [ColumnMatch] = []
    guard !matches.isEmpty else { return leading }
    for column in index.columns {
      guard let match = match(column) else { break }
      leading.append(match)
    }
    return leading
  }

  private func indexCandidate(
    _ index: IndexReference, _ leading: [ColumnMatch]
  ) -> AccessCandidate? {
    let columns = index.keyColumns
    guard let implied = implied(by: index.schema),
      let ranges = leading.isEmpty
        ? ScanRanges(allOf: columns) : ScanRanges(columns: columns, matches: leading)
    else { return nil }
    let used = leading.prefix(ranges.usedColumns)
    let filter = KeyFilter(columns: columns, matches: leading, behind: ranges.usedColumns)
    return AccessCandidate(
      accessPath: .index(index, ranges, leading),
      covered: implied + (ranges.isCut ? [] : used.flatMap(\.covered)) + (filter?.covered ?? []),
      related: used.compactMap(rows(of:)), filter: filter)
  }

  // MARK: Words

  /// Returns the positions of the word searches that a text index can serve.
  private func words(of index: IndexSchema) -> [Int] {
    guard !words.isEmpty, index.isText, index.columns.count == 1, implied(by: index) != nil else {
      return []
    }
    return words.filter { conjuncts[$0].term?.subject == index.columns[0].source.subject }
  }

  private func wordsCandidate(_ index: IndexReference, _ word: Int) -> AccessCandidate? {
    guard let term = conjuncts[word].term, case .words(let tokens) = term.condition,
      let implied = implied(by: index.schema)
    else { return nil }
    let columns = index.keyColumns
    var isCut = false
    var ranges: [ScanRanges] = []
    for token in tokens {
      guard let own = ScanRanges(columns: columns, matches: [ColumnMatch(token)]) else {
        return nil
      }
      isCut = isCut || own.isCut
      ranges.append(own)
    }
    return AccessCandidate(
      accessPath: .words(index, ranges, tokens),
      covered: implied + (term.isExact && !isCut ? [word] : []))
  }

  // MARK: Partial indexes

  /// Returns the conjuncts that hold for every entry of an index, or `nil` if the index may lack
  /// rows of the query.
  func implied(by index: IndexSchema) -> [Int]? {
    guard let condition = index.condition else { return [] }
    guard !conjuncts.isEmpty, let bound = try? condition.bound(to: entity, in: scope.schema),
      let conjunction = try? bound.conjunction(
        arguments: condition.predicate.arguments, environment: scope.environment)
    else { return nil }
    var implied: [Int] = []
    for wanted in conjunction.conjuncts {
      guard let term = wanted.term, term.isExact,
        match(term.subject, term.folding)?.implies(term.condition) ?? false
      else { return nil }
      for (index, conjunct) in conjuncts.enumerated() {
        if let own = conjunct.term, own.isExact, own.subject == term.subject,
          own.folding == term.folding, own.condition == term.condition
        {
          implied.append(index)
        }
      }
    }
    return implied
  }

  // MARK: Relationships

  /// Returns the access path to the objects whose to-one relationship refers to the given objects:
  /// the members of a to-many inverse, or the targets of a to-one inverse.
  private func membersCandidate(_ slot: Int, _ match: ColumnMatch) -> AccessCandidate {
    let inverse = scope.schema.inverse(of: entity.relationships[slot])
    return AccessCandidate(
      accessPath: inverse.isToMany
        ? .members(inverse, owners: numbers(match)) : .inverse(inverse, of: numbers(match)),
      covered: match.covered, related: rows(of: match).map { [$0] } ?? [])
  }

  private func numbers(_ match: ColumnMatch) -> [ObjectNumber] {
    guard case .points(let values) = match.condition else { return [] }
    return values.compactMap { value in
      guard case .integer(let raw) = value else { return nil }
      return ObjectNumber(rawValue: UInt64(bitPattern: raw))
    }
  }
}

extension IndexSchema.Column.Source {
  /// The property that the column is derived from, as conditions identify it.
  var subject: IndexableTerm.Subject {
    switch self {
    case .attribute(let slot): .attribute(slot: slot)
    case .toOne(let slot): .toOne(slot: slot)
    case .part(let slot, let path): .part(slot: slot, keys: path.keys)
    }
  }

  /// The keys of the part of JSON that the column is derived from. Empty for any other column.
  var keys: [String] { if case .part(_, let path) = self { path.keys } else { [] } }
}

extension IndexSchema.Column {
  /// What the column contains, as conditions identify it.
  fileprivate var subject: IndexableTerm.Subject {
    guard kind == .elements, case .part(let slot, let path) = source else { return source.subject }
    return .elements(slot: slot, keys: path.keys)
  }
}
