package import Foundation

/// What clocks show in a zone, as seconds since 2001-01-01T00:00 on the clock. Instants are seconds
/// since 2001-01-01T00:00 UTC.
///
/// A clock shows a time twice when it is set back, and skips times when it is set forward:
///
/// | local time | instant |
/// |---|---|
/// | shown twice | the first |
/// | skipped | with the offset before the gap: 02:30 becomes 03:30 |
/// | a day without a time | the first moment of the day, even if that is not midnight |
///
/// `java.time` uses the same rules.
extension TimeZone {
  /// The instant at which clocks show a time.
  package func instant(ofClock clock: Int) -> Int {
    let offsets = offsets(around: clock)
    let first = clock - offsets.before
    if offset(at: first) == offsets.before { return first }
    let second = clock - offsets.after
    return offset(at: second) == offsets.after ? second : first
  }

  /// The first instant of a day: the one at which clocks show midnight, or that of the change which
  /// skips midnight.
  package func firstInstant(of day: GregorianDay) -> Int {
    let clock = day.clock
    let offsets = offsets(around: clock)
    let first = clock - offsets.before
    if offset(at: first) == offsets.before { return first }
    let second = clock - offsets.after
    if offset(at: second) == offsets.after { return second }
    // Clocks are set forward after `second` and not after `first`.
    var (low, high) = (second, first)
    while high - low > 1 {
      let middle = low + (high - low) / 2
      if offset(at: middle) == offsets.before { low = middle } else { high = middle }
    }
    return high
  }

  /// What clocks show at an instant.
  package func clock(at instant: Int) -> Int { instant + offset(at: instant) }

  /// No zone is a day from UTC.
  private func offsets(around clock: Int) -> (before: Int, after: Int) {
    (offset(at: clock - 86_400), offset(at: clock + 86_400))
  }

  private func offset(at instant: Int) -> Int {
    secondsFromGMT(for: Date(timeIntervalSinceReferenceDate: Double(instant)))
  }
}
