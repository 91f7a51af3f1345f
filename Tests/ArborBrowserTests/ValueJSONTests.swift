import ArborJSON
import ArborModel
import Foundation
import Testing

@testable import ArborBrowser

/// Values as JSON for the page.
@Suite struct ValueJSONTests {
  @Test("The JSON form distinguishes all types of values")
  func everyKindCanBeTold() {
    let id = ObjectID(storeID: UUID(), entityName: "Office", number: 7)
    let uuid = UUID()
    let cases: [(PropertyValue, JSONValue)] = [
      (.null, .null), (.boolean(true), true), (.integer(-5), -5),
      (.integer(1 << 53), .number(JSONNumber(1 << 53))),
      (.integer(1 << 53 + 1), ["number": "9007199254740993"]), (.double(0.5), 0.5),
      (.double(.infinity), ["number": "inf"]), (.string("<b>"), "<b>"),
      (.date(Date(timeIntervalSince1970: 0.25)), ["date": "1970-01-01T00:00:00.250Z"]),
      (.binary(Data([1, 2])), ["binary": 2, "kind": "bytes"]),
      (.binary(Data("hello".utf8)), ["binary": 5, "kind": "text"]),
      (.uuid(uuid), ["uuid": .string(uuid.uuidString)]), (.objectID(id), ["object": "Office/7"]),
      (.list([1, "a"]), ["list": [1, "a"]]),
      (.composite(["b": 2, "a": 1]), ["parts": ["a": 1, "b": 2]]),
    ]
    for (value, json) in cases { #expect(ValueJSON.json(value) == json) }
  }

  @Test("Long texts are truncated")
  func longTextsAreCut() {
    let text = String(repeating: "ä", count: 300)
    let cut: JSONValue = ["text": .string(String(repeating: "ä", count: 240)), "length": 300]
    #expect(ValueJSON.json(.string(text), maximumLength: 240) == cut)
    #expect(
      ValueJSON.json(.string(String(text.prefix(240))), maximumLength: 240).string?.count == 240)
  }

  @Test("The kind of a binary value is detected from its first bytes")
  func binariesAreToldByTheirFirstBytes() {
    let heads: [(String, [UInt8])] = [
      ("png", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
      ("jpeg", [0xFF, 0xD8, 0xFF, 0xE0]),
      ("gif", Array("GIF89a".utf8)), ("webp", Array("RIFF0000WEBP".utf8)),
      ("text", Array("plain\ntext ä".utf8).dropLast()), ("bytes", [0, 1, 2]), ("bytes", []),
      // An SVG image, which may contain scripts, is displayed as text.
      ("text", Array("<svg xmlns='http://www.w3.org/2000/svg'>".utf8)),
    ]
    for (kind, bytes) in heads { #expect(BinaryKind(Data(bytes)).rawValue == kind, "\(bytes)") }
  }
}
