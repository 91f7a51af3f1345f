import ArborModel
import Foundation
import Testing

@Suite struct TimeZoneClockTests {
  private func date(_ text: String, _ zone: String) throws -> String {
    let zone = try #require(TimeZone(identifier: zone))
    return ISO8601Date.seconds(try #require(ISO8601Date.parse(text, in: zone)))
  }

  @Test(
    "A day without midnight begins when clocks are set forward",
    arguments: [
      ("2018-11-04", "America/Sao_Paulo", "2018-11-04T03:00:00Z"),
      ("2018-11-03", "America/Sao_Paulo", "2018-11-03T03:00:00Z"),
      ("2017-03-12", "America/Havana", "2017-03-12T05:00:00Z"),
      ("2017-10-01", "America/Asuncion", "2017-10-01T04:00:00Z"),
      ("2014-04-25", "Africa/Cairo", "2014-04-24T22:00:00Z"),
      // Clocks were set from 23:30 to 00:30.
      ("1919-03-31", "America/Toronto", "1919-03-31T04:30:00Z"),
      // This day did not exist.
      ("2011-12-30", "Pacific/Apia", "2011-12-30T10:00:00Z"),
      ("2011-12-31", "Pacific/Apia", "2011-12-30T10:00:00Z"),
    ])
  func daysWithoutMidnight(text: String, zone: String, expected: String) throws {
    #expect(try date(text, zone) == expected)
  }

  @Test(
    "A day with two midnights begins with the first",
    arguments: [
      ("2017-11-05", "America/Havana", "2017-11-05T04:00:00Z"),
      // Clocks were set from 24:00 back to 23:00, so the day has only the second midnight.
      ("2018-02-18", "America/Sao_Paulo", "2018-02-18T03:00:00Z"),
    ])
  func daysWithTwoMidnights(text: String, zone: String, expected: String) throws {
    #expect(try date(text, zone) == expected)
  }

  @Test(
    "A skipped time has the offset before the gap, a repeated one is the first",
    arguments: [
      ("2013-03-10T02:30", "America/New_York", "2013-03-10T07:30:00Z"),
      ("2013-03-31T02:30", "Europe/Berlin", "2013-03-31T01:30:00Z"),
      ("2018-11-04T00:00", "America/Sao_Paulo", "2018-11-04T03:00:00Z"),
      ("2018-11-04T00:30", "America/Sao_Paulo", "2018-11-04T03:30:00Z"),
      ("2013-11-03T01:30", "America/New_York", "2013-11-03T05:30:00Z"),
      ("2013-10-27T02:30", "Europe/Berlin", "2013-10-27T00:30:00Z"),
      ("2013-03-10T01:59:59", "America/New_York", "2013-03-10T06:59:59Z"),
      ("2013-03-10T03:00", "America/New_York", "2013-03-10T07:00:00Z"),
      ("2011-12-30T12:00", "Pacific/Apia", "2011-12-30T22:00:00Z"),
      ("2024-07-01T12:00", "Asia/Kathmandu", "2024-07-01T06:15:00Z"),
    ])
  func gapsAndOverlaps(text: String, zone: String, expected: String) throws {
    #expect(try date(text, zone) == expected)
  }

  @Test("A clock time converts back to an equal or earlier instant with the same clock time")
  func clocksLeadBack() throws {
    for name in ["America/Sao_Paulo", "Europe/Berlin", "Australia/Lord_Howe", "Africa/Casablanca"] {
      let zone = try #require(TimeZone(identifier: name))
      for instant in stride(from: -40 * 31_556_952, through: 20 * 31_556_952, by: 3 * 3600 + 600) {
        let clock = zone.clock(at: instant)
        let back = zone.instant(ofClock: clock)
        #expect(back <= instant && zone.clock(at: back) == clock, "\(name) \(instant)")
        let day = GregorianDay(containing: clock)
        let start = zone.firstInstant(of: day)
        #expect(start <= instant && zone.clock(at: start) >= day.clock, "\(name) \(instant)")
        #expect(GregorianDay(containing: zone.clock(at: start - 1)) != day, "\(name) \(instant)")
      }
    }
  }
}
