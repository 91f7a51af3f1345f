import ArborExchange
import Foundation
import Testing

@Suite struct ISO8601DateTextTests {
  @Test func textsAreWrittenInUTC() {
    let texts = [
      "2001-01-01T00:00:00Z", "2024-02-29T23:59:59Z", "1999-12-31T12:30:15.25Z",
      "0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "1970-01-01T00:00:00.001Z",
      "1600-02-29T00:00:01Z", "1900-03-01T00:00:00Z",
    ]
    for text in texts { #expect(ISO8601Date.parse(text).flatMap(ISO8601Date.text) == text) }
  }

  @Test func whatIsWrittenIsReadAsTheSamePoint() {
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

  @Test func yearsOfOtherThanFourDigitsHaveNoText() {
    for seconds in [-7e10, 3e11, .infinity, .nan, 1e300] {
      #expect(ISO8601Date.text(Date(timeIntervalSinceReferenceDate: seconds)) == nil)
    }
  }
}
