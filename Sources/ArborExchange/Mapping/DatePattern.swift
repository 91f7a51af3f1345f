import ArborLocks
import ArborModel
import Foundation

/// Reads and writes dates by a Unicode date pattern, by the rules of ``ISO8601Date``: the proleptic
/// Gregorian calendar, the first moment of a day whose text has no time, and local times inside a
/// gap by the offset before it.
///
/// A ``PatternReader`` reads most patterns. Formatters write, and read eras, weeks, quarters, years
/// of two digits and other digits than ASCII's. Safe on any thread: formatters take turns.
final class DatePattern: Sendable {
  private struct Formatters {
    /// In UTC, where clocks skip nothing; what it reads without a zone is what a clock showed.
    let reader: DateFormatter
    let writer: DateFormatter
    /// Reads a day and the name of a zone.
    let zones: DateFormatter
  }

  private let pattern: String
  private let zone: TimeZone
  private let locale: Locale
  private let reader: PatternReader?
  private let hasZone: Bool
  private let hasTime: Bool
  /// Made when the first text needs them: that takes longer than to read many dates.
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
    reader = PatternReader(pattern, locale: locale)
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
    // Weeks are those of ISO 8601, too.
    formatter.calendar = Calendar(identifier: .iso8601)
    formatter.isLenient = false
    formatter.dateFormat = pattern
    // Before this date, 300,000 years ago, the formatter would use the Julian calendar.
    formatter.gregorianStartDate = Date(timeIntervalSinceReferenceDate: -1e13)
    return formatter
  }

  /// The letters outside quotes.
  private static func fields(of pattern: String) -> Set<Character> {
    var fields: Set<Character> = []
    var isQuoted = false
    for character in pattern {
      if character == "'" { isQuoted.toggle() } else if !isQuoted { fields.insert(character) }
    }
    return fields
  }

  /// The date that a text denotes, or nil.
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

  /// Returns the offset of a zone's name such as `EDT`, in seconds east of UTC; nil for a name whose
  /// offset differs between summer and winter.
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
