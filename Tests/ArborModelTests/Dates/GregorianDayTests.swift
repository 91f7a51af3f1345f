import ArborModel
import Foundation
import Testing

@Suite struct GregorianDayTests {
  @Test("Days and calendar dates correspond over 60,000 years")
  func daysAndDatesCorrespond() throws {
    for number in stride(from: -10_950_000, through: 10_950_000, by: 997) {
      let day = GregorianDay(number: number)
      let (year, month, dayOfMonth) = day.components
      #expect(GregorianDay(year: year, month: month, day: dayOfMonth) == day)
      let january = try #require(GregorianDay(year: year, month: 1, day: 1))
      #expect(GregorianDay(year: year, ordinal: number - january.number + 1) == day)
    }
  }

  @Test("Every day of 800 years is the day after the one before")
  func everyDayFollows() throws {
    var expected = try #require(GregorianDay(year: 1400, month: 1, day: 1)).number
    for year in 1400..<2200 {
      for month in 1...12 {
        for day in 1...31 {
          guard let day = GregorianDay(year: year, month: month, day: day) else { continue }
          #expect(day.number == expected)
          expected += 1
        }
      }
    }
    #expect(GregorianDay(year: 2200, month: 1, day: 1)?.number == expected)
  }

  @Test("Weeks begin on Monday, and the first one contains January 4")
  func weeks() throws {
    let days: [(weekYear: Int, week: Int, weekday: Int, text: String)] = [
      (2015, 53, 7, "2016-01-03"), (2016, 1, 1, "2016-01-04"), (2004, 53, 6, "2005-01-01"),
      (2020, 53, 5, "2021-01-01"), (2008, 1, 1, "2007-12-31"), (2001, 1, 1, "2001-01-01"),
      (1582, 40, 1, "1582-10-04"),
    ]
    for (weekYear, week, weekday, text) in days {
      let day = try #require(
        GregorianDay(weekYear: weekYear, week: week, weekday: weekday), "\(text)")
      let (year, month, dayOfMonth) = day.components
      #expect(String(format: "%04d-%02d-%02d", year, month, dayOfMonth) == text)
      #expect(day.weekday == weekday)
    }
    #expect(GregorianDay(weekYear: 2014, week: 53, weekday: 1) == nil)
    #expect(GregorianDay(weekYear: 2015, week: 0, weekday: 1) == nil)
    #expect(GregorianDay(weekYear: 2015, week: 1, weekday: 8) == nil)
  }
}
