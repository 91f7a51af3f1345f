import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import Testing

@Suite struct AttributeReaderTests {
  static let accepted: [(name: String, json: String, value: PropertyValue)] = [
    ("age", "41", 41), ("age", "-32768", -32768), ("age", "32767", 32767), ("age", "4.10e1", 41),
    ("level", "2147483647", 2_147_483_647), ("employeeID", "9223372036854775807", .integer(.max)),
    ("employeeID", "-9223372036854775808", .integer(.min)), ("isActive", "false", false),
    ("weight", "61.5", 61.5), ("weight", "61", 61.0), ("height", "1e308", 1e308),
    ("name", "\"\"", ""), ("name", #""é\n😀""#, "é\n😀"), ("name", #""<uniqueid>""#, "<uniqueid>"),
    ("photo", #""AAEC/w==""#, .binary(Data([0, 1, 2, 255]))), ("photo", #""""#, .binary(Data())),
    ("hired", #""2001-01-01T00:00:01Z""#, .date(Date(timeIntervalSinceReferenceDate: 1))),
    ("hired", #""2001-01-01T01:00:01.5+01:00""#, .date(Date(timeIntervalSinceReferenceDate: 1.5))),
    ("born", #""02.01.2001""#, .date(Date(timeIntervalSinceReferenceDate: 86_400))),
    ("seen", "978307200", .date(Date(timeIntervalSinceReferenceDate: 0))),
    ("seen", "978307200.25", .date(Date(timeIntervalSinceReferenceDate: 0.25))),
    (
      "homepage", #""https://example.com/a?b""#,
      URL(string: "https://example.com/a?b").map(PropertyValue.uri) ?? nil
    ),
  ]

  @Test("Values of the right type and form are accepted", arguments: accepted.indices)
  func acceptsExactly(index: Int) throws {
    let workshop = try SeedWorkshop()
    let (name, json, value) = Self.accepted[index]
    try workshop.seed("{\"Employee\": {\"\(name)\": \(json)}}")
    #expect(try workshop.only("Employee").value(forKey: name) == value)
    try workshop.finish()
  }

  @Test("Decimals and UUIDs are read exactly")
  func acceptsDecimalsAndUUIDs() throws {
    let workshop = try SeedWorkshop()
    try workshop.seed(
      #"""
      {"Employee": {"salary": 12345678901234567890.10,
                    "badge": "6ba7b810-9dad-11d1-80b4-00c04fd430c8"}}
      """#)
    let employee = try workshop.only("Employee")
    let salary = try #require(Decimal(string: "12345678901234567890.1"))
    let badge = try #require(UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"))
    #expect(try employee.value(forKey: "salary") == .decimal(salary))
    #expect(try employee.value(forKey: "badge") == .uuid(badge))
    try workshop.finish()
  }

  static let refused: [(name: String, json: [String])] = [
    ("age", ["32768", "-32769", "1.5", "\"41\"", "true", "[]", "{}", "1e99"]),
    ("level", ["2147483648", "0.1", "\"1\""]),
    ("employeeID", ["9223372036854775808", "1e19", "\"1\"", "false"]),
    ("isActive", ["0", "1", "\"true\"", "[]"]),
    ("weight", ["1e39", "\"1\"", "true"]), ("height", ["1e309", "\"1\""]),
    ("salary", ["\"1\"", "1234567890123456789012345678901234567890", "1e200", "true"]),
    ("name", ["1", "true", "[]", "{}"]),
    ("hired", ["0", "\"yesterday\"", "\"2024-02-30T00:00:00Z\"", "true", "{}"]),
    ("born", ["0", "\"2001-01-02\"", "\"30.02.2001\"", "\"02.01.2001x\""]),
    ("seen", ["\"978307200 s\"", "\"soon\"", "true"]), ("photo", ["\"!\"", "\"AAE\"", "[0]"]),
    ("badge", ["\"x\"", "1"]), ("homepage", ["1", "true", "[]"]),
    ("homepage", ["\"\"", "\"http://[\""]),
  ]

  @Test("Values of another type or form are rejected", arguments: refused.indices)
  func refusesEverythingElse(index: Int) throws {
    let (name, texts) = Self.refused[index]
    for json in texts {
      let workshop = try SeedWorkshop()
      let error = try workshop.failure(of: "{\"Employee\": [{}, {\"\(name)\": \(json)}]}")
      // Strings are parsed for attributes whose values can be given as strings.
      let isParsed =
        json.hasPrefix("\"")
        && ["hired", "born", "seen", "photo", "badge", "homepage"].contains(name)
      #expect(error.code == (isParsed ? .unparsableValue : .invalidDocument), "\(name) \(json)")
      #expect(error.entity == "Employee" && error.keyPath == name, "\(error)")
      #expect(error.location?.path == "$.Employee[1].\(name)")
      #expect(error.message.contains("for Employee.\(name)"))
    }
  }

  @Test("Error descriptions don't contain values, but debug descriptions do")
  func errorsKeepValuesToTheDebugDescription() throws {
    let workshop = try SeedWorkshop()
    let error = try workshop.failure(of: #"{"Employee": {"age": "hunter2"}}"#)
    #expect(!error.description.contains("hunter2"))
    #expect(error.debugDescription.contains("hunter2"))
  }
}
