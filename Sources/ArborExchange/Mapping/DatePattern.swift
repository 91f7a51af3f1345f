import ArborLocks
import ArborModel
import Foundation

/// Reads and writes dates by a Unicode date pattern, by the rules of ``ISO8601Date``: the proleptic
/// Gregorian calendar, the first moment of a day whose text has no time, and local times inside a
/// gap by the offset before it.
///
/// Safe on any thread: formatters take turns.
final class DatePattern: Sendable {
  private struct Formatters {
    /// In UTC, where clocks skip nothing; what it reads without a zone is what a clock showed.
    let reader: DateFormatter
    let writer: DateFormatter
  }

  private let pattern: String
  private let zone: TimeZone
  private let locale: Locale
  private let digits: DigitPattern?
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
    digits = locale.identifier == "en_US_POSIX" ? DigitPattern(pattern) : nil
  }

  private func format<R: Sendable>(_ body: (Formatters) -> R) -> R {
    formatters.withLock { known in
      let formatters =
        known
        ?? Formatters(
          reader: Self.formatter(pattern, .gmt, locale),
          writer: Self.formatter(pattern, zone, locale))
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
    formatter.calendar = Calendar(identifier: .gregorian)
    formatter.isLenient = false
    formatter.dateFormat = pattern
    // Before this date the formatter would use the Julian calendar.
    formatter.gregorianStartDate = .distantPast
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
    if let digits, let clock = digits.clock(text) { return date(clock: clock, fraction: 0) }
    guard let date = format({ $0.reader.date(from: text) }) else { return nil }
    if hasZone { return date }
    let seconds = date.timeIntervalSinceReferenceDate
    guard let clock = Int(exactly: seconds.rounded(.down)) else { return nil }
    return self.date(clock: clock, fraction: seconds - seconds.rounded(.down))
  }

  private func date(clock: Int, fraction: Double) -> Date {
    let instant =
      hasTime
      ? zone.instant(ofClock: clock) : zone.firstInstant(of: GregorianDay(containing: clock))
    return Date(timeIntervalSinceReferenceDate: Double(instant) + fraction)
  }

  func text(_ date: Date) -> String { format { $0.writer.string(from: date) } }
}

/// A pattern of years, months, days, hours, minutes and seconds as digits, each in full width. Such
/// patterns are the most frequent ones, and a formatter takes many times as long.
private struct DigitPattern: Sendable {
  private enum Part: Sendable {
    case digits(UInt8, Int)
    case byte(UInt8)
  }

  private static let widths: [UInt8: Int] = [
    UInt8(ascii: "y"): 4, UInt8(ascii: "M"): 2, UInt8(ascii: "d"): 2, UInt8(ascii: "H"): 2,
    UInt8(ascii: "m"): 2, UInt8(ascii: "s"): 2,
  ]

  private let parts: [Part]
  private let length: Int

  init?(_ pattern: String) {
    var parts: [Part] = []
    var seen: Set<UInt8> = []
    let bytes = Array(pattern.utf8)
    var position = 0
    while position < bytes.count {
      let byte = bytes[position]
      if let width = Self.widths[byte] {
        let count = bytes[position...].prefix { $0 == byte }.count
        guard count == width, seen.insert(byte).inserted else { return nil }
        parts.append(.digits(byte, width))
        position += width
      } else if byte == UInt8(ascii: "'") {
        let quoted = bytes[(position + 1)...].prefix { $0 != byte }
        // An empty quotation is an apostrophe.
        guard !quoted.isEmpty, position + quoted.count + 1 < bytes.count else { return nil }
        guard quoted.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: " ") }) else { return nil }
        parts += quoted.map(Part.byte)
        position += quoted.count + 2
      } else {
        guard "-/.:,_".utf8.contains(byte) || byte == UInt8(ascii: " ") else { return nil }
        parts.append(.byte(byte))
        position += 1
      }
    }
    guard seen.contains(UInt8(ascii: "y")) else { return nil }
    self.parts = parts
    length = parts.reduce(0) { count, part in
      if case .digits(_, let width) = part { count + width } else { count + 1 }
    }
  }

  /// What a clock shows, in seconds since 2001-01-01T00:00; nil for a text that has other widths,
  /// which may be a date all the same.
  func clock(_ text: String) -> Int? {
    var text = text
    return text.withUTF8 { bytes in
      guard bytes.count == length else { return nil }
      var (year, month, day, hour, minute, second) = (0, 1, 1, 0, 0, 0)
      var position = 0
      for part in parts {
        switch part {
        case .byte(let byte):
          // Sound: all positions are less than the length, which was compared.
          guard unsafe bytes[position] == byte else { return nil }
          position += 1
        case .digits(let field, let width):
          var number = 0
          for index in position..<(position + width) {
            let digit = unsafe bytes[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            number = number * 10 + Int(digit)
          }
          position += width
          switch field {
          case UInt8(ascii: "y"): year = number
          case UInt8(ascii: "M"): month = number
          case UInt8(ascii: "d"): day = number
          case UInt8(ascii: "H"): hour = number
          case UInt8(ascii: "m"): minute = number
          default: second = number
          }
        }
      }
      // Year 0 is one of another era to a formatter.
      guard year > 0, let day = GregorianDay(year: year, month: month, day: day), minute < 60,
        second < 60, hour < 24 || hour == 24 && minute == 0 && second == 0
      else { return nil }
      return day.clock + hour * 3600 + minute * 60 + second
    }
  }
}
