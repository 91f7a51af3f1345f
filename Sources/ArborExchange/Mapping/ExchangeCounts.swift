import ArborModel
import ArborObjects

/// What became of each object that an exchange touched. Copies share what is known of the objects:
/// an exchange that fails is not gone on with.
struct ExchangeCounts {
  private enum Outcome: UInt {
    case inserted
    case updated
    case unchanged
  }

  /// The outcomes, by the objects' numbers, which no other object ever gets.
  private let outcomes = NumberMap()
  private(set) var inserted = 0
  private(set) var updated = 0
  private(set) var unchanged = 0
  var deleted = 0
  /// Items that validators left out.
  var dropped = 0

  mutating func reserve(_ count: Int) { outcomes.reserveCapacity(outcomes.count + count) }

  /// Whether an item spoke of an object.
  func hasTouched(_ object: ManagedObject) -> Bool { outcomes.contains(object.objectNumber) }

  mutating func noteInserted(_ object: ManagedObject) {
    outcomes.set(object.objectNumber, Outcome.inserted.rawValue)
    inserted += 1
  }

  /// Notes an object that was there before; of several times the one counts that changed it.
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

  /// Notes that an object changed after its item was carried out.
  mutating func noteChanged(_ object: ManagedObject) {
    if hasTouched(object) { noteMatched(object, changed: true) }
  }
}
