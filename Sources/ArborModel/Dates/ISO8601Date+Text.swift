package import ArborFoundation

extension ISO8601Date {
  /// Returns the text of an instant in UTC, such as `2024-05-01T12:30:15.25Z`, with as many
  /// fractional digits as ``parse(_:)`` needs to restore it. Returns `nil` for years outside 0000
  /// to 9999.
  package static func text(_ date: Date) -> String? {
    guard let (start, fraction) = parts(of: date, of: 0...9999) else { return nil }
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

  /// Returns the text of an instant in UTC with milliseconds, such as `2024-05-01T12:30:15.250Z`,
  /// for display.
  package static func milliseconds(_ date: Date) -> String {
    let seconds = date.timeIntervalSinceReferenceDate
    let rounded =
      abs(seconds) < 1e12
      ? Date(timeIntervalSinceReferenceDate: (seconds * 1000).rounded() / 1000) : date
    guard let (start, fraction) = parts(of: rounded, of: -999_999...999_999) else {
      return "\(seconds) s since 2001"
    }
    return "\(start).\(padded(min(Int((fraction * 1000).rounded()), 999), 3))Z"
  }

  /// Returns the text of ``milliseconds(_:)``, without the fraction if it is zero.
  package static func seconds(_ date: Date) -> String {
    let text = milliseconds(date)
    return text.hasSuffix(".000Z") ? text.dropLast(5) + "Z" : text
  }

  /// Returns the text of an instant in UTC without fraction and time zone, and the fraction of the
  /// second. Returns `nil` for years outside the range.
  private static func parts(
    of date: Date, of years: ClosedRange<Int>
  ) -> (text: String, fraction: Double)? {
    let all = date.timeIntervalSinceReferenceDate
    let seconds = all.rounded(.down)
    guard seconds.isFinite, abs(seconds) < 1e14 else { return nil }
    let day = GregorianDay(containing: Int(seconds))
    let components = day.components
    guard years.contains(components.year) else { return nil }
    let text = text(components, second: Int(seconds) - day.clock)
    return (text, all - seconds)
  }

  private static func text(
    _ date: (year: Int, month: Int, day: Int), second: Int
  ) -> String {
    guard (0...9999).contains(date.year) else {
      let sign = date.year < 0 ? "-" : "+"
      return sign + padded(date.year.magnitude, 6)
        + text((0, date.month, date.day), second: second)
        .dropFirst(4)
    }
    return String(unsafeUninitializedCapacity: 19) { text in
      var end = 0
      func write(_ number: Int, _ digits: Int, then mark: Unicode.Scalar?) {
        var rest = number
        for index in stride(from: end + digits - 1, through: end, by: -1) {
          text[index] = UInt8(ascii: "0") + UInt8(rest % 10)
          rest /= 10
        }
        end += digits
        guard let mark else { return }
        text[end] = UInt8(ascii: mark)
        end += 1
      }
      write(date.year, 4, then: "-")
      write(date.month, 2, then: "-")
      write(date.day, 2, then: "T")
      write(second / 3600, 2, then: ":")
      write(second / 60 % 60, 2, then: ":")
      write(second % 60, 2, then: nil)
      return end
    }
  }

  private static func padded(_ number: some BinaryInteger, _ count: Int) -> String {
    let text = "\(number)"
    return String(repeating: "0", count: max(0, count - text.count)) + text
  }
}
