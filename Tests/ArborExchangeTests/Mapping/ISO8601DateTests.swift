import ArborExchange
import Foundation
import Testing

@Suite struct ISO8601DateTests {
  @Test func readsEveryForm() {
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

  @Test func refusesWhatIsNoDate() {
    for text in [
      "", "2024", "2024-05", "2024-5-1", "2024-13-01", "2024-00-01", "2024-05-00", "2024-05-32",
      "2023-02-29", "1900-02-29", "2024-04-31", "2024-05-01T", "2024-05-01T12", "2024-05-01T24:00Z",
      "2024-05-01T12:60Z", "2024-05-01T12:30:60Z", "2024-05-01T12:30:00.Z", "2024-05-01T12:30:00Zx",
      "2024-05-01T12:30:00 Z", "2024-05-01T12:30:00+", "2024-05-01T12:30:00+2",
      "2024-05-01T12:30:00+24:00", "2024-05-01T12:30:00+02:60", " 2024-05-01", "2024-05-01 ",
      "20240501", "01.05.2024", "٢٠٢٤-05-01", "+024-05-01", "2024-05-01T1e:00Z",
    ] { #expect(ISO8601Date.parse(text) == nil, "\(text)") }
  }

  @Test func knowsEveryDayOfTheCalendar() {
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

  @Test func countsFromTheFirstYearOn() {
    // The proleptic Gregorian calendar of the standard: 719,162 days from year 1 to 1970.
    #expect(
      ISO8601Date.parse("0001-01-01") == Date(timeIntervalSince1970: -719_162 * 86_400))
    #expect(
      ISO8601Date.parse("0000-02-29") == Date(timeIntervalSince1970: -(719_162 + 307) * 86_400))
    #expect(ISO8601Date.parse("2001-01-01") == Date(timeIntervalSinceReferenceDate: 0))
  }
}
