package import Foundation

extension ISO8601Date {
  /// A point in time in UTC, as `2024-05-01T12:30:15.25Z`: with as many digits of a second as
  /// ``parse(_:)`` needs to give the same point. Nil for years that have not four digits.
  package static func text(_ date: Date) -> String? {
    let seconds = date.timeIntervalSinceReferenceDate
    guard seconds.isFinite, abs(seconds) < 1e12 else { return nil }
    let whole = seconds.rounded(.down)
    let days = (whole / 86_400).rounded(.down)
    let (year, month, day) = civil(daysSince2001: Int(days))
    guard (0...9999).contains(year) else { return nil }
    let second = Int(whole - days * 86_400)
    let start =
      "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T"
      + "\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
    let fraction = seconds - whole
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

  private static func padded(_ number: Int, _ count: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, count - text.count)) + text
  }

  /// The day of the Gregorian calendar. Years are counted from March, as where days are counted.
  private static func civil(daysSince2001 days: Int) -> (year: Int, month: Int, day: Int) {
    let day = days + 730_791
    let era = (day >= 0 ? day : day - 146_096) / 146_097
    let dayOfEra = day - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
  }
}
