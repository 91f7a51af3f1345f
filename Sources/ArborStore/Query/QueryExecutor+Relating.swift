internal import ArborModel
internal import LMDB

extension QueryExecutor {
  /// The objects that have any of a plan's objects as members, ascending, and the members.
  ///
  /// - Parameter effort: What finding them may cost, in units of ``CostModel``.
  /// - Returns: nil where it would cost more.
  func owners(
    of relationship: RelationshipSchema, _ plan: AccessPlan, effort: Int
  ) throws -> (owners: [UInt64], members: [UInt64])? {
    let inverse = source.schema.inverse(of: relationship)
    guard inverse.isToMany else {
      var sink = OwnerSink(inverse)
      try visit(plan, &sink, skipsKnown: false)
      SortedNumbers.sortUnique(&sink.owners)
      return (sink.owners, sink.members)
    }
    let members = try numbers(plan)
    guard members.count * CostModel.seek < effort,
      let relationshipIndex = source.store.databases.relationshipIndex(
        entity: relationship.destination, slot: inverse.slot)
    else { return nil }
    let accessPath = AccessCandidate(
      accessPath: .members(
        inverse, source.store.databases.relationships[relationshipIndex].members,
        owners: members.map { ObjectNumber(rawValue: $0) }), covered: [])
    let owner = source.schema.entities[relationship.declaringEntity]
    let family = owner.concreteFamily.map { source.schema.entities[$0] }
    let owners = try CandidateCollector(source: source, family: family)
      .collect(accessPath, atMost: .max, effort: effort)
    return owners.map { ($0, members) }
  }
}

/// Reads where a to-one relationship of the rows leads.
private struct OwnerSink: RowSink {
  var owners: [UInt64] = []
  private(set) var members: [UInt64] = []
  private let relationship: RelationshipSchema
  /// The relationship's field in the records of the entity that was met last.
  private var field: (entity: EntitySchema, field: RecordField)?

  init(_ relationship: RelationshipSchema) { self.relationship = relationship }

  mutating func take(_ number: ObjectNumber, _ row: FoundRow, of entity: EntitySchema) -> Bool {
    guard case .stored(let record) = row else { return true }
    if field?.entity !== entity {
      guard case .field(let index) = entity.relationships[relationship.slot].storage else {
        return true
      }
      field = (entity, entity.layout.fields[index])
    }
    members.append(number.rawValue)
    if let field, let owner = record.reference(field.field) { owners.append(owner.rawValue) }
    return true
  }
}
