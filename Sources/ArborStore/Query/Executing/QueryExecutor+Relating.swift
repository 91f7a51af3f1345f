internal import ArborModel

/// The inner side of semi-joins.
extension QueryExecutor {
  /// Returns the related objects that satisfy a condition and, for a to-many relationship, their
  /// owners. Returns `nil` if finding them would cost as much as the budget.
  func relatedRows(_ condition: RelatedCondition, budget: Int) throws -> RelatedRows? {
    let executor = QueryExecutor(source, try planner.planner(of: condition).scope)
    let plan = try executor.plan()
    guard executor.planner.costs.cost(of: plan) < budget else { return nil }
    guard condition.relationship.isToMany else {
      let numbers = try executor.numbers(plan)
      return RelatedRows(
        condition, of: executor.planner.scope, plan: executor.plan(thatRan: plan),
        count: .gathered(numbers), owners: nil)
    }
    let found = try executor.owners(of: condition.relationship, plan, effort: budget)
    return found.map { owners, members in
      RelatedRows(
        condition, of: executor.planner.scope, plan: executor.plan(thatRan: plan),
        count: .gathered(members),
        owners: .gathered(owners.filter { ObjectNumber(rawValue: $0).isOf(family) }))
    }
  }

  /// Returns the recorded plan that answered the query, or the given plan if there isn't one.
  private func plan(thatRan plan: AccessPlan) -> AccessPlan {
    if case .rows(let plan) = ran { plan } else { plan }
  }

  /// Returns the numbers of all stored objects that a plan finds, ascending.
  private func numbers(_ plan: AccessPlan) throws -> [UInt64] {
    if plan.isListed, case .numbers(let list) = plan.access {
      let (list, numbers) = try gathered(list)
      ran = .rows(AccessPlan(access: .numbers(list), residual: []))
      return numbers
    }
    var rows = RowDelivery(to: RowNumbers())
    try visit(plan, &rows)
    return rows.sink(as: RowNumbers.self).numbers.map(\.rawValue)
  }

  /// Returns the objects that have any of a plan's objects as members, ascending, and these
  /// members.
  ///
  /// - Parameter effort: The maximum cost of the search, in units of ``Cost``.
  /// - Returns: `nil` if the search would cost more.
  private func owners(
    of relationship: RelationshipSchema, _ plan: AccessPlan, effort: Int
  ) throws -> (owners: [UInt64], members: [UInt64])? {
    let inverse = source.schema.inverse(of: relationship)
    guard inverse.isToMany else {
      var rows = RowDelivery(to: OwnerSink(inverse))
      try visit(plan, &rows)
      var sink = rows.sink(as: OwnerSink.self)
      SortedNumbers.sortUnique(&sink.owners)
      return (sink.owners, sink.members)
    }
    let members = try numbers(plan)
    guard members.count * Cost.seek < effort else { return nil }
    let candidate = AccessCandidate(
      accessPath: .members(inverse, owners: members.map { ObjectNumber(rawValue: $0) }),
      covered: [])
    let owner = source.schema.entities[relationship.declaringEntity]
    let family = owner.concreteFamily.map { source.schema.entities[$0] }
    return try CandidateCollector(source: source, family: family)
      .collect(candidate, effort: effort).map { ($0, members) }
  }
}

/// Collects the targets of a to-one relationship of the rows.
private struct OwnerSink: RowSink {
  var owners: [UInt64] = []
  private(set) var members: [UInt64] = []
  private let relationship: RelationshipSchema

  init(_ relationship: RelationshipSchema) { self.relationship = relationship }

  mutating func take(_ rows: Span<FoundRow>, of entity: EntitySchema) -> Bool {
    guard case .field(let index) = entity.relationships[relationship.slot].storage else {
      return true
    }
    let field = entity.layout.fields[index]
    for index in rows.indices {
      let row = rows[index]
      guard case .stored(let record) = row.state else { continue }
      members.append(row.number.rawValue)
      if let owner = record.reference(field) { owners.append(owner.rawValue) }
    }
    return true
  }
}

/// The objects of a relationship's destination that satisfy a condition: the inner side of a
/// semi-join, planned or already found.
final class RelatedRows {
  let condition: RelatedCondition
  /// The scope of the query that finds the objects.
  let scope: PlanScope
  /// The plan that finds the objects, or has found them.
  let plan: AccessPlan
  /// The count of the objects, which contains their numbers once they have been found.
  let count: RowCount
  /// For a to-many relationship, the objects that have any of these objects as members; otherwise
  /// `nil`.
  let owners: RowCount?

  init(
    _ condition: RelatedCondition, of scope: PlanScope, plan: AccessPlan, count: RowCount,
    owners: RowCount?
  ) {
    self.condition = condition
    self.scope = scope
    self.plan = plan
    self.count = count
    self.owners = owners
  }
}
