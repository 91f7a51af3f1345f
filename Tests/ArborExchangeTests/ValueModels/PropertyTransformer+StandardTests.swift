import ArborJSON
import ArborExchange
import ArborLocale
import ArborModel
import ArborObjects
import Foundation
import Testing

@Suite struct PropertyTransformerStandardTests {
  enum State: Hashable, Codable { case open, closed, unknown }
  struct Failure: Error, Equatable { var text: String }

  struct Task: ValueModel, Equatable {
    var state: State
    var site: URL?
    var id: UUID?
    var due: Date?
    var made: Date?
    var seen: Date?
    var number: Int?
    var own: String?
    static let jsonTransformers: [String: JSONTransformer] = [
      "state": .mapping(
        ["open": State.open, "closed": .closed, "shut": .closed], default: .unknown,
        reverseDefault: "other"),
      "site": .url, "id": .uuid, "due": .date(format: "dd.MM.yyyy"), "made": .iso8601Date,
      "seen": .unixTime, "number": .numericText(Int.self),
      "own": JSONTransformer { json in
        if json.isNull { return "none" as String? }
        guard let text = json.string else { throw Failure(text: json.text()) }
        return text.uppercased()
      } write: { (text: String?) in
        text.map { .string($0.lowercased()) } ?? "nothing"
      },
    ]
  }

  private func task(_ text: String) throws -> Task {
    try ValueAdapter.decode(Task.self, from: .data(Data(text.utf8)))
  }

