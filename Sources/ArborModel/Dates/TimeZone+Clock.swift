package import ArborFoundation

/// Conversion between local times and instants: seconds since 2001-01-01T00:00 local time, and
/// seconds since 2001-01-01T00:00 UTC.
///
/// A local time occurs twice when clocks are set back, and is skipped when they are set forward:
///
/// | local time | instant |
/// |---|---|
/// | occurs twice | the first occurrence |
/// | skipped | uses the offset before the gap: 02:30 becomes 03:30 |
/// | a day without a time | the first moment of the day, even if that is not midnight |
///
/// `java.time` uses the same rules.
extension TimeZone {
  /// Returns the instant of a local time.
  package func instant(ofClock clock: Int) -> Int {
    let offsets = offsets(around: clock)
    let first = clock - offsets.before
    if offset(at: first) == offsets.before { return first }
    let second = clock - offsets.after
    return offset(at: second) == offsets.after ? second : first
  }

  /// Returns the first instant of a day: midnight, or the time change that skips midnight.
  package func firstInstant(of day: GregorianDay) -> Int {
    let clock = day.clock
    let offsets = offsets(around: clock)
    let first = clock - offsets.before
    if offset(at: first) == offsets.before { return first }
    let second = clock - offsets.after
    if offset(at: second) == offsets.after { return second }
    // Clocks are set forward between `second` and `first`.
    var (low, high) = (second, first)
    while high - low > 1 {
      let middle = low + (high - low) / 2
      if offset(at: middle) == offsets.before { low = middle } else { high = middle }
    }
    return high
  }

  /// Returns the local time at an instant.
  package func clock(at instant: Int) -> Int { instant + offset(at: instant) }

  /// Returns the offsets one day before and one day after a local time. Offsets from UTC are always
  /// less than a day.
  private func offsets(around clock: Int) -> (before: Int, after: Int) {
    (offset(at: clock - 86_400), offset(at: clock + 86_400))
  }

  private func offset(at instant: Int) -> Int {
    secondsFromGMT(for: Date(timeIntervalSinceReferenceDate: Double(instant)))
  }
}
