package import ArborFoundation

/// A local date with an optional time, independent of a time zone.
package struct ClockReading: Sendable {
  private let day: GregorianDay
  /// The number of seconds since midnight, or `nil` for a date without a time.
  private let seconds: Int?
  private let fraction: Double
  /// Whether the time is a leap second. Its ``seconds`` are those of second 59.
  private let isLeapSecond: Bool

  init(day: GregorianDay) {
    (self.day, seconds, fraction, isLeapSecond) = (day, nil, 0, false)
  }

  /// Creates a date with a time, or returns `nil` if it is invalid. 24:00 is midnight at the end of
  /// the day.
  init?(day: GregorianDay, hour: Int, minute: Int, second: Int, fraction: Double) {
    let seconds = hour * 3600 + minute * 60 + min(second, 59)
    guard minute < 60, second <= 60, hour < 24 || seconds == 86_400 && fraction == 0 else {
      return nil
    }
    (self.day, self.seconds, self.fraction) = (day, seconds, fraction)
    isLeapSecond = second == 60
  }

  private var clock: Int { day.clock + (seconds ?? 0) }

  /// Returns the instant at which clocks in a time zone show this reading; see `TimeZone`. `nil`
  /// for a leap second that isn't at the end of a UTC day.
  package func date(in zone: TimeZone) -> Date? {
    date(at: seconds == nil ? zone.firstInstant(of: day) : zone.instant(ofClock: clock))
  }

  /// Returns the instant for an offset in seconds east of UTC, or `nil` for a leap second that
  /// isn't at the end of a UTC day.
  package func date(atOffset offset: Int) -> Date? { date(at: clock - offset) }

  private func date(at instant: Int) -> Date? {
    // Leap seconds are inserted only at the end of a day in UTC.
    if isLeapSecond, instant - instant.floored(by: 86_400) * 86_400 != 86_399 { return nil }
    return Date(timeIntervalSinceReferenceDate: Double(instant) + fraction)
  }
}

/// A cursor for parsing dates and times from bytes.
struct ClockCursor {
  let bytes: UnsafeRawBufferPointer
  var position = 0

  init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isAtEnd: Bool { position == bytes.count }

  mutating func skip(_ character: Unicode.Scalar) -> Bool { skip(UInt8(ascii: character)) }

  mutating func skip(_ byte: UInt8) -> Bool {
    guard position < bytes.count, bytes[position] == byte else { return false }
    position += 1
    return true
  }

  /// Parses a number with exactly `count` digits.
  mutating func number(_ count: Int) -> Int? { number(count, count) }

  /// Parses a number with `least` to `most` digits.
  mutating func number(_ least: Int, _ most: Int) -> Int? {
    var (end, number) = (position, 0)
    while end < bytes.count, end - position < most, bytes[end] &- UInt8(ascii: "0") < 10 {
      number = number * 10 + Int(bytes[end] &- UInt8(ascii: "0"))
      end += 1
    }
    guard end - position >= least else { return nil }
    position = end
    return number
  }

  /// Parses the digits of a fraction: at least one, and no more than `most`.
  mutating func fraction(atMost most: Int = .max) -> Double? {
    let digits = bytes[position..<(position + min(digitCount, most))]
    guard !digits.isEmpty, let parsed = Double("0." + String(decoding: digits, as: UTF8.self))
    else { return nil }
    position += digits.count
    return parsed
  }

  /// The number of consecutive digits at the current position.
  var digitCount: Int {
    var end = position
    while end < bytes.count, bytes[end] &- UInt8(ascii: "0") < 10 { end += 1 }
    return end - position
  }
}
