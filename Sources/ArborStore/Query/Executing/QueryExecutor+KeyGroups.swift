internal import ArborModel
internal import LMDB

extension QueryExecutor {
  /// Returns the groups of rows that are only counted, from the keys of a relationship or an index,
  /// or `nil` if the rows have to be read.
  func groupsOfKeys(_ grouping: RowPlan.Grouping) throws -> [GroupedRows.Group]? {
    guard !hasPendingChanges, query.groupLimit == nil, !grouping.aggregates.isEmpty,
      grouping.aggregates.allSatisfy({ $0.expression == nil }), !planner.isNeverTrue,
      let needs = GroupNeeds(groupsOf: grouping)
    else { return nil }
    let counter = KeyGroups(aggregates: grouping.aggregates)
    if let relationship = inverse(of: needs) {
      return try groups(of: relationship, counter)
    }
    let candidates = planner.candidates(planner.conjuncts)
    for index in candidates.shortestIndexes where isOfFamily(index.schema.declaringEntity) {
      guard let scan = planner.skipScan(index, needs, candidates),
        scan.covered.count == planner.conjuncts.count
      else { continue }
      return try groups(of: scan, by: needs.keys, counter)
    }
    return nil
  }

  /// Returns whether all objects of an entity and its subentities are in the query's family.
  private func isOfFamily(_ entity: Int) -> Bool {
    source.schema.entities[entity].concreteFamily.count == family.count
  }

  /// Returns the to-many relationship whose owners are the groups, or `nil` if there isn't one.
  private func inverse(of needs: GroupNeeds) -> RelationshipSchema? {
    guard planner.conjuncts.isEmpty, needs.keys.count == 1, case .toOne(let slot) = needs.keys[0]
    else { return nil }
    let relationship = query.entity.relationships[slot]
    guard isOfFamily(relationship.declaringEntity) else { return nil }
    let inverse = source.schema.inverse(of: relationship)
    return inverse.isToMany ? inverse : nil
  }

  /// Returns a group for each owner of a to-many relationship that has members, and one for the
  /// objects without an owner.
  private func groups(
    of relationship: RelationshipSchema, _ counter: KeyGroups
  ) throws -> [GroupedRows.Group] {
    var counter = counter
    var rest = try planner.counts.objectCount(of: family)
    let cursor = try source.reader.cursor(source.members(of: relationship))
    var entry = try cursor.first()
    while let found = entry {
      try source.limit.check()
      let count = try cursor.valueCount()
      let owner = ObjectNumber(rawValue: found.integerKey)
      counter.add([.objectID(planner.scope.objectID(owner))], count: count)
      rest -= count
      entry = try cursor.nextKey()
    }
    if rest > 0 { counter.add([.null], count: rest) }
    ran = .groups(
      QueryPlan.Step(
        .relationship, name: source.schema.planName(of: relationship), detail: "counts only",
        actualRows: counter.groups.count))
    return counter.groups
  }

  /// Returns a group for each distinct value of an index's leading columns, or `nil` if a key is
  /// truncated.
  private func groups(
    of scan: SkipScan, by keys: [IndexSchema.Column.Source], _ counter: KeyGroups
  ) throws -> [GroupedRows.Group]? {
    var counter = counter
    let columns = scan.index.keyColumns[..<scan.groupColumns]
    let start = scan.groupColumns - keys.count
    let own = scan.index.schema.columns[start..<scan.groupColumns].map(\.source)
    let cursor = try source.reader.cursor(source.database(of: scan.index))
    source.noteUse(of: scan.index)
    var group: [UInt8] = []
    for range in scan.ranges {
      let isWhole = try source.forEachKey(cursor, in: range) { entry, count in
        if !group.isEmpty, entry.key.starts(with: group) {
          counter.add(count: count)
          return true
        }
        guard let length = KeyDecoder.length(ofLeading: columns, in: entry.key) else {
          return false
        }
        let prefix = UnsafeRawBufferPointer(rebasing: entry.key[..<length])
        guard let tuple = KeyDecoder.decode(prefix, columns: Array(columns)) else { return false }
        group = Array(prefix)
        let values = zip(own, tuple.values[start...]).map { ($0, value($1, of: $0)) }
        counter.add(
          keys.map { key in values.first { $0.0 == key }?.1 ?? .null }, count: count)
        return true
      }
      guard isWhole else { return nil }
    }
    ran = .groups(
      QueryPlan.Step(
        .index, name: source.schema.planName(of: scan.index.schema), detail: "keys only",
        actualRows: counter.groups.count))
    return counter.groups
  }

  /// Returns the value of a property, given that of an index column.
  private func value(
    _ stored: PropertyValue, of source: IndexSchema.Column.Source
  ) -> PropertyValue {
    guard case .toOne = source, case .integer(let raw) = stored else { return stored }
    return .objectID(
      planner.scope.objectID(ObjectNumber(rawValue: UInt64(bitPattern: raw))))
  }
}

/// Groups whose rows are counted.
private struct KeyGroups {
  let aggregates: [RowPlan.GroupAggregate]
  private(set) var groups: [GroupedRows.Group] = []

  init(aggregates: [RowPlan.GroupAggregate]) { self.aggregates = aggregates }

  /// Adds a group with some rows.
  mutating func add(_ keys: [PropertyValue], count: Int) {
    groups.append(GroupedRows.Group(keys: keys, figures: aggregates.map(GroupFigure.init)))
    add(count: count)
  }

  /// Adds rows to the last group.
  mutating func add(count: Int) {
    for index in aggregates.indices { groups[groups.count - 1].figures[index].add(rows: count) }
  }
}
