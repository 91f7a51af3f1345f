internal import ArborModel
internal import LMDB

/// One way to the rows of a query that the conditions of its predicate open.
final class AccessCandidate {
  enum Way {
    /// The objects that the predicate names.
    case objects([ObjectNumber])
    /// Ranges of an index's keys.
    case index(IndexSchema, Database, ScanRanges)
    /// The members of owners, in the database of a to-many relationship that derives from the
    /// to-one relationship the predicate is about.
    case members(RelationshipSchema, Database, owners: [ObjectNumber])
  }

  let way: Way
  /// The conjuncts that hold for all rows found this way.
  let served: [Int]

  init(way: Way, served: [Int]) {
    self.way = way
    self.served = served
  }

  /// How many looks into the store it begins with.
  var lookups: Int {
    switch way {
    case .objects(let numbers): numbers.count
    case .index(_, _, let ranges): ranges.ranges.count
    case .members(_, _, let owners): owners.count
    }
  }

  /// Whether the objects it names are stored for certain.
  var namesStoredObjects: Bool {
    if case .objects = way { false } else { true }
  }

  /// Ways with a lower rank find fewer rows, as a rule, and are tried first; of those with the same
  /// rank the ones with the shorter keys.
  private var rank: (Int, Int) {
    switch way {
    case .objects: return (0, 0)
    case .index(let index, _, let ranges):
      let columns = index.columns.count
      if ranges.pointColumns == columns { return (index.isUnique ? 1 : 2, columns) }
      return (ranges.pointColumns > 0 ? 3 : 5, columns)
    case .members: return (4, 0)
    }
  }

  /// Whether a way is tried before another.
  static func isSooner(_ left: AccessCandidate, _ right: AccessCandidate) -> Bool {
    left.rank < right.rank
  }
}

/// Finds the ways that the conjuncts of a predicate open.
struct AccessCandidates {
  let store: StoreFile
  let entity: EntitySchema
  /// What the conjuncts say about each property they can be served for.
  private let matches: [(subject: IndexableTerm.Subject, match: ColumnMatch)]

  init(_ conjuncts: [Conjunct], of entity: EntitySchema, in store: StoreFile) {
    self.store = store
    self.entity = entity
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

  /// All ways, the most promising first.
  func all() -> [AccessCandidate] {
    var candidates: [AccessCandidate] = []
    for (subject, match) in matches {
      guard case .points(let values) = match.condition else { continue }
      if case .object = subject {
        let numbers = values.compactMap(Self.number)
        candidates.append(AccessCandidate(way: .objects(numbers), served: match.served))
      }
      if case .toOne(let slot) = subject, let members = members(slot, values, match.served) {
        candidates.append(members)
      }
    }
    for place in entity.indexes.indices {
      if let candidate = candidate(place) { candidates.append(candidate) }
    }
    return candidates.sorted(by: AccessCandidate.isSooner)
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

  private func candidate(_ place: Int) -> AccessCandidate? {
    let index = entity.indexes[place]
    let leading = leadingMatches(of: index)
    guard !leading.isEmpty,
      let ranges = ScanRanges(columns: entity.keyColumns(of: index), matches: leading)
    else { return nil }
    return AccessCandidate(
      way: .index(index, database(place), ranges),
      served: ranges.isCut ? [] : leading.prefix(ranges.usedColumns).flatMap(\.served))
  }

  /// Where the objects whose to-one relationship leads to given ones are kept as their members.
  private func members(_ slot: Int, _ values: [Value], _ served: [Int]) -> AccessCandidate? {
    let relationship = entity.relationships[slot]
    let inverse = store.schema.inverse(of: relationship)
    // Nil is nobody's member.
    guard inverse.storage == .derived, !values.contains(where: \.isNull),
      let place = store.databases.relationshipPlace(
        entity: relationship.destination, slot: inverse.slot)
    else { return nil }
    return AccessCandidate(
      way: .members(
        inverse, store.databases.relationships[place].members,
        owners: values.compactMap(Self.number)), served: served)
  }

  private static func number(_ value: Value) -> ObjectNumber? {
    guard case .integer(let raw) = value else { return nil }
    return ObjectNumber(rawValue: UInt64(bitPattern: raw))
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
