import ArborModel
import ArborObjects

/// The outcome of each object affected by an exchange. Copies share the outcomes, because a failed
/// exchange isn't continued.
struct ExchangeCounts {
  private enum Outcome: UInt {
    case inserted
    case updated
    case unchanged
  }

  /// The outcomes by object number. Numbers are never reused.
  private let outcomes = NumberMap()
  private(set) var inserted = 0
  private(set) var updated = 0
  private(set) var unchanged = 0
  var deleted = 0
  /// The number of items that were null or dropped by validators.
  var dropped = 0

  mutating func reserve(_ count: Int) { outcomes.reserveCapacity(outcomes.count + count) }

  /// Returns whether the exchange has inserted or matched an object.
  func hasTouched(_ object: ManagedObject) -> Bool { outcomes.contains(object.objectNumber) }

  mutating func noteInserted(_ object: ManagedObject) {
    outcomes.set(object.objectNumber, Outcome.inserted.rawValue)
    inserted += 1
  }

  /// Records the outcome of an existing object. If it occurs several times, a change takes
  /// precedence.
  mutating func noteMatched(_ object: ManagedObject, changed: Bool) {
    switch outcomes[object.objectNumber].flatMap(Outcome.init(rawValue:)) {
    case nil:
      outcomes.set(object.objectNumber, (changed ? Outcome.updated : .unchanged).rawValue)
      if changed { updated += 1 } else { unchanged += 1 }
    case .unchanged where changed:
      outcomes.set(object.objectNumber, Outcome.updated.rawValue)
      unchanged -= 1
      updated += 1
    case .inserted, .updated, .unchanged: break
    }
  }

  /// Records that an object changed after its item was processed.
  mutating func noteChanged(_ object: ManagedObject) {
    if hasTouched(object) { noteMatched(object, changed: true) }
  }
}
