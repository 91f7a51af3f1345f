internal import ArborModel

/// The objects of a relationship's destination that fulfil a condition on them: the inner side of a
/// semi-join, planned or found.
final class RelatedRows {
  let condition: RelatedCondition
  /// What asks for them.
  let scope: PlanScope
  /// How they are found, or were.
  let plan: AccessPlan
  /// How many they are; gathered once they have been found.
  let count: RowCount
  /// For a to-many relationship those that have any of them as members.
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
