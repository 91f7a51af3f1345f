import ArborModel
import Foundation
import Testing

/// Dates in predicates: literals, casts, and date components in a time zone.
@Suite struct PredicateZonesTests {
  @Test(
    "Date literals and components in time zones have the listed values",
    arguments: [
      "date('2024-01-01T00:00:00Z') == CAST(725760000, 'NSDate')",
      "date('2024-01-01') == CAST('2024-01-01T00:00:00Z', 'NSDate')",
      "date('20240101T010000+0100') == date('2024-W01-1')",
      "date('2018-11-04', 'America/Sao_Paulo') == date('2018-11-04T03:00:00Z')",
      "date('2024-05-01T12:00', '+02:00') == date('2024-05-01T10:00Z')",
      "date('2024-05-01T12:00Z', 'Europe/Berlin') == date('2024-05-01T12:00Z')",
      "CAST('2024-01-01', 'Date') == date('2024-01-01')",
      "CAST('725760000', 'NSDate') == date('2024-01-01')",
      "date('2024-01-02') - date('2024-01-01') == 86400", "date('2024-01-01') > date('2023-12-31')",
      "year(date('2024-12-31T23:30:00Z')) == 2024",
      "year(date('2024-12-31T23:30:00Z'), 'Europe/Berlin') == 2025",
      "month:(date('2024-12-31T23:30:00Z'), '+01:00') == 1",
      "day(date('2024-12-31T23:30:00Z'), 'America/New_York') == 31",
      "hour(date('2024-07-01T12:30:00Z'), 'Asia/Kathmandu') == 18",
      "hour(date('2018-11-04', 'America/Sao_Paulo'), 'America/Sao_Paulo') == 1",
      "weekday(date('2024-05-01')) == 3", "weekday(date('2024-05-05')) == 7",
      "weekday(date('2024-05-05T23:00Z'), 'Europe/Berlin') == 1",
      "year(date('1582-10-10')) == 1582 AND day(date('1582-10-10')) == 10",
      "year(date('-0044-03-15')) == -44", "year(nil) == nil",
      "hour(date('2024-05-01'), nil) == nil",
    ])
  func holds(text: String) throws {
    #expect(try PredicateWorld.holds(text))
    let predicate = try FetchPredicate(format: text)
    let printed = "\(predicate)"
    #expect(try FetchPredicate(format: printed) == predicate, "\(printed)")
    #expect(try PredicateWorld.holds(printed), "\(printed)")
  }

  @Test(
    "Invalid dates and time zones are rejected",
    arguments: [
      ("date('yesterday') > nil", "not a valid date"),
      ("date('2024-02-30') > nil", "not a valid date"),
      ("date('2024-02-30', 'UTC') > nil", "not a valid date"),
      ("date('2024-02-01', 'Europe/Berlni') > nil", "Europe/Berlin"),
      ("now() > CAST('yesterday', 'NSDate')", "\"yesterday\" is not an ISO 8601 date"),
      ("now() == CAST('2024-13-01', 'Date')", "is not an ISO 8601 date"),
      ("year(now(), 'Mars') == 1", "\"Mars\" is not a time zone"),
      ("year('2024') == 1", "takes a date"),
      ("year(now(), 1) == 1", "name of a time zone"), ("year() == 1", "one or two arguments"),
    ])
  func refuses(text: String, message: String) throws {
    let error = try #require(throws: ArborError.self) { _ = try PredicateWorld.holds(text) }
    #expect(error.code == .invalidPredicate && error.message.contains(message), "\(error)")
  }

  @Test("Date components agree with the calendar")
  func partsAreThoseOfTheCalendar() throws {
    for name in ["UTC", "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe"] {
      let zone = try #require(TimeZone(identifier: name))
      var calendar = Calendar(identifier: .gregorian)
      calendar.timeZone = zone
      for seconds in stride(from: -3_000_000_000.0, to: 2_000_000_000, by: 9_876_543.21) {
        let date = Date(timeIntervalSinceReferenceDate: seconds)
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .weekday], from: date)
        let expected = [
          parts.year, parts.month, parts.day, parts.hour, parts.weekday.map { ($0 + 5) % 7 + 1 },
        ]
        let functions: [PredicateFunction] = [.year, .month, .day, .hour, .weekday]
        let values = functions.map { $0.value(of: [.date(date), .string(name)], now: date).int }
        #expect(values == expected, "\(name) \(seconds)")
      }
    }
  }
}
