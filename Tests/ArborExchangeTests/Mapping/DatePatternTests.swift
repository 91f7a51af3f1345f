import ArborExchange
import ArborJSON
import ArborLocale
import ArborModel
import ArborObjects
import Foundation
import Testing

/// All readers of dates follow the same rules.
@Suite struct DatePatternTests {
  /// Returns the date that an import and a transformer read from a string.
  private func read(_ text: String, _ format: String?, _ zone: String) throws -> String {
    let zone = try #require(TimeZone(identifier: zone))
    let workshop = try ImportWorkshop([
      EntityDescription(
        name: "Person",
        attributes: [
          AttributeDescription(
            name: "born", type: .date, isOptional: true,
            userInfo: format.map { ["DateFormat": $0] } ?? [:])
        ])
    ])
    var options = ImportOptions()
    options.timeZone = zone
    let object = try #require(
      try workshop.context.importObject(
        from: ["born": .string(text)], as: "Person", options: options))
    let date = try #require(object["born"].date)
    if let format {
      let transformer = JSONTransformer.date(format: format, timeZone: zone)
      #expect(try transformer.read(.string(text)) == date)
    }
    try workshop.finish()
    return ISO8601Date.seconds(date)
  }

  @Test(
    "ISO 8601 and patterns agree on days without midnight and on skipped times",
    arguments: [
      ("America/Sao_Paulo", "2018-11-04", nil, "2018-11-04T03:00:00Z"),
      ("America/Sao_Paulo", "2018-11-04", "yyyy-MM-dd", "2018-11-04T03:00:00Z"),
      ("America/Sao_Paulo", "4. 11. 2018", "d. M. yyyy", "2018-11-04T03:00:00Z"),
      ("America/Sao_Paulo", "Nov 4, 2018", "MMM d, yyyy", "2018-11-04T03:00:00Z"),
      ("America/Sao_Paulo", "2018-11-04T00:30", nil, "2018-11-04T03:30:00Z"),
      ("America/Sao_Paulo", "04.11.2018 00:30", "dd.MM.yyyy HH:mm", "2018-11-04T03:30:00Z"),
      ("America/Sao_Paulo", "4.11.2018 12:30 am", "d.M.yyyy h:mm a", "2018-11-04T03:30:00Z"),
      ("America/Toronto", "1919-03-31", nil, "1919-03-31T04:30:00Z"),
      ("America/Toronto", "1919-03-31", "yyyy-MM-dd", "1919-03-31T04:30:00Z"),
      ("America/Toronto", "31/3/1919", "d/M/yyyy", "1919-03-31T04:30:00Z"),
      ("America/New_York", "2013-03-10T02:30", nil, "2013-03-10T07:30:00Z"),
      ("America/New_York", "2013-03-10 02:30", "yyyy-MM-dd HH:mm", "2013-03-10T07:30:00Z"),
      ("America/New_York", "10 Mar 2013 2:30:15", "d MMM yyyy H:mm:ss", "2013-03-10T07:30:15Z"),
      ("America/New_York", "2013-11-03 01:30", "yyyy-MM-dd HH:mm", "2013-11-03T05:30:00Z"),
      ("America/New_York", "3 Nov 2013 1:30", "d MMM yyyy H:mm", "2013-11-03T05:30:00Z"),
      ("America/New_York", "2013-03-10T02:30+0100", "yyyy-MM-dd'T'HH:mmZ", "2013-03-10T01:30:00Z"),
      ("GMT", "1582-10-10", nil, "1582-10-10T00:00:00Z"),
      ("GMT", "1582-10-10", "yyyy-MM-dd", "1582-10-10T00:00:00Z"),
      ("GMT", "10 Oct 1582", "d MMM yyyy", "1582-10-10T00:00:00Z"),
      ("GMT", "1 Jan 0001", "d MMM yyyy", "0001-01-01T00:00:00Z"),
      ("GMT", "0001-01-01", "yyyy-MM-dd", "0001-01-01T00:00:00Z"),
      ("GMT", "2012-6-4", "yyyy-MM-dd", "2012-06-04T00:00:00Z"),
      ("GMT", "201206140800", "yyyyMMddHHmm", "2012-06-14T08:00:00Z"),
      ("GMT", "2012-06-14T24:00", "yyyy-MM-dd'T'HH:mm", "2012-06-15T00:00:00Z"),
      ("Europe/Berlin", "1850-01-01", nil, "1849-12-31T23:06:32Z"),
      ("Europe/Berlin", "1850-01-01", "yyyy-MM-dd", "1849-12-31T23:06:32Z"),
      ("Europe/Berlin", "1 January 1850", "d MMMM yyyy", "1849-12-31T23:06:32Z"),
      // A time zone in the text.
      ("GMT", "2018-11-04 America/Sao_Paulo", "yyyy-MM-dd VV", "2018-11-04T03:00:00Z"),
      ("GMT", "2013-03-10 02:30 America/New_York", "yyyy-MM-dd HH:mm VV", "2013-03-10T07:30:00Z"),
      ("GMT", "2013-11-03 01:30 America/New_York", "yyyy-MM-dd HH:mm VV", "2013-11-03T05:30:00Z"),
      ("GMT", "Mar 10 02:30:00 EST 2013", "MMM d HH:mm:ss z yyyy", "2013-03-10T07:30:00Z"),
      ("GMT", "10 Jul 2013 12:30 EST", "d MMM yyyy HH:mm z", "2013-07-10T17:30:00Z"),
      ("GMT", "10 Jan 2013 12:30 EDT", "d MMM yyyy HH:mm z", "2013-01-10T16:30:00Z"),
      ("GMT", "10 Jan 2013 12:30 GMT+2", "d MMM yyyy HH:mm z", "2013-01-10T10:30:00Z"),
      ("GMT", "10 Jan 2013 12:30 UTC", "d MMM yyyy HH:mm zzz", "2013-01-10T12:30:00Z"),
      (
        "GMT", "1 Jul 2013 0:30 Central European Summer Time", "d MMM yyyy H:mm zzzz",
        "2013-06-30T22:30:00Z"
      ),
      (
        "GMT", "Sun, 04 Nov 2018 00:30:15 -0300", "EEE, dd MMM yyyy HH:mm:ss Z",
        "2018-11-04T03:30:15Z"
      ),
      ("America/Sao_Paulo", "4 Nov 2018 +02:00", "d MMM yyyy ZZZZZ", "2018-11-03T22:00:00Z"),
      // Leap seconds, midnight at the end of a day, and other hour formats.
      ("GMT", "2016-12-31 23:59:60", "yyyy-MM-dd HH:mm:ss", "2016-12-31T23:59:59Z"),
      ("Europe/Berlin", "1 Jan 2017 0:59:60", "d MMM yyyy H:mm:ss", "2016-12-31T23:59:59Z"),
      ("GMT", "14 Jun 2012 24:00", "d MMM yyyy HH:mm", "2012-06-15T00:00:00Z"),
      ("GMT", "14 Jun 2012 24:00", "d MMM yyyy kk:mm", "2012-06-14T00:00:00Z"),
      ("GMT", "14 Jun 2012 12:15 AM", "d MMM yyyy h:mm a", "2012-06-14T00:15:00Z"),
      ("GMT", "14 Jun 2012 12:15 pm", "d MMM yyyy h:mm a", "2012-06-14T12:15:00Z"),
      ("GMT", "14 Jun 2012 11:15 PM", "d MMM yyyy K:mm a", "2012-06-14T23:15:00Z"),
      // Names, quoted text and whitespace.
      ("GMT", " 3 MARCH  2020 ", "d MMM yyyy", "2020-03-03T00:00:00Z"),
      ("GMT", "5 o'clock, 3. März 2020", "H 'o''clock', d. 'März' yyyy", "2020-01-03T05:00:00Z"),
      // Other years, days and weeks.
      ("GMT", "12024-01-01", "yyyy-MM-dd", "+012024-01-01T00:00:00Z"),
      ("GMT", "1 Jan 12024", "d MMM yyyy", "+012024-01-01T00:00:00Z"),
      ("GMT", "15 Mar 0044 BC", "d MMM yyyy G", "-000043-03-15T00:00:00Z"),
      ("GMT", "15 Mar -43", "d MMM u", "-000043-03-15T00:00:00Z"),
      ("GMT", "2020/366", "yyyy/DDD", "2020-12-31T00:00:00Z"),
      ("GMT", "2021-W01-1", "YYYY-'W'ww-e", "2021-01-04T00:00:00Z"),
      ("GMT", "2020-W53-7", "YYYY-'W'ww-e", "2021-01-03T00:00:00Z"),
    ] as [(String, String, String?, String)])
  func readersAgree(zone: String, text: String, format: String?, expected: String) throws {
    #expect(try read(text, format, zone) == expected)
  }

  @Test("Dates that don't exist are rejected")
  func daysThatDoNotExistAreRefused() throws {
    let transformer = JSONTransformer.date(format: "yyyy-MM-dd")
    for text in ["2012-02-30", "2013-02-29", "2012-13-01", "2012-06-04x", "20120604", ""] {
      let error = try #require(throws: ArborError.self) {
        try transformer.read(.string(text), as: Date.self)
      }
      #expect(error.code == .unparsableValue, "\(text)")
    }
    let times = JSONTransformer.date(format: "yyyy-MM-dd HH:mm:ss")
    for text in ["2012-06-04 24:00:01", "2012-06-04 12:60:00", "2012-06-04 12:00:60"] {
      #expect(throws: ArborError.self) { try times.read(.string(text), as: Date.self) }
    }
    for (text, format) in [
      ("30 Feb 2012", "d MMM yyyy"), ("12 Mar 2020 x", "d MMM yyyy"), ("12 Mai 2020", "d MMM yyyy"),
      ("2021/366", "yyyy/DDD"), ("1 Jan 2020 13:00 PM", "d MMM yyyy h:mm a"),
      ("1 Jan 2020 12:00 XYZ", "d MMM yyyy HH:mm z"), ("1 Jan 2020 24:01", "d MMM yyyy HH:mm"),
      ("1 Jan 2020 Europe/Nowhere", "d MMM yyyy VV"), ("0 Jan 2020", "d MMM yyyy"),
    ] {
      #expect(throws: ArborError.self, "\(text)") {
        try JSONTransformer.date(format: format).read(.string(text), as: Date.self)
      }
    }
  }

  @Test(
    "Fractions of a second are read as in ISO 8601", arguments: ["1", "123", "123456", "000001"])
  func fractions(digits: String) throws {
    for format in ["yyyy-MM-dd HH:mm:ss.SSS", "d MMM yyyy HH:mm:ss.SSS"] {
      let day = format.hasPrefix("d") ? "14 Jun 2012" : "2012-06-14"
      let expected = try #require(ISO8601Date.parse("2012-06-14T12:00:00.\(digits)Z"))
      let text = JSONValue.string("\(day) 12:00:00.\(digits)")
      #expect(try JSONTransformer.date(format: format).read(text) == expected)
    }
  }

  @Test("Month names are those of the locale")
  func locales() throws {
    let expected = try #require(ISO8601Date.parse("2012-05-04"))
    for (text, format, locale) in [
      ("4. Mai 2012", "d. MMMM yyyy", "de_DE"), ("4 mai 2012", "d MMM yyyy", "fr_FR"),
      ("4 мая 2012", "d MMMM yyyy", "ru_RU"), ("٤ مايو ٢٠١٢", "d MMMM yyyy", "ar_EG"),
      ("2012年5月4日", "yyyy年M月d日", "ja_JP"),
    ] {
      let transformer = JSONTransformer.date(format: format, locale: Locale(identifier: locale))
      #expect(try transformer.read(.string(text)) == expected, "\(text)")
    }
  }

  @Test(
    "Every day begins at the same moment for patterns and ISO 8601",
    arguments: [
      "America/Sao_Paulo", "America/Havana", "America/Asuncion", "Asia/Beirut", "Africa/Cairo",
      "Pacific/Apia", "America/Toronto", "Europe/Lisbon",
    ])
  func daysAgree(identifier: String) throws {
    let zone = try #require(TimeZone(identifier: identifier))
    let patterns = ["yyyy-MM-dd", "d MMM yyyy", "EEEE, d MMMM yyyy"].map { format in
      let writer = DateFormatter()
      writer.locale = Locale(identifier: "en_US_POSIX")
      writer.timeZone = .gmt
      writer.dateFormat = format
      return (writer, JSONTransformer.date(format: format, timeZone: zone))
    }
    let first = try #require(ISO8601Date.parse("1915-01-01"))
    for number in 0..<44_000 {
      let day = first.addingTimeInterval(Double(number) * 86_400)
      let (writer, transformer) = patterns[number % patterns.count]
      let text = ISO8601Date.seconds(day).prefix(10)
      let expected = try #require(ISO8601Date.parse(String(text), in: zone))
      let clock = Int(expected.timeIntervalSinceReferenceDate) + zone.secondsFromGMT(for: expected)
      guard clock % 86_400 != 0 || number % 50 == 0 else { continue }
      let found: Date = try transformer.read(.string(writer.string(from: day)))
      if found != expected { Issue.record("\(text) in \(identifier) is \(found)") }
    }
  }

  @Test("A written date is read as the same date in any year")
  func writingAgrees() throws {
    let berlin = try #require(TimeZone(identifier: "Europe/Berlin"))
    for format in ["yyyy-MM-dd HH:mm:ss", "d MMM yyyy H:mm:ss"] {
      let transformer = JSONTransformer.date(format: format, timeZone: berlin)
      for year in stride(from: 1, to: 9999, by: 61) {
        let text = String(format: "%04d-03-07T05:06:07", year)
        let date = try #require(ISO8601Date.parse(text, in: berlin))
        let written = try transformer.write(date)
        #expect(try transformer.read(written) == date, "\(text) \(written)")
        if format.hasPrefix("yyyy") {
          #expect(written == .string(text.replacing("T", with: " ")))
        }
      }
    }
  }
}
