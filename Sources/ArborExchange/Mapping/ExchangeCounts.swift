import ArborObjects

/// What became of each object that an exchange touched.
struct ExchangeCounts {
  private enum Outcome {
    case inserted
    case updated
    case unchanged
  }

  private var outcomes: [ManagedObject: Outcome] = [:]
  private(set) var inserted = 0
  private(set) var updated = 0
  private(set) var unchanged = 0
  /// How often an item matched an object.
  private(set) var matches = 0
  var deleted = 0
  /// Items that validators left out.
  var dropped = 0

  /// Whether an item spoke of an object.
  func hasTouched(_ object: ManagedObject) -> Bool { outcomes[object] != nil }

  mutating func noteInserted(_ object: ManagedObject) {
    outcomes[object] = .inserted
    inserted += 1
  }

  /// Notes an object that was there before; of several times the one counts that changed it.
  mutating func noteMatched(_ object: ManagedObject, changed: Bool) {
    matches += 1
    switch outcomes[object] {
    case nil:
      outcomes[object] = changed ? .updated : .unchanged
      if changed { updated += 1 } else { unchanged += 1 }
    case .unchanged where changed:
      outcomes[object] = .updated
      unchanged -= 1
      updated += 1
    default: break
    }
  }

  /// Notes that an object changed after its item was carried out.
  mutating func noteChanged(_ object: ManagedObject) {
    if outcomes[object] != nil { noteMatched(object, changed: true) }
  }
}
