package import Foundation

/// Reads points in time in the extended format of ISO 8601 and of RFC 3339.
///
/// ```
/// 2024-05-01                       midnight in UTC
/// 2024-05-01T12:30                 UTC; a space may stand for the T
/// 2024-05-01T12:30:15.25Z          fractions of any length
/// 2024-05-01T12:30:15+02:00        also +0200 and +02
/// ```
///
/// Exact and strict where Foundation's parsers roll 30 February over into March and pass over what
/// follows the date. The calendar is the Gregorian one at all times, as the standard has it.
package enum ISO8601Date {
  /// The point in time that a whole text denotes, or nil.
  package static func parse(_ text: String) -> Date? {
    var text = text
    return text.withUTF8 { unsafe parse(UnsafeRawBufferPointer($0)) }
  }

  /// The point in time that a whole text denotes, or nil.
  ///
  /// - Parameter zone: The zone of a text that names none, summer time as it is on that day.
  package static func parse(_ text: String, in zone: TimeZone) -> Date? {
    var reader = Reader(bytes: Array(text.utf8))
    guard let date = reader.date() else { return nil }
    if reader.hasZone { return date }
    // The offset depends on the point in time that is looked for: that of the clock's reading in
    // UTC is a first guess, wrong only within hours of a change.
    let guess = date - TimeInterval(zone.secondsFromGMT(for: date))
    return date - TimeInterval(zone.secondsFromGMT(for: guess))
  }

  /// The point in time that the whole of a text in UTF-8 denotes, or nil.
  static func parse(_ text: UnsafeRawBufferPointer) -> Date? {
    var reader = unsafe Reader(bytes: text)
    return unsafe reader.date()
  }

  /// The point in time that a text with a date, a time of seconds and a zone denotes, or nil.
  package static func parseInZone(_ text: String) -> Date? {
    let bytes = Array(text.utf8)
    // The zone stands behind yyyy-MM-ddTHH:mm:ss.
    let marks = [UInt8(ascii: "Z"), UInt8(ascii: "+"), UInt8(ascii: "-")]
    guard bytes.count >= 20, bytes[10] == UInt8(ascii: "T"), bytes[16] == UInt8(ascii: ":"),
      bytes[19...].contains(where: marks.contains)
    else { return nil }
    return parse(text)
  }

  private struct Reader<Bytes: RandomAccessCollection<UInt8>> where Bytes.Index == Int {
    /// Counted from 0.
    let bytes: Bytes
    var position = 0
    private(set) var hasZone = false

    mutating func date() -> Date? {
      guard let year = number(4), skip("-"), let month = number(2), (1...12).contains(month),
        skip("-"), let day = number(2), (1...Self.length(ofMonth: month, in: year)).contains(day)
      else { return nil }
      var seconds = Self.daysSince2001(year, month, day) * 86_400
      var fraction = 0.0
      if position < bytes.count {
        guard skip("T") || skip("t") || skip(" "), let time = timeOfDay(&fraction) else {
          return nil
        }
        seconds += time
        guard let offset = zone() else { return nil }
        seconds -= offset
      }
      guard position == bytes.count else { return nil }
      return Date(timeIntervalSinceReferenceDate: Double(seconds) + fraction)
    }

    /// Seconds since midnight; parts of a second go into `fraction`.
    private mutating func timeOfDay(_ fraction: inout Double) -> Int? {
      guard let hour = number(2), hour < 24, skip(":"), let minute = number(2), minute < 60 else {
        return nil
      }
      guard skip(":") else { return hour * 3600 + minute * 60 }
      guard let second = number(2), second < 60 else { return nil }
      if skip(".") || skip(",") {
        let first = position
        while position < bytes.count, isDigit(bytes[position]) { position += 1 }
        guard position > first,
          let parsed = Double("0." + String(decoding: bytes[first..<position], as: UTF8.self))
        else { return nil }
        fraction = parsed
      }
      return hour * 3600 + minute * 60 + second
    }

    /// Seconds east of UTC; 0 where no zone is written.
    private mutating func zone() -> Int? {
      guard position < bytes.count else { return 0 }
      hasZone = true
      if skip("Z") || skip("z") { return 0 }
      guard let sign = skip("+") ? 1 : skip("-") ? -1 : nil, let hours = number(2), hours < 24
      else { return nil }
      guard position < bytes.count else { return sign * hours * 3600 }
      _ = skip(":")
      guard let minutes = number(2), minutes < 60 else { return nil }
      return sign * (hours * 3600 + minutes * 60)
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
      guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
      position += 1
      return true
    }

    private mutating func number(_ count: Int) -> Int? {
      guard position + count <= bytes.count else { return nil }
      var number = 0
      for byte in bytes[position..<(position + count)] {
        guard isDigit(byte) else { return nil }
        number = number * 10 + Int(byte - UInt8(ascii: "0"))
      }
      position += count
      return number
    }

    private func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    private static func length(ofMonth month: Int, in year: Int) -> Int {
      switch month {
      case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
      case 4, 6, 9, 11: 30
      default: 31
      }
    }

    /// Days from 2001-01-01. Years are counted from March, so that the leap day comes last and the
    /// days before a month follow from its number: 153 days in every five months.
    private static func daysSince2001(_ year: Int, _ month: Int, _ day: Int) -> Int {
      let marchYear = month > 2 ? year : year - 1
      let marchMonth = (month + 9) % 12
      let century = marchYear >= 0 ? marchYear / 100 : (marchYear - 99) / 100
      let leapDays = floorDivide(marchYear, 4) - century + floorDivide(century, 4)
      let days = marchYear * 365 + leapDays + (153 * marchMonth + 2) / 5 + day - 1
      return days - 730_791
    }

    private static func floorDivide(_ number: Int, _ divisor: Int) -> Int {
      number >= 0 ? number / divisor : (number - divisor + 1) / divisor
    }
  }
}
