import ArborJSON
import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import Testing

/// The values that each kind of mapping accepts, and its handling of others.
@Suite struct SyncValueReaderTests {
  private static let entity = EntityDescription(
    name: "Thing",
    attributes: [
      AttributeDescription(name: "text", type: .string, isOptional: true),
      AttributeDescription(name: "flag", type: .boolean, isOptional: true),
      AttributeDescription(name: "whole", type: .integer64, isOptional: true),
      AttributeDescription(name: "small", type: .integer16, isOptional: true),
      AttributeDescription(name: "real", type: .double, isOptional: true),
      AttributeDescription(name: "single", type: .float, isOptional: true),
      AttributeDescription(name: "exact", type: .decimal, isOptional: true),
      AttributeDescription(name: "when", type: .date, isOptional: true),
    ])

  private struct Serializer: SyncSerializer {
    typealias Object = ManagedObject
    let entityName: String? = "Thing"
    let deleteMissing = false
    var strictTypes = false
    var mapping: SyncMapping
  }

  private static func read(
    _ attribute: String, _ source: SyncSource, _ json: String, strictly: Bool = false
  ) throws -> PropertyValue {
    let workshop = try ImportWorkshop([entity])
    let serializer = Serializer(strictTypes: strictly, mapping: [attribute: source])
    try workshop.context.sync(from: .value(JSONValue.parse(json)), using: serializer)
    let value = try #require(workshop.all("Thing").first).value(forKey: attribute)
    try workshop.finish()
    return value
  }

  private static let day = Date(timeIntervalSinceReferenceDate: 0)

  static let cases: [(attribute: String, source: SyncSource, json: String, value: PropertyValue?)] =
    [
      ("text", .string("a"), #"{"a": "x"}"#, "x"), ("text", .string("a"), #"{"a": 1}"#, nil),
      ("text", .string(["a", "b"]), #"{"a": {"b": "x"}}"#, "x"),
      ("text", .string(["tags", 0]), #"{"tags": ["x", "y"]}"#, "x"),
      ("text", .string(["tags", 2]), #"{"tags": ["x", "y"]}"#, .null),
      ("text", .string(["a", "b"]), #"{"a": "x"}"#, .null),
      ("text", .value("a"), #"{"a": "x"}"#, "x"), ("text", .value("a"), #"{"a": 5}"#, nil),
      ("flag", .bool("a"), #"{"a": true}"#, true), ("flag", .bool("a"), #"{"a": 1}"#, nil),
      ("whole", .int("a"), #"{"a": 9223372036854775807}"#, .integer(.max)),
      ("whole", .int("a"), #"{"a": -1.9}"#, -1), ("whole", .int("a"), #"{"a": true}"#, 1),
      ("whole", .int("a"), #"{"a": 1e30}"#, nil), ("whole", .int("a"), #"{"a": "1"}"#, nil),
      ("whole", .number("a"), #"{"a": 12}"#, 12), ("real", .number("a"), #"{"a": 1.5}"#, 1.5),
      ("real", .number("a"), #"{"a": false}"#, 0.0), ("real", .double("a"), #"{"a": 2}"#, 2.0),
      ("real", .double("a"), #"{"a": "2"}"#, nil), ("single", .float("a"), #"{"a": 0.5}"#, 0.5),
      ("single", .float("a"), #"{"a": 1e300}"#, nil),
      ("exact", .number("a"), #"{"a": 0.1}"#, .decimal(Decimal(1) / 10)),
      ("when", .isoDate("a"), #"{"a": "2001-01-01T00:00:00Z"}"#, .date(day)),
      ("when", .isoDate("a"), #"{"a": "2001-01-01T01:00:00.000+01:00"}"#, .date(day)),
      ("when", .isoDate("a"), #"{"a": "2001-01-01"}"#, nil),
      ("when", .isoDate("a"), #"{"a": "2001-01-01T00:00:00"}"#, nil),
      ("when", .isoDate("a"), #"{"a": ""}"#, nil), ("when", .isoDate("a"), #"{"a": 0}"#, nil),
    ]

  @Test("A value of another type yields nil, or an error in strict mode", arguments: cases.indices)
  func anotherTypeIsNilOrStrictlyAnError(index: Int) throws {
    let (attribute, source, json, value) = Self.cases[index]
    #expect(try Self.read(attribute, source, json) == value ?? .null)
    if let value {
      #expect(try Self.read(attribute, source, json, strictly: true) == value)
    } else {
      let error = try #require(throws: ArborError.self) {
        try Self.read(attribute, source, json, strictly: true)
      }
      let isDate = attribute == "when" && json.hasSuffix("\"}")
      #expect(error.code == (isDate ? .unparsableValue : .invalidDocument))
      #expect(error.location?.path == "$.a")
      #expect(error.keyPath == attribute)
    }
  }

  @Test("A value that the attribute can't hold is rejected")
  func whatTheAttributeCannotHoldIsAnError() throws {
    for (attribute, source): (String, SyncSource) in [
      ("small", .int("a")), ("text", .int("a")), ("when", .double("a")),
    ] {
      let error = try #require(throws: ArborError.self) {
        try Self.read(attribute, source, #"{"a": 70000}"#)
      }
      #expect(error.code == .invalidDocument)
    }
  }
}
