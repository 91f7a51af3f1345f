import ArborLocks
import ArborModel
import Foundation

/// Reads and writes dates by a Unicode date pattern, with the rules of ``ISO8601Date``: the
/// proleptic Gregorian calendar, the start of the day for dates without a time, and the earlier
/// offset for local times inside a gap.
///
/// A ``PatternReader`` reads most patterns. Formatters write dates, and read eras, weeks, quarters,
/// two-digit years and non-ASCII digits. Can be used on any thread: the formatters are guarded by a
/// lock.
final class DatePattern: DateTextFormat {
  private struct Formatters {
    /// A formatter in UTC, which has no gaps. If a string doesn't contain a zone, the result is
    /// interpreted as local time.
    let reader: DateFormatter
    let writer: DateFormatter
    /// A formatter that reads a day and the name of a zone.
    let zones: DateFormatter
  }

  private let pattern: String
  private let zone: TimeZone
  private let locale: Locale
  private let reader: PatternReader?
  private let hasZone: Bool
  private let hasTime: Bool
  /// The formatters, created on first use, because creating formatters takes longer than reading
  /// many dates.
  private let formatters = Lock<Formatters?>(nil)

  init(
    _ pattern: String, zone: TimeZone, locale: Locale = Locale(identifier: "en_US_POSIX")
  ) {
    self.pattern = pattern
    self.zone = zone
    self.locale = locale
    let fields = Self.fields(of: pattern)
    hasZone = !fields.isDisjoint(with: "zZOvVXx")
    hasTime = !fields.isDisjoint(with: "hHkKabBmsSA")
    reader = PatternReader(pattern) { Self.names($0, locale) }
  }

  private static func names(_ kind: PatternReader.NameKind, _ locale: Locale) -> [[String]] {
    let formatter = DateFormatter()
    formatter.locale = locale
    formatter.calendar = Calendar(identifier: .iso8601)
    let lists: [[String]?] =
      switch kind {
      case .months:
        [
          formatter.shortMonthSymbols, formatter.monthSymbols,
          formatter.shortStandaloneMonthSymbols, formatter.standaloneMonthSymbols,
        ]
      case .weekdays: [formatter.shortWeekdaySymbols, formatter.weekdaySymbols]
      case .halvesOfDay: [[formatter.amSymbol, formatter.pmSymbol]]
      }
    return lists.compactMap(\.self)
  }

  private func format<R: Sendable>(_ body: (Formatters) -> R) -> R {
    formatters.withLock { known in
      let formatters =
        known
        ?? Formatters(
          reader: Self.formatter(pattern, .gmt, locale),
          writer: Self.formatter(pattern, zone, locale),
          zones: Self.formatter(
            "yyyy-MM-dd \(pattern.contains("zzzz") ? "zzzz" : "z")", .gmt, locale))
      known = formatters
      return body(formatters)
    }
  }

  private static func formatter(
    _ pattern: String, _ zone: TimeZone, _ locale: Locale
  ) -> DateFormatter {
    let formatter = DateFormatter()
    formatter.locale = locale
    formatter.timeZone = zone
    // The calendar also determines the weeks: those of ISO 8601.
    formatter.calendar = Calendar(identifier: .iso8601)
    formatter.isLenient = false
    formatter.dateFormat = pattern
    // Before this date, 300,000 years ago, the formatter would use the Julian calendar.
    formatter.gregorianStartDate = Date(timeIntervalSinceReferenceDate: -1e13)
    return formatter
  }

  /// Returns the letters outside of quotes.
  private static func fields(of pattern: String) -> Set<Character> {
    var fields: Set<Character> = []
    var isQuoted = false
    for character in pattern {
      if character == "'" { isQuoted.toggle() } else if !isQuoted { fields.insert(character) }
    }
    return fields
  }

  /// Returns the date in a string, or `nil` if the string doesn't match the pattern.
  func date(_ text: String) -> Date? {
    if let reader {
      if let reading = reader.reading(text) { return date(reading) }
      if text.utf8.allSatisfy({ $0 < 0x80 }) { return nil }
    }
    guard let date = format({ $0.reader.date(from: text) }) else { return nil }
    if hasZone { return date }
    let seconds = date.timeIntervalSinceReferenceDate
    guard let clock = Int(exactly: seconds.rounded(.down)) else { return nil }
    let instant =
      hasTime
      ? zone.instant(ofClock: clock) : zone.firstInstant(of: GregorianDay(containing: clock))
    return Date(timeIntervalSinceReferenceDate: Double(instant) + seconds - seconds.rounded(.down))
  }

  private func date(_ reading: PatternReader.Reading) -> Date? {
    switch reading.zone {
    case .offset(let offset)?: reading.clock.date(atOffset: offset)
    case .named(let name)?: offset(ofZone: name).flatMap { reading.clock.date(atOffset: $0) }
    case .region(let zone)?: reading.clock.date(in: zone)
    case nil: reading.clock.date(in: zone)
    }
  }

  /// Returns the offset of a zone name such as `EDT`, in seconds east of UTC, or `nil` if it
  /// differs between summer and winter.
  private func offset(ofZone name: String) -> Int? {
    format { formatters in
      let offsets = ["2001-01-01", "2001-07-01"].map { day -> Double? in
        guard let clock = ISO8601Date.parse(day),
          let instant = formatters.zones.date(from: "\(day) \(name)")
        else { return nil }
        return clock.timeIntervalSince(instant)
      }
      return offsets[0] == offsets[1] ? offsets[0].map { Int($0) } : nil
    }
  }

  func text(_ date: Date) -> String { format { $0.writer.string(from: date) } }
}
