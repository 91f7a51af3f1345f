package import ArborFoundation

/// A parser of instants in the formats of ISO 8601 and RFC 3339.
///
/// ```
/// 2024-05-01                       the first moment of the day; also 20240501
/// 2024-05                          the first moment of the month
/// 2024-122, 2024122                the day of the year
/// 2024-W18-3, 2024W183, 2024-W18   the day of the week, Monday by default
/// 2024-05-01T12:30                 a space can replace the T; also 1230
/// 2024-05-01T12:30:15.25Z          fractions of any length; also 123015.25
/// 2024-05-01T12:30:15+02:00        also +0200 and +02
/// 2024-05-01T24:00Z                midnight at the end of the day
/// 2016-12-31T23:59:60Z             a leap second, read as 23:59:59
/// +12024-05-01, -0044-03-15        signed years have four to six digits
/// ```
///
/// Unlike Foundation's parsers, which accept February 30 as March 1 and ignore text after the date,
/// this parser is exact and strict. The calendar is that of ``GregorianDay``. Text without a time
/// zone is interpreted as described for `TimeZone` in `instant(ofClock:)`.
package enum ISO8601Date {
  /// Returns the instant that the entire text denotes, or `nil` if it has another format. Text
  /// without a time zone is in UTC.
  package static func parse(_ text: String) -> Date? { reading(text)?.date(in: nil) }

  /// Returns the instant that the entire text denotes, or `nil` if it has another format.
  ///
  /// - Parameter zone: The time zone for text without one.
  package static func parse(_ text: String, in zone: TimeZone) -> Date? {
    reading(text)?.date(in: zone)
  }

  /// Returns the instant that the entire UTF-8 text denotes, or `nil` if it has another format.
  /// Text without a time zone is in UTC.
  package static func parse(_ text: UnsafeRawBufferPointer) -> Date? {
    var reader = Reader(bytes: text)
    return reader.reading()?.date(in: nil)
  }

  /// Returns the instant for text that contains a date, a time with seconds, and a time zone, or
  /// `nil` for any other text.
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

/// The parsed contents of a text.
private struct Reading {
  var clock: ClockReading
  var hasSeconds = false
  /// The offset in seconds east of UTC, or `nil` if the text doesn't contain a time zone.
  var offset: Int?

  func date(in zone: TimeZone?) -> Date? {
    if let offset { return clock.date(atOffset: offset) }
    return if let zone { clock.date(in: zone) } else { clock.date(atOffset: 0) }
  }
}

private struct Reader {
  private var cursor: ClockCursor

  init(bytes: UnsafeRawBufferPointer) { cursor = ClockCursor(bytes: bytes) }

  mutating func reading() -> Reading? {
    guard let (day, isWhole) = day() else { return nil }
    var reading = Reading(clock: ClockReading(day: day))
    guard !cursor.isAtEnd else { return reading }
    guard isWhole, cursor.skip("T") || cursor.skip("t") || cursor.skip(" "),
      time(of: day, &reading), zone(&reading), cursor.isAtEnd
    else { return nil }
    return reading
  }

  /// Parses a day, or returns `nil` if the text is invalid. `isWhole` is `false` if the text
  /// contains only a month or a week.
  private mutating func day() -> (GregorianDay, isWhole: Bool)? {
    let isSigned = !cursor.isAtEnd && "+-".utf8.contains(cursor.bytes[cursor.position])
    guard let year = isSigned ? signedYear() : cursor.number(4) else { return nil }
    let isExtended = cursor.skip("-")
    guard isExtended || !isSigned else { return nil }
    if cursor.skip("W") { return weekDate(year, isExtended) }
    switch (cursor.digitCount, isExtended) {
    case (3, _):
      return cursor.number(3).flatMap { GregorianDay(year: year, ordinal: $0) }.map { ($0, true) }
    case (2, true):
      guard let month = cursor.number(2) else { return nil }
      let isWhole = cursor.skip("-")
      guard let day = isWhole ? cursor.number(2) : 1 else { return nil }
      return GregorianDay(year: year, month: month, day: day).map { ($0, isWhole) }
    case (4, false):
      guard let month = cursor.number(2), let day = cursor.number(2) else { return nil }
      return GregorianDay(year: year, month: month, day: day).map { ($0, true) }
    default: return nil
    }
  }

  private mutating func weekDate(_ year: Int, _ isExtended: Bool) -> (GregorianDay, isWhole: Bool)?
  {
    guard let week = cursor.number(2) else { return nil }
    let isWhole = isExtended ? cursor.skip("-") : cursor.digitCount > 0
    guard let weekday = isWhole ? cursor.number(1) : 1 else { return nil }
    return GregorianDay(weekYear: year, week: week, weekday: weekday).map { ($0, isWhole) }
  }

  private mutating func signedYear() -> Int? {
    let isNegative = cursor.skip("-")
    if !isNegative { _ = cursor.skip("+") }
    let count = cursor.digitCount
    guard (4...6).contains(count), let year = cursor.number(count), !isNegative || year > 0 else {
      return nil
    }
    return isNegative ? -year : year
  }

  private mutating func time(of day: GregorianDay, _ reading: inout Reading) -> Bool {
    guard let hour = cursor.number(2) else { return false }
    let isExtended = cursor.skip(":")
    guard let minute = cursor.number(2) else { return false }
    reading.hasSeconds = isExtended ? cursor.skip(":") : cursor.digitCount > 0
    var (second, fraction) = (0, 0.0)
    if reading.hasSeconds {
      guard let number = cursor.number(2) else { return false }
      second = number
      if cursor.skip(".") || cursor.skip(",") {
        guard let part = cursor.fraction() else { return false }
        fraction = part
      }
    }
    guard
      let clock = ClockReading(
        day: day, hour: hour, minute: minute, second: second, fraction: fraction)
    else { return false }
    reading.clock = clock
    return true
  }

  private mutating func zone(_ reading: inout Reading) -> Bool {
    guard !cursor.isAtEnd else { return true }
    if cursor.skip("Z") || cursor.skip("z") {
      reading.offset = 0
      return true
    }
    guard let sign = cursor.skip("+") ? 1 : cursor.skip("-") ? -1 : nil,
      let hours = cursor.number(2), hours < 24
    else { return false }
    reading.offset = sign * hours * 3600
    guard !cursor.isAtEnd else { return true }
    _ = cursor.skip(":")
    guard let minutes = cursor.number(2), minutes < 60 else { return false }
    reading.offset = sign * (hours * 3600 + minutes * 60)
    return true
  }
}
