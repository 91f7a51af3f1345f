import ArborModel
import Foundation
import Testing

@Suite struct ISO8601DateTests {
  @Test("Complete dates and times are read in every common form")
  func readsEveryForm() {
    let noon = Date(timeIntervalSince1970: 1_714_566_600)
    for text in [
      "2024-05-01T12:30:00Z", "2024-05-01t12:30:00z", "2024-05-01 12:30:00Z",
      "2024-05-01T12:30:00", "2024-05-01T12:30Z", "2024-05-01T12:30", "2024-05-01T14:30:00+02:00",
      "2024-05-01T14:30:00+0200", "2024-05-01T14:30+02", "2024-05-01T07:00:00-05:30",
      "2024-05-02T12:29:00+23:59", "2024-05-01T12:30:00.000Z", "2024-05-01T12:30:00,0Z",
    ] { #expect(ISO8601Date.parse(text) == noon, "\(text)") }
    #expect(ISO8601Date.parse("2024-05-01") == Date(timeIntervalSince1970: 1_714_521_600))
    #expect(
      ISO8601Date.parse("2024-05-01T12:30:00.25Z") == noon.addingTimeInterval(0.25))
    #expect(
      ISO8601Date.parse("2024-05-01T12:30:00.123456789Z")
        == noon.addingTimeInterval(0.123456789))
  }

  @Test(
    "Basic, week, ordinal and month dates, expanded years, 24:00 and leap seconds are read",
    arguments: [
      ("20240501", "2024-05-01T00:00:00Z"), ("20240501T123000Z", "2024-05-01T12:30:00Z"),
      ("20240501T1230+0200", "2024-05-01T10:30:00Z"),
      ("20240501T123015.25Z", "2024-05-01T12:30:15.250Z"),
      ("20240501T12:30:15Z", "2024-05-01T12:30:15Z"), ("20201111T100000Z", "2020-11-11T10:00:00Z"),
      ("2013-04", "2013-04-01T00:00:00Z"), ("2015-W53-7", "2016-01-03T00:00:00Z"),
      ("2015W537", "2016-01-03T00:00:00Z"), ("2015-W53", "2015-12-28T00:00:00Z"),
      ("2015W53T", nil), ("2015-W53-7T12:30Z", "2016-01-03T12:30:00Z"),
      ("2016-366", "2016-12-31T00:00:00Z"), ("2016366", "2016-12-31T00:00:00Z"),
      ("2016-001T01:00Z", "2016-01-01T01:00:00Z"), ("2015-366", nil), ("2015-000", nil),
      ("2015-W54-1", nil), ("2015-W00-1", nil), ("2015-W10-0", nil), ("2015-W10-8", nil),
      ("2016-12-31T24:00:00Z", "2017-01-01T00:00:00Z"),
      ("2016-12-31T24:00", "2017-01-01T00:00:00Z"),
      ("20161231T2400Z", "2017-01-01T00:00:00Z"), ("2016-12-31T24:00:01Z", nil),
      ("2016-12-31T24:01Z", nil), ("2016-12-31T24:00:00.5Z", nil), ("2016-12-31T25:00Z", nil),
      ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59Z"),
      ("2017-01-01T05:29:60+05:30", "2016-12-31T23:59:59Z"),
      ("2016-12-31T23:59:60.25Z", "2016-12-31T23:59:59.250Z"), ("2016-12-31T23:59:61Z", nil),
      ("2016-12-31T12:59:60Z", nil), ("2016-12-31T23:59:60+01:00", nil),
      ("+12345-01-01T00:00:00Z", "+012345-01-01T00:00:00Z"),
      ("+002024-05-01", "2024-05-01T00:00:00Z"),
      ("-0044-03-15", "-000044-03-15T00:00:00Z"), ("+2024-W18-3", "2024-05-01T00:00:00Z"),
      ("-0000-01-01", nil), ("+1234567-01-01", nil), ("+20240501", nil), ("2024-0501", nil),
      ("202405", nil), ("202405-01", nil), ("2024-05T12:30", nil), ("2024-W18T12:30", nil),
      ("1360605600", nil), ("1582-10-10", "1582-10-10T00:00:00Z"),
    ] as [(String, String?)])
  func readsOtherForms(text: String, expected: String?) {
    #expect(ISO8601Date.parse(text).map(ISO8601Date.seconds) == expected)
  }

  @Test("If a zone is required, only complete times with a zone are accepted")
  func readsZonesWhereOneIsAskedFor() {
    for (text, expected) in [
      ("2024-05-01T12:30:00Z", "2024-05-01T12:30:00Z"),
      ("20240501T123000+0200", "2024-05-01T10:30:00Z"),
    ] {
      #expect(ISO8601Date.parseInZone(text).map(ISO8601Date.seconds) == expected)
    }
    for text in ["2024-05-01T12:30:00", "2024-05-01T12:30Z", "2024-05-01", "2024-122"] {
      #expect(ISO8601Date.parseInZone(text) == nil, "\(text)")
    }
  }

  @Test("Texts that are not valid dates are rejected")
  func refusesWhatIsNoDate() {
    for text in [
      "", "2024", "2024-5", "2024-5-1", "2024-13-01", "2024-00-01", "2024-05-00", "2024-05-32",
      "2023-02-29", "1900-02-29", "2024-04-31", "2024-05-01T", "2024-05-01T12", "2024-05-",
      "2024-05-01T12:60Z", "2024-05-01T12:30:60Z", "2024-05-01T12:30:00.Z", "2024-05-01T12:30:00Zx",
      "2024-05-01T12:30:00 Z", "2024-05-01T12:30:00+", "2024-05-01T12:30:00+2",
      "2024-05-01T12:30:00+24:00", "2024-05-01T12:30:00+02:60", " 2024-05-01", "2024-05-01 ",
      "01.05.2024", "٢٠٢٤-05-01", "+024-05-01", "2024-05-01T1e:00Z", "2024-W", "2024-W1",
      "20241301",
    ] { #expect(ISO8601Date.parse(text) == nil, "\(text)") }
  }

  @Test("Dates agree with the platform's Gregorian calendar")
  func knowsEveryDayOfTheCalendar() {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    var date = Date(timeIntervalSinceReferenceDate: -418 * 365.25 * 86_400)
    date = calendar.startOfDay(for: date)
    for _ in 0..<20_000 {
      let parts = calendar.dateComponents([.year, .month, .day], from: date)
      let text = [(parts.year, 4), (parts.month, 2), (parts.day, 2)].map { number, width in
        let digits = String(number ?? 0)
        return String(repeating: "0", count: width - digits.count) + digits
      }.joined(separator: "-")
      #expect(ISO8601Date.parse(text) == date, "\(text)")
      date = calendar.startOfDay(for: date.addingTimeInterval(86_400 * 11 + 43_200))
    }
  }

  @Test("The proleptic Gregorian calendar starts in the year 0")
  func countsFromTheFirstYearOn() {
    // The standard's proleptic Gregorian calendar has 719,162 days from year 1 to 1970.
    #expect(
      ISO8601Date.parse("0001-01-01") == Date(timeIntervalSince1970: -719_162 * 86_400))
    #expect(
      ISO8601Date.parse("0000-02-29") == Date(timeIntervalSince1970: -(719_162 + 307) * 86_400))
    #expect(ISO8601Date.parse("2001-01-01") == Date(timeIntervalSinceReferenceDate: 0))
  }
}
