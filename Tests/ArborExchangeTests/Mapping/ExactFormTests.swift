import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import Testing

@Suite struct ExactFormTests {
  static let accepted: [(name: String, json: String, value: PropertyValue)] = [
    ("name", #"{"$value": "<uniqueID>"}"#, "<uniqueID>"), ("name", #"{"$value": ""}"#, ""),
    ("height", #"{"$value": 1.5}"#, 1.5),
    ("hired", #"{"$value": -1e15}"#, .date(Date(timeIntervalSinceReferenceDate: -1e15))),
    ("hired", #"{"$value": "2001-01-01"}"#, .date(Date(timeIntervalSinceReferenceDate: 0))),
    (
      "born", #"{"$value": "2001-01-01T00:00:01Z"}"#,
      .date(Date(timeIntervalSinceReferenceDate: 1))
    ),
    ("seen", #"{"$value": 1}"#, .date(Date(timeIntervalSinceReferenceDate: 1))),
  ]

  @Test(
    "The exact form represents values that have no plain JSON form", arguments: accepted.indices)
  func takesWhatThePlainFormHasNoRoomFor(index: Int) throws {
    let workshop = try SeedWorkshop()
    let (name, json, value) = Self.accepted[index]
    try workshop.seed("{\"Employee\": {\"\(name)\": \(json)}}")
    #expect(try workshop.only("Employee").value(forKey: name) == value)
    try workshop.finish()
  }

  @Test("Infinite numbers are seeded and exported in the exact form")
  func infinitiesAreStored() throws {
    let workshop = try SeedWorkshop()
    try workshop.seed(
      #"{"Employee": {"height": {"$value": "Infinity"}, "weight": {"$value": "-Infinity"}}}"#)
    let employee = try workshop.only("Employee")
    #expect(employee["height"] == .double(.infinity) && employee["weight"] == .double(-.infinity))
    let text = String(decoding: try workshop.context.export([employee]), as: UTF8.self)
    #expect(text.contains(#""height":{"$value":"Infinity"}"#), "\(text)")
    try workshop.finish()
  }

  @Test("Other values in the exact form are rejected")
  func refusesEverythingElse() throws {
    for (name, json) in [
      ("name", #"{"$value": 1}"#), ("name", #"{"$value": null}"#), ("name", #"{"value": "x"}"#),
      ("name", #"{"$value": "x", "y": 1}"#), ("height", #"{"$value": "1"}"#),
      ("height", #"{"$value": "NaN"}"#), ("age", #"{"$value": 1}"#), ("hired", #"{"$value": "x"}"#),
      ("isActive", #"{"$value": true}"#), ("hired", "{}"), ("badge", #"{"$value": "x"}"#),
    ] {
      let workshop = try SeedWorkshop()
      let error = try workshop.failure(of: "{\"Employee\": {\"\(name)\": \(json)}}")
      #expect(error.keyPath == name && error.code == .invalidDocument, "\(error)")
    }
  }
}
