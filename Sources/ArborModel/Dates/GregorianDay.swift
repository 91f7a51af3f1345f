/// A day of the proleptic Gregorian calendar, the calendar of ISO 8601.
///
/// The current rules apply to all years: there is no Julian calendar before 1582, and year 0
/// precedes year 1. Foundation's Gregorian calendars switch to the Julian one instead.
package struct GregorianDay: Sendable, Hashable {
  /// The number of days since 2001-01-01, a Monday.
  package let number: Int

  package init(number: Int) { self.number = number }

  /// Creates the day that contains a local time, in seconds since 2001-01-01T00:00 local time.
  package init(containing clock: Int) { number = clock.floored(by: 86_400) }

  /// Creates a day from a calendar date, or returns `nil` if the month doesn't have that day.
  package init?(year: Int, month: Int, day: Int) {
    guard (1...12).contains(month), day >= 1, day <= Self.length(ofMonth: month, in: year) else {
      return nil
    }
    // Years start in March here, so that the leap day comes last, and the days before a month
    // follow from its number: every five months have 153 days.
    let marchYear = month > 2 ? year : year - 1
    let marchMonth = (month + 9) % 12
    let century = marchYear.floored(by: 100)
    let leapDays = marchYear.floored(by: 4) - century + century.floored(by: 4)
    number = marchYear * 365 + leapDays + (153 * marchMonth + 2) / 5 + day - 1 - 730_791
  }

  /// Creates a day from an ordinal date: a year and the day of the year, starting at 1. Returns
  /// `nil` if the year doesn't have that day.
  package init?(year: Int, ordinal: Int) {
    guard ordinal >= 1, ordinal <= (Self.isLeap(year) ? 366 : 365) else { return nil }
    number = Self.firstDay(of: year) + ordinal - 1
  }

  /// Creates a day from a week date: a year, a week of that year, and a weekday from 1 for Monday
  /// to 7 for Sunday. Week 1 is the week that contains January 4. Returns `nil` if the year doesn't
  /// have that week.
  package init?(weekYear: Int, week: Int, weekday: Int) {
    let start = Self.firstMonday(of: weekYear)
    let count = (Self.firstMonday(of: weekYear + 1) - start) / 7
    guard week >= 1, week <= count, (1...7).contains(weekday) else { return nil }
    number = start + (week - 1) * 7 + weekday - 1
  }

  package var components: (year: Int, month: Int, day: Int) {
    let day = number + 730_791
    let era = day.floored(by: 146_097)
    let dayOfEra = day - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
  }

  /// The weekday, from 1 for Monday to 7 for Sunday.
  package var weekday: Int { number - number.floored(by: 7) * 7 + 1 }

  /// The number of seconds from 2001-01-01T00:00 to midnight of the day.
  package var clock: Int { number * 86_400 }

  private static func isLeap(_ year: Int) -> Bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  }

  private static func length(ofMonth month: Int, in year: Int) -> Int {
    switch month {
    case 2: isLeap(year) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  private static func firstDay(of year: Int) -> Int {
    let years = year - 1
    let leapDays = years.floored(by: 4) - years.floored(by: 100) + years.floored(by: 400)
    return years * 365 + leapDays - 730_485
  }

  private static func firstMonday(of year: Int) -> Int {
    let fourth = firstDay(of: year) + 3
    return fourth.floored(by: 7) * 7
  }
}

extension Int {
  /// Returns the quotient, rounded down.
  package func floored(by divisor: Int) -> Int {
    self >= 0 ? self / divisor : (self - divisor + 1) / divisor
  }
}