  @Test("Standard transformers read and write JSON")
  func theyWorkInBothDirections() throws {
    let json = try JSONValue.parse(
      #"""
      {"state": "closed", "site": "https://a.b", "id": "8B3E6A40-3C0B-4C54-9D1F-0F4F3D3B6A11",
       "due": "24.12.2024", "made": "2024-05-01T12:30:00Z", "seen": 86400, "number": "42",
       "own": "x"}
      """#)
    let task = try ValueAdapter.decode(Task.self, from: .value(json))
    #expect(task.state == .closed && task.site == URL(string: "https://a.b"))
    #expect(task.due == ISO8601Date.parse("2024-12-24") && task.number == 42 && task.own == "X")
    #expect(task.seen == Date(timeIntervalSince1970: 86_400))
    #expect(try ValueAdapter.encode(task) == json)
  }

  @Test("A mapping of values may have defaults")
  func mappingsHaveDefaults() throws {
    for (json, state) in [("\"shut\"", State.closed), ("\"new\"", .unknown), ("null", .unknown)] {
      #expect(try task("{\"state\": \(json)}").state == state)
    }
    #expect(try ValueAdapter.encode(Task(state: .unknown, own: "a"))["state"] == "other")
  }

  @Test("Transformers receive nil")
  func nilGoesThroughTransformers() throws {
    let nulls = try task(#"{"state": "open", "own": null, "due": null, "number": null}"#)
    #expect(nulls == Task(state: .open, own: "none"))
    // A missing key is not passed to the transformer.
    #expect(try task(#"{"state": "open"}"#).own == nil)
    #expect(try ValueAdapter.encode(Task(state: .open))["own"] == "nothing")
  }

  @Test("The error of a transformer is reported with its location")
  func whatATransformerThrowsTheCallerGets() throws {
    let own = try #require(throws: ArborError.self) { try task(#"{"state": "open", "own": [1]}"#) }
    #expect(own.code == .modelError && own.underlying as? Failure == Failure(text: "[1]"))
    #expect(own.location?.path == "$.own")
    let error = try #require(throws: ArborError.self) {
      try task("{\"state\": \"open\",\n\"due\": \"31.02.2024\"}")
    }
    #expect(error.code == .unparsableValue && error.location?.line == 2, "\(error)")
    #expect(error.location?.path == "$.due")
  }

  /// The same transformers with attributes that store strings and numbers.
  struct Stored: ValueModel, Equatable {
    var text: URL?
    var whole: Date?
    var level: UUID?
    var rank: State?
    var double: Date?
    static let entityName = "Sample"
    static let managedTransformers: [String: ManagedTransformer] = [
      "text": .url, "whole": .unixTime, "level": .uuid,
      "rank": .mapping([1: State.open, 2: .closed], default: .unknown, reverseDefault: 0),
      "double": .unixTime,
    ]
  }

  @Test("Transformers read and write attributes")
  func attributesAreTransformedInBothDirections() throws {
    let workshop = try ModelWorkshop()
    let stored = Stored(
      text: URL(string: "https://a.b"), whole: Date(timeIntervalSince1970: 7), level: UUID(),
      rank: .closed, double: Date(timeIntervalSince1970: 1.5))
    let object = try workshop.context.upsert(stored)
    #expect(object["text"] == "https://a.b" && object["whole"] == 7 && object["rank"] == 2)
    #expect(object["double"] == 1.5)
    #expect(try Stored(object) == stored)
    let empty = try workshop.context.upsert(Stored())
    #expect(empty["text"] == .null && empty["rank"] == 0)
    #expect(try Stored(empty) == Stored(rank: .unknown))
    try object.setValue("", forKey: "level")
    let error = try workshop.failure { try Stored(object) }
    #expect(error.code == .unparsableValue && error.keyPath == "level" && error.entity == "Sample")
    try workshop.finish()
  }

  struct Strict: ValueModel, Equatable {
    var kind: Int
    static let jsonTransformers: [String: JSONTransformer] = ["kind": .mapping(["a": 1, "b": 2])]
  }

  @Test("Without a default, a value that is not in the mapping is an error")
  func withoutDefaultsWhatHasNoEntryIsAnError() throws {
    #expect(try ValueAdapter.decode(Strict.self, from: ["kind": "b"]) == Strict(kind: 2))
    let error = #expect(throws: ArborError.self) {
      try ValueAdapter.decode(Strict.self, from: ["kind": "c"])
    }
    #expect(error?.message.contains("expected one of 2 known values.") == true)
    let single = #expect(throws: ArborError.self) {
      try JSONTransformer.mapping(["a": 1]).read("b", as: Int.self)
    }
    #expect(single?.message.contains("expected the only known value.") == true)
    #expect(throws: ArborError.self) { try ValueAdapter.decode(Strict.self, from: ["kind": nil]) }
    #expect(throws: ArborError.self) { try ValueAdapter.decode(Strict.self, from: [:]) }
    #expect(throws: ArborError.self) { try ValueAdapter.encode(Strict(kind: 3)) }
  }

  @Test("A date transformer has a time zone and a locale")
  func datesHaveTheirZoneAndLanguage() throws {
    let berlin = try #require(TimeZone(identifier: "Europe/Berlin"))
    let transformer = JSONTransformer.date(
      format: "d. MMMM yyyy HH:mm", timeZone: berlin, locale: Locale(identifier: "de_DE"))
    let summer: Date = try transformer.read("1. Mai 2024 12:30")
    #expect(summer == ISO8601Date.parse("2024-05-01T10:30:00Z"))
    #expect(try transformer.write(summer) == "1. Mai 2024 12:30")
    #expect(
      try transformer.read("1. Januar 2024 12:30") as Date
        == ISO8601Date.parse("2024-01-01T11:30:00Z"))
    let error = try #require(throws: ArborError.self) { try transformer.read("May", as: Date.self) }
    #expect(error.code == .unparsableValue)
  }

  @Test("Unix times are read from numbers and strings in their unit")
  func unixTimesAreNumbersOfTheirUnitAlsoInTexts() throws {
    let date = Date(timeIntervalSince1970: 1_360_605_600.25)
    #expect(try JSONTransformer.unixTime.read(1_360_605_600.25) == date)
    #expect(try JSONTransformer.unixTime.read("1360605600.25") == date)
    #expect(try JSONTransformer.unixTime.read(1_360_605_600_250) == date)
    #expect(try JSONTransformer.unixTime.write(date) == 1_360_605_600.25)
    #expect(try JSONTransformer.unixMilliseconds.read("1360605600250") == date)
    #expect(try JSONTransformer.unixMilliseconds.write(date) == 1_360_605_600_250)
    #expect(try JSONTransformer.unixMicroseconds.read(1_360_605_600_250_000) == date)
    #expect(try JSONTransformer.unixMicroseconds.write(date) == 1_360_605_600_250_000)
    let odd = Date(timeIntervalSince1970: 1_360_605_600.123)
    #expect(try JSONTransformer.unixMilliseconds.write(odd) == 1_360_605_600_123)
    #expect(try JSONTransformer.unixMilliseconds.read(1_360_605_600_123) == odd)
    let late = Date(timeIntervalSince1970: 1e11)
    #expect(throws: ArborError.self) { try JSONTransformer.unixTime.write(late) }
    #expect(try JSONTransformer.unixMilliseconds.write(late) == 100_000_000_000_000)
    let error = try #require(throws: ArborError.self) {
      try JSONTransformer.unixTime.read("soon", as: Date.self)
    }
    #expect(error.code == .unparsableValue)
  }
}
