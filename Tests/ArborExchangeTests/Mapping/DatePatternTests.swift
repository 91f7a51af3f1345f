import ArborExchange
import ArborJSON
import ArborModel
import ArborObjects
import Foundation
import Testing

/// Every reader of dates follows the same rules.
@Suite struct DatePatternTests {
  /// What an import, and a transformer, read from a text.
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
    "ISO 8601, patterns of digits and other patterns agree on days without midnight and gaps",
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
    ] as [(String, String, String?, String)])
  func readersAgree(zone: String, text: String, format: String?, expected: String) throws {
    #expect(try read(text, format, zone) == expected)
  }

  @Test func daysThatDoNotExistAreRefused() throws {
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
  }

  @Test("What patterns write in any year they read, and it is what ISO 8601 calls the day")
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
