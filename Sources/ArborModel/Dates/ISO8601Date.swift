package import Foundation

/// Reads points in time in the formats of ISO 8601 and RFC 3339.
///
/// ```
/// 2024-05-01                       the first moment of the day; also 20240501
/// 2024-05                          the first moment of the month
/// 2024-122, 2024122                the day of the year
/// 2024-W18-3, 2024W183, 2024-W18   the day of the week; without one, Monday
/// 2024-05-01T12:30                 a space may replace the T; also 1230
/// 2024-05-01T12:30:15.25Z          fractions of any length; also 123015.25
/// 2024-05-01T12:30:15+02:00        also +0200 and +02
/// 2024-05-01T24:00Z                midnight at the end of the day
/// 2016-12-31T23:59:60Z             a leap second, read as 23:59:59
/// +12024-05-01, -0044-03-15        years with a sign have four to six digits
/// ```
///
/// Exact and strict, unlike Foundation's parsers, which read February 30 as March 1 and ignore
/// what follows the date. The calendar is that of ``GregorianDay``, and a text without a zone is
/// read as `TimeZone` describes in `instant(ofClock:)`.
package enum ISO8601Date {
  /// The point in time that a whole text denotes, or nil. UTC is the zone of a text without one.
  package static func parse(_ text: String) -> Date? { reading(text)?.date(in: nil) }

  /// The point in time that a whole text denotes, or nil.
  ///
  /// - Parameter zone: The zone of a text without one.
  package static func parse(_ text: String, in zone: TimeZone) -> Date? {
    reading(text)?.date(in: zone)
  }

  /// The point in time that the whole of a text in UTF-8 denotes, or nil. UTC is the zone of a text
  /// without one.
  package static func parse(_ text: UnsafeRawBufferPointer) -> Date? {
    var reader = Reader(bytes: text)
    return reader.reading()?.date(in: nil)
  }

  /// The point in time that a text with a date, a time with seconds and a zone denotes, or nil.
  package static func parseInZone(_ text: String) -> Date? {
    guard let reading = reading(text), reading.hasSeconds, reading.offset != nil else { return nil }
    return reading.date(in: nil)
  }

  private static func reading(_ text: String) -> Reading? {
    var text = text
    return text.withUTF8 { bytes in
      var reader = Reader(bytes: UnsafeRawBufferPointer(bytes))
      return reader.reading()
    }
  }
}

/// What a text contains.
private struct Reading {
  let day: GregorianDay
  var hasTime = false
  var hasSeconds = false
  var isLeapSecond = false
  /// Since midnight.
  var seconds = 0
  var fraction = 0.0
  /// Seconds east of UTC; nil if the text doesn't contain a zone.
  var offset: Int?

  func date(in zone: TimeZone?) -> Date? {
    let clock = day.clock + seconds
    let instant: Int
    if let offset {
      instant = clock - offset
    } else if let zone {
      instant = hasTime ? zone.instant(ofClock: clock) : zone.firstInstant(of: day)
    } else {
      instant = clock
    }
    // Leap seconds are added at the end of days in UTC.
    if isLeapSecond, instant - instant.floored(by: 86_400) * 86_400 != 86_399 { return nil }
    return Date(timeIntervalSinceReferenceDate: Double(instant) + fraction)
  }
}

private struct Reader {
  let bytes: UnsafeRawBufferPointer
  private var position = 0

  init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  mutating func reading() -> Reading? {
    guard let (day, isWhole) = day() else { return nil }
    var reading = Reading(day: day)
    guard position < bytes.count else { return reading }
    guard isWhole, skip("T") || skip("t") || skip(" "), time(&reading), zone(&reading),
      position == bytes.count
    else { return nil }
    return reading
  }

  /// A day, and whether it was written rather than its month or week alone.
  private mutating func day() -> (GregorianDay, isWhole: Bool)? {
    let isSigned = position < bytes.count && "+-".utf8.contains(bytes[position])
    guard let year = isSigned ? signedYear() : number(4) else { return nil }
    let isExtended = skip("-")
    guard isExtended || !isSigned else { return nil }
    if skip("W") { return weekDate(year, isExtended) }
    switch (digitCount, isExtended) {
    case (3, _):
      return number(3).flatMap { GregorianDay(year: year, ordinal: $0) }.map { ($0, true) }
    case (2, true):
      guard let month = number(2) else { return nil }
      let isWhole = skip("-")
      guard let day = isWhole ? number(2) : 1 else { return nil }
      return GregorianDay(year: year, month: month, day: day).map { ($0, isWhole) }
    case (4, false):
      guard let month = number(2), let day = number(2) else { return nil }
      return GregorianDay(year: year, month: month, day: day).map { ($0, true) }
    default: return nil
    }
  }

  private mutating func weekDate(_ year: Int, _ isExtended: Bool) -> (GregorianDay, isWhole: Bool)?
  {
    guard let week = number(2) else { return nil }
    let isWhole = isExtended ? skip("-") : digitCount > 0
    guard let weekday = isWhole ? number(1) : 1 else { return nil }
    return GregorianDay(weekYear: year, week: week, weekday: weekday).map { ($0, isWhole) }
  }

  private mutating func signedYear() -> Int? {
    let isNegative = skip("-")
    if !isNegative { _ = skip("+") }
    let count = digitCount
    guard (4...6).contains(count), let year = number(count), !isNegative || year > 0 else {
      return nil
    }
    return isNegative ? -year : year
  }

  private mutating func time(_ reading: inout Reading) -> Bool {
    guard let hour = number(2) else { return false }
    let isExtended = skip(":")
    guard let minute = number(2), minute < 60 else { return false }
    reading.hasTime = true
    reading.hasSeconds = isExtended ? skip(":") : digitCount > 0
    var second = 0
    if reading.hasSeconds {
      guard let number = number(2), number <= 60, fraction(&reading) else { return false }
      reading.isLeapSecond = number == 60
      second = min(number, 59)
    }
    reading.seconds = hour * 3600 + minute * 60 + second
    return hour < 24 || reading.seconds == 86_400 && reading.fraction == 0
  }

  private mutating func fraction(_ reading: inout Reading) -> Bool {
    guard skip(".") || skip(",") else { return true }
    let digits = bytes[position..<(position + digitCount)]
    position += digits.count
    guard !digits.isEmpty, let parsed = Double("0." + String(decoding: digits, as: UTF8.self))
    else { return false }
    reading.fraction = parsed
    return true
  }

  private mutating func zone(_ reading: inout Reading) -> Bool {
    guard position < bytes.count else { return true }
    if skip("Z") || skip("z") {
      reading.offset = 0
      return true
    }
    guard let sign = skip("+") ? 1 : skip("-") ? -1 : nil, let hours = number(2), hours < 24 else {
      return false
    }
    reading.offset = sign * hours * 3600
    guard position < bytes.count else { return true }
    _ = skip(":")
    guard let minutes = number(2), minutes < 60 else { return false }
    reading.offset = sign * (hours * 3600 + minutes * 60)
    return true
  }

  private mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  private mutating func number(_ count: Int) -> Int? {
    guard position + count <= bytes.count else { return nil }
    var number = 0
    for index in position..<(position + count) {
      let digit = bytes[index] &- UInt8(ascii: "0")
      guard digit < 10 else { return nil }
      number = number * 10 + Int(digit)
    }
    position += count
    return number
  }

  /// The number of digits from the position on.
  private var digitCount: Int {
    var end = position
    while end < bytes.count, bytes[end] &- UInt8(ascii: "0") < 10 { end += 1 }
    return end - position
  }
}
