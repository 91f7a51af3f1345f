import ArborModel
import Foundation
import Testing

@Suite struct ISO8601DateTextTests {
  @Test("Dates are formatted in UTC")
  func textsAreWrittenInUTC() {
    let texts = [
      "2001-01-01T00:00:00Z", "2024-02-29T23:59:59Z", "1999-12-31T12:30:15.25Z",
      "0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "1970-01-01T00:00:00.001Z",
      "1600-02-29T00:00:01Z", "1900-03-01T00:00:00Z",
    ]
    for text in texts { #expect(ISO8601Date.parse(text).flatMap(ISO8601Date.text) == text) }
  }

  @Test("A formatted date is parsed as the same point in time")
  func whatIsWrittenIsReadAsTheSamePoint() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<2_000 {
      let seconds = Double.random(in: -6e10...2e11, using: &generator)
      for date in [
        Date(timeIntervalSinceReferenceDate: seconds),
        Date(timeIntervalSinceReferenceDate: seconds.rounded()),
        Date(timeIntervalSinceReferenceDate: (seconds * 1000).rounded() / 1000),
      ] {
        #expect(ISO8601Date.text(date).flatMap(ISO8601Date.parse) == date, "\(seconds)")
      }
    }
  }

  @Test("Dates outside the years with four digits can't be formatted")
  func yearsOfOtherThanFourDigitsHaveNoText() {
    for seconds in [-7e10, 3e11, .infinity, .nan, 1e300] {
      #expect(ISO8601Date.text(Date(timeIntervalSinceReferenceDate: seconds)) == nil)
    }
  }

  @Test("Readable texts of dates have milliseconds in every year")
  func textsForPeopleHaveMillisecondsInEveryYear() throws {
    for (text, milliseconds, seconds) in [
      ("2024-05-01T12:30:15.25Z", "2024-05-01T12:30:15.250Z", "2024-05-01T12:30:15.250Z"),
      ("2024-05-01T12:30:15Z", "2024-05-01T12:30:15.000Z", "2024-05-01T12:30:15Z"),
      ("2024-05-01T12:30:15.9999Z", "2024-05-01T12:30:16.000Z", "2024-05-01T12:30:16Z"),
      ("1582-10-14", "1582-10-14T00:00:00.000Z", "1582-10-14T00:00:00Z"),
      ("0001-01-01", "0001-01-01T00:00:00.000Z", "0001-01-01T00:00:00Z"),
      ("-0044-03-15", "-000044-03-15T00:00:00.000Z", "-000044-03-15T00:00:00Z"),
      ("+12345-01-01", "+012345-01-01T00:00:00.000Z", "+012345-01-01T00:00:00Z"),
    ] {
      let date = try #require(ISO8601Date.parse(text))
      #expect(ISO8601Date.milliseconds(date) == milliseconds)
      #expect(ISO8601Date.seconds(date) == seconds)
      #expect(PropertyValue.date(date).description == seconds)
    }
    for seconds in [Double.infinity, .nan, 1e300] {
      let date = Date(timeIntervalSinceReferenceDate: seconds)
      #expect(ISO8601Date.milliseconds(date) == "\(seconds) s since 2001")
    }
  }
}
