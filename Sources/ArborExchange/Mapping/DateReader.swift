import ArborFoundation
import ArborJSON
import ArborModel

/// Reads the dates of one attribute: in ISO 8601, or in the attribute's `DateFormat` in `userInfo`,
/// which is a Unicode date pattern or the name of a ``UnixTime`` format.
///
/// Patterns are read in `en_US_POSIX` and, if the string doesn't contain a time zone, in the time
/// zone of the rules. The settings of the device have no effect.
final class DateReader: Sendable {
  private enum Format: Sendable {
    case iso8601
    case unixTime(UnixTime)
    case pattern(any DateTextFormat, String)
  }

  private let format: Format
  private let acceptsNumbers: Bool
  /// The time zone of dates without one, or `nil` for UTC.
  private let zone: TimeZone?

  /// - Throws: ``ArborError`` `unsupported` for a pattern if the program doesn't include
  ///   ``LocaleServices``.
  init(_ attribute: AttributeDescription, _ rules: TextRules) throws(ArborError) {
    acceptsNumbers = rules.acceptsNumbers
    zone = rules.timeZone == .gmt ? nil : rules.timeZone
    let own = attribute.userInfo["DateFormat"] ?? attribute.userInfo["dateFormat"]
    if let pattern = own ?? rules.dateFormat {
      if let unit = UnixTime(rawValue: pattern) {
        format = .unixTime(unit)
      } else {
        let services = try LocaleSupport.services(for: "the date format of \(attribute.name)")
        let locale = Locale(identifier: "en_US_POSIX")
        format = .pattern(
          services.dateFormat(pattern, zone: rules.timeZone, locale: locale), pattern)
      }
    } else {
      format = .iso8601
    }
  }

  /// A description of the expected format.
  var expectation: String {
    switch format {
    case .iso8601:
      let text = "a date in ISO 8601, such as \"2024-05-01T12:30:00Z\""
      return acceptsNumbers ? text + ", or \(UnixTime.expectation)" : text
    case .unixTime(.seconds): return UnixTime.expectation
    case .unixTime(.milliseconds): return "milliseconds since 1970"
    case .unixTime(.microseconds): return "microseconds since 1970"
    case .pattern(_, let pattern): return "a date string in the format \(pattern)"
    }
  }

  /// Whether strings are in ISO 8601.
  var areISO8601: Bool { if case .iso8601 = format { true } else { false } }

  /// Returns the date of a value, or `nil` if the value doesn't have the expected format.
  func date(_ node: JSONNode) -> Date? {
    switch format {
    case .iso8601:
      if acceptsNumbers, let number = node.number { return number.double.map(UnixTime.detected) }
      if let zone { return node.string.flatMap { ISO8601Date.parse($0, in: zone) } }
      // Safe, because the bytes are valid while they are being read.
      let date = unsafe node.withPlainText { text, _ in unsafe ISO8601Date.parse(text) }
      return date ?? node.string.flatMap(ISO8601Date.parse)
    case .unixTime(let unit):
      let number = node.number ?? node.string.flatMap(JSONNumber.init(text:))
      return number?.double.map(unit == .seconds ? UnixTime.detected : unit.date)
    case .pattern(let pattern, _): return node.string.flatMap(pattern.date)
    }
  }
}

/// The units of numeric dates, counted from 1970.
enum UnixTime: String {
  case seconds = "UnixTime"
  case milliseconds = "UnixTimeMilliseconds"
  case microseconds = "UnixTimeMicroseconds"

  /// The magnitude from which ``detected(_:)`` assumes milliseconds: the year 5138 in seconds, or
  /// 1973 in milliseconds.
  private static let largestSeconds = 1e11
  /// The magnitude from which ``detected(_:)`` assumes microseconds.
  private static let largestMilliseconds = 1e14

  static let expectation = "seconds, milliseconds or microseconds since 1970"

  /// The number of units per second.
  private var scale: Double {
    switch self {
    case .seconds: 1
    case .milliseconds: 1e3
    case .microseconds: 1e6
    }
  }

  /// Returns the unit that the magnitude of a number suggests.
  private static func unit(of number: Double) -> UnixTime {
    switch abs(number) {
    case ..<largestSeconds: .seconds
    case ..<largestMilliseconds: .milliseconds
    default: .microseconds
    }
  }

  /// Returns the date of a number in the unit that its magnitude suggests.
  static func detected(_ number: Double) -> Date { unit(of: number).date(number) }

  /// Returns the date of a number in this unit.
  func date(_ number: Double) -> Date { Date(timeIntervalSince1970: number / scale) }

  /// Returns a date as a number in this unit, rounded to an integer if that represents the same
  /// date.
  func number(_ date: Date) -> Double {
    let number = date.timeIntervalSince1970 * scale
    return self.date(number.rounded()) == date ? number.rounded() : number
  }

  /// Returns a date in seconds since 1970, or `nil` if ``detected(_:)`` would assume another unit.
  static func detectableSeconds(_ date: Date) -> Double? {
    let number = seconds.number(date)
    return unit(of: number) == .seconds ? number : nil
  }
}
