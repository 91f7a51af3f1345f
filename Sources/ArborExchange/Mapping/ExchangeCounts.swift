import ArborObjects

/// What became of each object that an exchange touched.
struct ExchangeCounts {
  private enum Outcome {
    case inserted
    case updated
    case unchanged
  }

  /// An object as itself: cheaper to hash than its ID.
  private struct Identity: Hashable {
    let object: ManagedObject

    static func == (left: Self, right: Self) -> Bool { left.object === right.object }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(object)) }
  }

  private var outcomes: [Identity: Outcome] = [:]
  private(set) var inserted = 0
  private(set) var updated = 0
  private(set) var unchanged = 0
  /// How often an item matched an object.
  private(set) var matches = 0
  var deleted = 0
  /// Items that validators left out.
  var dropped = 0

  /// Makes room for objects.
  mutating func reserve(_ count: Int) { outcomes.reserveCapacity(outcomes.count + count) }

  /// Whether an item spoke of an object.
  func hasTouched(_ object: ManagedObject) -> Bool { outcomes[Identity(object: object)] != nil }

  mutating func noteInserted(_ object: ManagedObject) {
    outcomes[Identity(object: object)] = .inserted
    inserted += 1
  }

  /// Notes an object that was there before; of several times the one counts that changed it.
  mutating func noteMatched(_ object: ManagedObject, changed: Bool) {
    matches += 1
    var former: Outcome?
    func note(_ outcome: inout Outcome?) {
      former = outcome
      if outcome == nil || outcome == .unchanged && changed {
        outcome = changed ? .updated : .unchanged
      }
    }
    note(&outcomes[Identity(object: object)])
    switch former {
    case nil where changed: updated += 1
    case nil: unchanged += 1
    case .unchanged where changed:
      unchanged -= 1
      updated += 1
    default: break
    }
  }

  /// Notes that an object changed after its item was carried out.
  mutating func noteChanged(_ object: ManagedObject) {
    if outcomes[Identity(object: object)] != nil { noteMatched(object, changed: true) }
  }
}
