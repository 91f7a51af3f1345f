internal import ArborModel
internal import LMDB

extension QuerySource {
  /// Returns a complete index of an entity whose columns begin with a to-one relationship and an
  /// attribute, or `nil` if there isn't one.
  func index(
    of entity: EntitySchema, leadingWith owner: RelationshipSchema,
    _ subject: IndexableTerm.Subject
  ) -> IndexReference? {
    let unready = StoredCounts(self).unreadyIndexes(of: entity)
    let position = entity.indexes.indices.first { position in
      let index = entity.indexes[position]
      return !unready.contains(position) && index.condition == nil && !index.hasManyKeys
        && index.columns.count > 1 && index.columns[0].source == .toOne(owner.slot)
        && index.columns[1].kind == .plain && index.columns[1].source.subject == subject
    }
    return position.map { IndexReference(entity: entity, position: $0) }
  }

  /// Returns the objects whose to-one relationship refers to an owner and that satisfy a condition,
  /// in the order of the index, or `nil` if the condition's values don't have the index's type.
  ///
  /// - Parameters:
  ///   - index: An index as ``index(of:leadingWith:_:)`` returns it.
  ///   - most: The number of objects after which the search ends.
  func members(
    of owner: ObjectNumber, satisfying condition: IndexableTerm, by index: IndexReference,
    upTo most: Int
  ) throws -> [ObjectNumber]? {
    let owner = IndexableTerm(
      subject: .toOne(slot: 0), condition: .equals(.integer(Int64(bitPattern: owner.rawValue))),
      isExact: true)
    guard let first = ColumnMatch([(0, owner)]), let second = ColumnMatch([(1, condition)]),
      let ranges = ScanRanges(columns: index.keyColumns, matches: [first, second]), !ranges.isCut,
      ranges.usedColumns == 2
    else { return nil }
    noteUse(of: index)
    let cursor = try reader.cursor(database(of: index))
    var members: [UInt64] = []
    for range in ranges.ranges where members.count < most {
      _ = try forEachKey(cursor, in: range) { entry, count in
        try CandidateCollector.append(entry, count, of: cursor, to: &members)
        return members.count < most
      }
    }
    return members.map { ObjectNumber(rawValue: $0) }
  }
}
