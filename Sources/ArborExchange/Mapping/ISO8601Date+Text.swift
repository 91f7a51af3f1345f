package import Foundation

extension ISO8601Date {
  /// A point in time in UTC, as `2024-05-01T12:30:15.25Z`: with as many digits of a second as
  /// ``parse(_:)`` needs to give the same point. Nil for years that have not four digits.
  package static func text(_ date: Date) -> String? {
    guard let start = secondsText(date) else { return nil }
    let seconds = date.timeIntervalSinceReferenceDate
    let fraction = seconds - seconds.rounded(.down)
    guard fraction > 0 else { return start + "Z" }
    var scale = 1.0
    for digits in 1...18 {
      scale *= 10
      let scaled = min((fraction * scale).rounded(), scale - 1)
      let text = "\(start).\(padded(Int(scaled), digits))Z"
      if digits == 18 || parse(text) == date { return text }
    }
    return nil
  }

  /// A point in time in UTC with milliseconds, as `2024-05-01T12:30:15.250Z`.
  static func milliseconds(_ date: Date) -> String {
    let seconds = date.timeIntervalSinceReferenceDate
    guard seconds == seconds.rounded(.down), let start = secondsText(date) else {
      return date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
    return start + ".000Z"
  }

  /// A point in time in UTC without fractions and zone; nil for years that have not four digits.
  private static func secondsText(_ date: Date) -> String? {
    let seconds = date.timeIntervalSinceReferenceDate.rounded(.down)
    guard seconds.isFinite, abs(seconds) < 1e12 else { return nil }
    let days = (seconds / 86_400).rounded(.down)
    let (year, month, day) = civil(daysSince2001: Int(days))
    guard (0...9999).contains(year) else { return nil }
    let second = Int(seconds - days * 86_400)
    return unsafe String(unsafeUninitializedCapacity: 19) { text in
      var end = 0
      func write(_ number: Int, _ digits: Int, then mark: Unicode.Scalar?) {
        var rest = number
        for index in stride(from: end + digits - 1, through: end, by: -1) {
          // Sound: all that is written are the 19 bytes there is room for.
          unsafe text[index] = UInt8(ascii: "0") + UInt8(rest % 10)
          rest /= 10
        }
        end += digits
        guard let mark else { return }
        unsafe text[end] = UInt8(ascii: mark)
        end += 1
      }
      write(year, 4, then: "-")
      write(month, 2, then: "-")
      write(day, 2, then: "T")
      write(second / 3600, 2, then: ":")
      write(second / 60 % 60, 2, then: ":")
      write(second % 60, 2, then: nil)
      return end
    }
  }

  private static func padded(_ number: Int, _ count: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, count - text.count)) + text
  }

  /// The day of the Gregorian calendar. Years are counted from March, as where days are counted.
  private static func civil(daysSince2001 days: Int) -> (year: Int, month: Int, day: Int) {
    let day = days + 730_791
    let era = (day >= 0 ? day : day - 146_096) / 146_097
    let dayOfEra = day - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
  }
}
