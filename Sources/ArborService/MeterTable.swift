internal import ArborLocks

/// Counters or timers of one name by the values of their labels, made as they are needed.
final class MeterTable<Labels: Hashable & Sendable, Meter: Sendable>: Sendable {
  private let meters = Lock<[Labels: Meter]>([:])
  private let make: @Sendable (Labels) -> Meter

  init(_ make: @escaping @Sendable (Labels) -> Meter) { self.make = make }

  subscript(labels: Labels) -> Meter {
    meters.withLock { meters in
      if let meter = meters[labels] { return meter }
      let meter = make(labels)
      meters[labels] = meter
      return meter
    }
  }
}
