internal import ArborModel
internal import LMDB

/// One way to the rows of a query that the conditions of its predicate open.
final class AccessCandidate {
  enum Way {
    /// The objects that the predicate names.
    case objects([ObjectNumber])
    /// Ranges of an index's keys, made of conditions on its leading columns.
    case index(IndexSchema, Database, ScanRanges, [ColumnMatch])
    /// The members of owners, in the database of a to-many relationship that derives from the
    /// to-one relationship the predicate is about.
    case members(RelationshipSchema, Database, owners: [ObjectNumber])
    /// The objects that a to-one relationship of some objects leads to: the inverse of the one the
    /// predicate is about.
    case inverse(RelationshipSchema, of: [ObjectNumber])
  }

  let way: Way
  /// The conjuncts that hold for all rows found this way.
  let served: [Int]
  /// The related objects that the way begins with.
  let related: [RelatedRows]

  init(way: Way, served: [Int], related: [RelatedRows] = []) {
    self.way = way
    self.served = served
    self.related = related
  }

  /// How many looks into the store it begins with.
  var lookups: Int {
    switch way {
    case .objects(let numbers): numbers.count
    case .index(_, _, let ranges, _): ranges.ranges.count
    case .members(_, _, let owners): owners.count
    case .inverse(_, let objects): objects.count
    }
  }

  /// Whether the objects it names are stored for certain.
  var namesStoredObjects: Bool {
    if case .objects = way { false } else { true }
  }
}

/// A way that conditions open, before the keys for it are made: only the ways that are tried need
/// them.
struct AccessOption {
  enum Kind {
    case objects(ColumnMatch)
    /// One of the entity's indexes, by its place, and the conditions on its leading columns.
    case index(Int, [ColumnMatch])
    /// A to-one relationship, by its slot.
    case members(Int, ColumnMatch)
  }

  let kind: Kind
  /// Ways with a lower rank find fewer rows, as a rule, and are tried first; of those with the same
  /// rank the ones with the shorter keys.
  let rank: (Int, Int)
}

/// Finds the ways that the conjuncts of a predicate open.
struct AccessCandidates {
  private let store: StoreFile
  private let entity: EntitySchema
  /// What the conjuncts say about each property they can be served for.
  private var matches: [(subject: IndexableTerm.Subject, match: ColumnMatch)]

  init(_ conjuncts: [Conjunct], of scope: PlanScope) {
    store = scope.source.store
    entity = scope.entity
    var terms: [(subject: IndexableTerm.Subject, terms: [(Int, IndexableTerm)])] = []
    for (place, conjunct) in conjuncts.enumerated() {
      guard let term = conjunct.term else { continue }
      if let known = terms.firstIndex(where: { $0.subject == term.subject }) {
        terms[known].terms.append((place, term))
      } else {
        terms.append((term.subject, [(place, term)]))
      }
    }
    matches = terms.compactMap { subject, terms in
      ColumnMatch(terms).map { (subject: subject, match: $0) }
    }
  }

  func match(_ subject: IndexableTerm.Subject) -> ColumnMatch? {
    matches.first { $0.subject == subject }?.match
  }

  /// Adds what is known about a relationship, unless the predicate itself names its objects.
  ///
  /// - Returns: The ways that this opens, the most promising first.
  mutating func add(_ related: RelatedRows) -> [AccessOption] {
    let slot = related.condition.relationship.slot
    guard match(.toOne(slot: slot)) == nil else { return [] }
    matches.append((.toOne(slot: slot), ColumnMatch(related)))
    return all().filter { option in
      switch option.kind {
      case .objects: false
      case .members(let other, _): other == slot
      case .index(_, let leading): leading.contains { $0.related === related }
      }
    }
  }

  /// All ways, the most promising first.
  func all() -> [AccessOption] {
    var options: [AccessOption] = []
    for (subject, match) in matches {
      guard case .points(let values) = match.condition else { continue }
      switch subject {
      case .object: options.append(AccessOption(kind: .objects(match), rank: (0, 0)))
      case .toOne(let slot):
        // Nil is nobody's member.
        guard !values.contains(where: \.isNull) else { continue }
        options.append(AccessOption(kind: .members(slot, match), rank: (4, 0)))
      case .attribute: continue
      }
    }
    for (place, index) in entity.indexes.enumerated() where index.isPlain {
      let leading = leadingMatches(of: index)
      guard !leading.isEmpty else { continue }
      options.append(
        AccessOption(kind: .index(place, leading), rank: Self.rank(of: index, leading)))
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
    return (points > 0 ? 3 : 5, columns)
  }

  /// A way with its keys; nil where it turns out not to serve.
  func candidate(_ option: AccessOption) -> AccessCandidate? {
    switch option.kind {
    case .objects(let match):
      return AccessCandidate(way: .objects(numbers(match)), served: match.served)
    case .members(let slot, let match): return members(slot, match)
    case .index(let place, let leading): return candidate(place, leading)
    }
  }

  /// The conditions on the leading columns of an index, up to the first column without one.
  func leadingMatches(of index: IndexSchema) -> [ColumnMatch] {
    var leading: [ColumnMatch] = []
    for column in index.columns {
      guard let match = match(column.source.subject) else { break }
      leading.append(match)
    }
    return leading
  }

  /// The database of one of the entity's indexes.
  func database(_ place: Int) -> Database {
    store.databases.indexes[store.databases.indexPlaces(of: entity.index)[place]].database
  }

  private func candidate(_ place: Int, _ leading: [ColumnMatch]) -> AccessCandidate? {
    let index = entity.indexes[place]
    guard let ranges = ScanRanges(columns: entity.keyColumns(of: index), matches: leading) else {
      return nil
    }
    let used = leading.prefix(ranges.usedColumns)
    return AccessCandidate(
      way: .index(index, database(place), ranges, leading),
      served: ranges.isCut ? [] : used.flatMap(\.served), related: used.compactMap(\.related))
  }

  /// Where the objects whose to-one relationship leads to given ones are kept as their members, or
  /// in the record of the one.
  private func members(_ slot: Int, _ match: ColumnMatch) -> AccessCandidate? {
    let relationship = entity.relationships[slot]
    let inverse = store.schema.inverse(of: relationship)
    let related = match.related.map { [$0] } ?? []
    guard inverse.isToMany else {
      return AccessCandidate(
        way: .inverse(inverse, of: numbers(match)), served: match.served, related: related)
    }
    guard
      let place = store.databases.relationshipPlace(
        entity: relationship.destination, slot: inverse.slot)
    else { return nil }
    return AccessCandidate(
      way: .members(
        inverse, store.databases.relationships[place].members, owners: numbers(match)),
      served: match.served, related: related)
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
  /// The property as conditions name it.
  var subject: IndexableTerm.Subject {
    switch self {
    case .attribute(let slot): .attribute(slot: slot)
    case .toOne(let slot): .toOne(slot: slot)
    }
  }
}
