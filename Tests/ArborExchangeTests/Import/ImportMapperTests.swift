import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import Testing

/// The import settings in the model's `userInfo`.
@Suite struct ImportMapperTests {
  private func entity(
    _ attributes: [AttributeDescription], _ notes: [String: String] = [:]
  ) -> [EntityDescription] {
    [EntityDescription(name: "PrimaryKeyEntity", attributes: attributes, userInfo: notes)]
  }

  private func text(_ name: String, _ notes: [String: String] = [:]) -> AttributeDescription {
    AttributeDescription(name: name, type: .string, isOptional: true, userInfo: notes)
  }

  private func date(_ notes: [String: String] = [:]) -> AttributeDescription {
    AttributeDescription(name: "when", type: .date, isOptional: true, userInfo: notes)
  }

  @Test(
    "The entity's user info names the identifying attribute",
    arguments: ["PrimaryAttribute", "PrimaryKey", "relatedByAttribute"])
  func entityNotesNameTheIdentity(key: String) throws {
    let workshop = try ImportWorkshop(entity([text("code"), text("data")], [key: "code"]))
    try workshop.one(#"{"code": "a", "data": "old"}"#, as: "PrimaryKeyEntity")
    try workshop.one(#"{"code": "a", "data": "new"}"#, as: "PrimaryKeyEntity")
    #expect(try workshop.values("PrimaryKeyEntity", "data") == ["new"])
    try workshop.finish()
  }

  @Test("By default, the attribute named after the entity with \"ID\" is the identity")
  func withoutANoteTheEntityNameWithIDIsTheIdentity() throws {
    let workshop = try ImportWorkshop(entity([text("primaryKeyEntityID"), text("data")]))
    try workshop.list(
      #"[{"primaryKeyEntityID": "a"}, {"primaryKeyEntityID": "b"}]"#, as: "PrimaryKeyEntity")
    try workshop.list(
      #"[{"primaryKeyEntityID": "b", "data": "x"}]"#, as: "PrimaryKeyEntity")
    #expect(try workshop.values("PrimaryKeyEntity", "data") == [nil, "x"])
    try workshop.finish()
  }

  @Test("Subentities inherit the identity")
  func subentitiesInheritTheIdentity() throws {
    let workshop = try ImportWorkshop([
      EntityDescription(
        name: "Party", attributes: [text("code")], userInfo: ["PrimaryAttribute": "code"]),
      EntityDescription(name: "Person", parent: "Party", attributes: [text("name")]),
    ])
    try workshop.one(#"{"code": "a", "name": "Ada"}"#, as: "Person")
    try workshop.one(#"{"code": "a", "name": "Eve"}"#, as: "Person")
    #expect(try workshop.values("Person", "name") == ["Eve"])
    try workshop.finish()
  }

  @Test("An unknown identifying attribute is rejected")
  func anUnknownPrimaryAttributeIsAnError() throws {
    let workshop = try ImportWorkshop(entity([text("code")], ["PrimaryAttribute": "cod"]))
    let error = try workshop.failure { try workshop.one("{}", as: "PrimaryKeyEntity") }
    #expect(error.code == .invalidModel)
    #expect(error.message.contains("Did you mean code?"))
  }

  @Test(
    "The property's user info names the imported key",
    arguments: ["ImportName", "mappedKeyName", "externalName"])
  func propertyNotesNameTheKey(key: String) throws {
    let attributes = [text("code", [key: "customPrimaryKey"]), text("data", [key: "payload"])]
    let workshop = try ImportWorkshop(entity(attributes, ["PrimaryAttribute": "code"]))
    try workshop.list(
      #"[{"customPrimaryKey": "1", "payload": "x", "data": "no"}]"#, as: "PrimaryKeyEntity")
    try workshop.list(#"[{"customPrimaryKey": "1", "payload": "y"}]"#, as: "PrimaryKeyEntity")
    #expect(try workshop.values("PrimaryKeyEntity", "data") == ["y"])
    try workshop.finish()
  }

  @Test("Dots in a key name descend into objects, and commas separate alternatives")
  func dotsDescendIntoObjectsAndCommasSeparateAlternatives() throws {
    let notes = ["ImportName": " image . small , thumbnail,picture "]
    let workshop = try ImportWorkshop(entity([text("url", notes)]))
    for json in [
      #"{"image": {"small": "a"}, "thumbnail": "b"}"#, #"{"image": {}, "thumbnail": "b"}"#,
      #"{"image": 1, "picture": "c"}"#, #"{"thumbnail": null, "picture": "c"}"#,
    ] {
      try workshop.one(json, as: "PrimaryKeyEntity")
    }
    // The first key that is present applies, even if its value is null.
    #expect(try workshop.values("PrimaryKeyEntity", "url") == ["a", "b", "c", nil])
    try workshop.finish()
  }

  @Test(
    "A key that contains the dots or commas of a path takes precedence",
    arguments: [
      ("API.Log", #"{"API.Log": "x", "API": {"Log": "y"}}"#),
      ("API.Log", #"{"API": {"Log": "x"}}"#),
      (#"API\.Log"#, #"{"API.Log": "x", "API": {"Log": "y"}}"#),
      ("Height, cm", #"{"Height, cm": "x", "Height": "y", "cm": "z"}"#),
      ("Height, cm", #"{"cm": "x"}"#),
      (#"Height\, cm"#, #"{"Height, cm": "x", "Height": "y"}"#),
      (#"a\\b"#, #"{"a\\b": "x"}"#),
      ("no, a.b", #"{"a.b": "x", "a": {"b": "y"}}"#),
      ("tags.0", #"{"tags": ["x", "y"]}"#),
      ("pages.1.title", #"{"pages": [{"title": "y"}, {"title": "x"}]}"#),
      ("pages.1.title, title", #"{"pages": [{"title": "y"}], "title": "x"}"#),
      ("tags.0", #"{"tags": {"0": "x"}}"#),
    ])
  func keysThatArePathsToo(note: String, json: String) throws {
    let workshop = try ImportWorkshop(entity([text("data", ["ImportName": note])]))
    try workshop.one(json, as: "PrimaryKeyEntity")
    #expect(try workshop.values("PrimaryKeyEntity", "data") == ["x"])
    try workshop.finish()
  }

  @Test(
    "Date formats are read in UTC if the text has no time zone",
    arguments: ["DateFormat", "dateFormat"])
  func dateFormatsAreReadInUTCWhereTheTextNamesNoZone(key: String) throws {
    let workshop = try ImportWorkshop(entity([date([key: "M/d/yyyy"])]))
    try workshop.one(#"{"when": "1/2/2001"}"#, as: "PrimaryKeyEntity")
    let expected = Date(timeIntervalSinceReferenceDate: 86_400)
    #expect(try workshop.values("PrimaryKeyEntity", "when") == [.date(expected)])
    try workshop.finish()
  }

  @Test("Dates are ISO 8601 texts or seconds since 1970")
  func datesAreISO8601WithFractionsOptionalAndNumbersAreSecondsSince1970() throws {
    let workshop = try ImportWorkshop(entity([date()]))
    let texts = [
      #""2001-01-01T00:00:01Z""#, #""2001-01-01T02:00:01.5+02:00""#, "978307201", "978307200.25",
    ]
    for text in texts { try workshop.one("{\"when\": \(text)}", as: "PrimaryKeyEntity") }
    let seconds = try workshop.values("PrimaryKeyEntity", "when").map { value -> Double? in
      if case .date(let date) = value { date.timeIntervalSinceReferenceDate } else { nil }
    }
    #expect(seconds == [1, 1.5, 1, 0.25])
    try workshop.finish()
  }

  @Test(
    "Unix time is read in seconds, milliseconds and microseconds, also from strings",
    arguments: [
      ("UnixTime", "978307200", 0), ("UnixTime", #""978307200""#, 0),
      ("UnixTime", "978307200.5", 0.5),
      ("UnixTime", "978307200500", 0.5), ("UnixTime", #""978307200500""#, 0.5),
      ("UnixTime", "978307200500000", 0.5), ("UnixTime", "-1e3", -978_308_200),
      ("UnixTime", #""soon""#, nil), ("UnixTime", #""978307200s""#, nil), ("UnixTime", "true", nil),
      ("UnixTimeMilliseconds", "978307200500", 0.5), ("UnixTimeMilliseconds", "0", -978_307_200),
      ("UnixTimeMilliseconds", #""1000""#, -978_307_199),
      ("UnixTimeMicroseconds", "978307200500000", 0.5),
      ("UnixTimeMicroseconds", #""1000000""#, -978_307_199),
      (nil, "978307200", 0), (nil, "978307200500", 0.5), (nil, "978307200500000", 0.5),
      (nil, #""978307200""#, nil),
      ("yyyyMMddHHmm", "200101010000", nil), ("yyyyMMddHHmm", #""200101010000""#, 0),
      ("yyyy-MM-dd", "0", nil), ("yyyy", "2001", nil), ("yyyy", #""2001""#, 0),
    ] as [(String?, String, Double?)])
  func unixTime(format: String?, json: String, seconds: Double?) throws {
    let notes = format.map { ["DateFormat": $0] } ?? [:]
    let workshop = try ImportWorkshop(entity([date(notes)]))
    if let seconds {
      try workshop.one("{\"when\": \(json)}", as: "PrimaryKeyEntity")
      #expect(
        try workshop.values("PrimaryKeyEntity", "when")
          == [.date(Date(timeIntervalSinceReferenceDate: seconds))])
    } else {
      let error = try workshop.failure {
        try workshop.one("{\"when\": \(json)}", as: "PrimaryKeyEntity")
      }
      #expect(error.code == (json.hasPrefix("\"") ? .unparsableValue : .invalidDocument))
      #expect(error.keyPath == "when")
    }
    try workshop.finish()
  }

  @Test("The import's options can set the default date format")
  func theDefaultDatePatternIsAnOption() throws {
    let workshop = try ImportWorkshop(entity([date()]))
    var options = ImportOptions()
    options.dateFormat = "dd.MM.yyyy"
    try workshop.one(#"{"when": "02.01.2001"}"#, as: "PrimaryKeyEntity", options)
    #expect(
      try workshop.values("PrimaryKeyEntity", "when")
        == [.date(Date(timeIntervalSinceReferenceDate: 86_400))])
    try workshop.finish()
  }

  @Test("Derived attributes are not imported")
  func derivedAttributesAreNotImported() throws {
    let derived = AttributeDescription(
      name: "shout", type: .string, isOptional: true, derivation: "uppercase:(data)")
    let workshop = try ImportWorkshop(entity([text("data"), derived]))
    try workshop.one(#"{"data": "a", "shout": "b"}"#, as: "PrimaryKeyEntity")
    try workshop.finish()
    #expect(try workshop.values("PrimaryKeyEntity", "shout") == ["A"])
  }
}
