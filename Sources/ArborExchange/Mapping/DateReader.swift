import ArborJSON
import ArborModel
import Foundation

/// Reads the dates of one attribute: ISO 8601, or what the attribute's `DateFormat` in `userInfo`
/// says, a Unicode date pattern or `UnixTime`.
///
/// Patterns are read as in `en_US_POSIX` and, where the text names no zone, in that of the rules,
/// UTC at first: never as the device is set.
final class DateReader {
  private enum Format {
    case iso8601
    case unixTime
    case pattern(DateFormatter, String)
  }

  private let format: Format
  private let acceptsNumbers: Bool
  /// The zone of texts that name none; nil: UTC.
  private let zone: TimeZone?

  init(_ attribute: AttributeDescription, _ rules: TextRules) {
    acceptsNumbers = rules.acceptsNumbers
    zone = rules.timeZone == .gmt ? nil : rules.timeZone
    let own = attribute.userInfo["DateFormat"] ?? attribute.userInfo["dateFormat"]
    switch own ?? rules.dateFormat {
    case nil: format = .iso8601
    case "UnixTime": format = .unixTime
    case let pattern?:
      let formatter = DateFormatter()
      formatter.locale = Locale(identifier: "en_US_POSIX")
      formatter.timeZone = rules.timeZone
      formatter.calendar = Calendar(identifier: .gregorian)
      formatter.isLenient = false
      formatter.dateFormat = pattern
      format = .pattern(formatter, pattern)
    }
  }

  /// What a document has to hold, in words.
  var expectation: String {
    let text =
      switch format {
      case .iso8601: "a date in ISO 8601, as \"2024-05-01T12:30:00Z\""
      case .unixTime: "a number of seconds since 1970"
      case .pattern(_, let pattern): "a date in the format \(pattern)"
      }
    if case .unixTime = format { return text }
    return acceptsNumbers ? text + ", or a number of seconds since 1970" : text
  }

  /// Whether texts are those of ISO 8601.
  var areISO8601: Bool { if case .iso8601 = format { true } else { false } }

  /// Whether dates are read from texts.
  var readsTexts: Bool { if case .unixTime = format { false } else { true } }

  /// The date that a value denotes, or nil.
  func date(_ node: JSONNode) -> Date? {
    if acceptsNumbers, let number = node.number { return Self.date(number) }
    switch format {
    case .iso8601:
      if let zone { return node.string.flatMap { ISO8601Date.parse($0, in: zone) } }
      // Sound: the bytes stay for as long as they are read.
      let date = unsafe node.withPlainText { text, _ in unsafe ISO8601Date.parse(text) }
      return date ?? node.string.flatMap(ISO8601Date.parse)
    case .unixTime: return node.number.flatMap(Self.date)
    case .pattern(let formatter, _): return node.string.flatMap(formatter.date(from:))
    }
  }

  private static func date(_ number: JSONNumber) -> Date? {
    number.double.map(Date.init(timeIntervalSince1970:))
  }
}
