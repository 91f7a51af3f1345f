import ArborJSON
import ArborModel
import Foundation
import Testing

@testable import ArborBrowser

/// Conversion of text entered into a form to values.
@Suite struct TypedTextTests {
  private func value(_ type: AttributeType, _ json: JSONValue) throws(ArborError) -> PropertyValue {
    let attribute = AttributeDescription(name: "x", type: type)
    return try TypedText(entity: "Thing", attribute: attribute).value(of: json)
  }

  @Test("Text of every type is converted")
  func readsEveryType() throws {
    let uuid = UUID()
    let cases: [(AttributeType, JSONValue, PropertyValue)] = [
      (.string, "a", .string("a")), (.string, "", .string("")), (.string, .null, .null),
      (.integer64, "-9223372036854775808", .integer(.min)), (.integer16, 7, .integer(7)),
      (.double, "1.5e3", .double(1500)), (.boolean, true, .boolean(true)),
      (.boolean, "False", .boolean(false)), (.uuid, .string(uuid.uuidString), .uuid(uuid)),
      (.date, "2026-01-31T12:00:00Z", .date(Date(timeIntervalSince1970: 1_769_860_800))),
      (.date, "2026-01-31T12:00:00.250Z", .date(Date(timeIntervalSince1970: 1_769_860_800.25))),
      (.binary, ["base64": "AQI="], .binary(Data([1, 2]))),
    ]
    for (type, json, expected) in cases { #expect(try value(type, json) == expected) }
    let decimal = try value(.decimal, "1234567890123456789.25")
    #expect("\(decimal)".contains("1234567890123456789.25"))
  }

  @Test("The error for invalid input describes a valid one")
  func saysWhatToWrite() {
    let cases: [(AttributeType, JSONValue, String)] = [
      (.integer32, "1.5", "Enter an integer, such as 42."),
      (.integer32, "", "Enter an integer, such as 42."),
      (.double, "nan", "Enter a number, such as 1.5."),
      (.decimal, "1,5", "Enter a number, such as 1.5."),
      (.boolean, "maybe", "Enter true or false."),
      (.date, "tomorrow", "Enter a date, such as 2026-01-31T12:00:00Z."),
      (.uuid, "1", "Enter 32 hexadecimal digits with hyphens."),
      (.binary, "AQI=", "Choose a file."), (.binary, ["base64": "%"], "Choose a file."),
      (.string, [1], "This attribute can only be changed by a program."),
      (.composite("C"), "x", "This attribute can only be changed by a program."),
    ]
    for (type, json, advice) in cases {
      let error = #expect(throws: ArborError.self) { try value(type, json) }
      #expect(error?.message == "The value is not valid for Thing.x. \(advice)")
      #expect(error?.code == .unparsableValue)
    }
  }
}
