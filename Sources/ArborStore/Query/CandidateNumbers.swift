internal import ArborModel

/// Object numbers, ascending and different, among which all rows of a conjunction are.
struct CandidateNumbers {
  let numbers: [UInt64]
  /// How they were found, for the explanation.
  let source: NumberSource
  /// The conjuncts that hold for all of them.
  let covered: Set<Int>
  /// Whether all of them are stored for certain.
  let areStored: Bool

  init(_ numbers: [UInt64], _ source: NumberSource, covered: Set<Int>, areStored: Bool = true) {
    self.numbers = numbers
    self.source = source
    self.covered = covered
    self.areStored = areStored
  }

  init(_ numbers: [UInt64], _ accessPath: AccessCandidate) {
    self.init(
      numbers, NumberSource(.accessPath(accessPath), rows: numbers.count),
      covered: Set(accessPath.covered),
      areStored: accessPath.namesStoredObjects)
  }
}

/// Where the numbers of a list are from.
struct NumberSource {
  indirect enum Kind {
    case accessPath(AccessCandidate)
    case union([NumberSource])
    case intersection([NumberSource])
    /// Those whose members the related objects are.
    case owners(RelatedRows)
    /// The predicate asks of related objects what none fulfils.
    case unrelated(RelatedRows)
  }

  let kind: Kind
  let rows: Int

  init(_ kind: Kind, rows: Int) {
    self.kind = kind
    self.rows = rows
  }
}

/// The objects of a relationship's destination that fulfil a condition on them.
final class RelatedRows {
  let condition: RelatedCondition
  /// What found them, for the explanation.
  let executor: QueryExecutor
  let plan: AccessPlan
  let numbers: [UInt64]

  init(
    _ condition: RelatedCondition, executor: QueryExecutor, plan: AccessPlan, numbers: [UInt64]
  ) {
    self.condition = condition
    self.executor = executor
    self.plan = plan
    self.numbers = numbers
  }
}
