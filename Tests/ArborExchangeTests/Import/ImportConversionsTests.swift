import ArborExchange
import ArborJSON
import ArborLocale
import ArborModel
import ArborObjects
import Foundation
import Testing

/// Conversion of values in the forms that services and spreadsheets use.
@Suite struct ImportConversionsTests {
  private static let rows = [
    EntityDescription(
      name: "Row",
      attributes: [
        AttributeDescription(name: "id", type: .integer64, isOptional: true),
        AttributeDescription(name: "zip", type: .string, isOptional: true),
        AttributeDescription(name: "paid", type: .boolean, isOptional: true),
        AttributeDescription(name: "price", type: .decimal, isOptional: true),
        AttributeDescription(name: "count", type: .integer32, isOptional: true),
        AttributeDescription(name: "at", type: .date, isOptional: true),
        AttributeDescription(name: "link", type: .uri, isOptional: true),
      ],
      userInfo: ["PrimaryAttribute": "id"])
  ]

  private func value(
    _ name: String, _ json: String, _ conversions: ImportConversions = .spreadsheet,
    numbers: JSONNumberFormat? = nil
  ) throws -> PropertyValue {
    let workshop = try ImportWorkshop(Self.rows)
    var options = ImportOptions()
    options.conversions = conversions
    options.numberFormat = numbers
    let row = try workshop.one("{\"id\": \"1\", \"\(name)\": \(json)}", as: "Row", options)
    try workshop.finish()
    return try #require(row).value(forKey: name)
  }

  static let converted: [(name: String, json: String, value: PropertyValue)] = [
    ("at", "\"\"", nil), ("price", "\"\"", nil), ("paid", "\"\"", nil), ("zip", "\"\"", nil),
    ("link", "\"\"", nil), ("paid", "\"1\"", true), ("paid", "\"0\"", false), ("paid", "1", true),
    ("paid", "0", false), ("paid", "\"Yes\"", true), ("paid", "\"NO\"", false),
    ("paid", "\"true\"", true), ("paid", "\"False\"", false), ("paid", "true", true),
    ("zip", "1234", "1234"), ("zip", "1.50", "1.50"), ("zip", "\"x\"", "x"),
    ("price", "\".5\"", 0.5), ("price", "\"-.5\"", -0.5), ("price", "\"1e3\"", 1000),
    ("price", "\"1'234.5\"", 1234.5), ("price", "\"1’234’567.25\"", 1_234_567.25),
    ("count", "\"1e3\"", 1000), ("count", "\"1'000\"", 1000), ("count", "7", 7),
  ]

  @Test("Values in the forms of spreadsheets are converted", arguments: converted.indices)
  func spreadsheetsAreConverted(index: Int) throws {
    let (name, json, value) = Self.converted[index]
    let found = try self.value(name, json)
    guard case .decimal(let decimal) = found else {
      #expect(found == value)
      return
    }
    let expected: Double? =
      switch value {
      case .double(let number): number
      case .integer(let number): Double(number)
      default: nil
      }
    #expect(NSDecimalNumber(decimal: decimal).doubleValue == expected)
  }

  @Test(
    "Values in neither form are rejected",
    arguments: [
      ("paid", "2"), ("paid", "\"2\""), ("paid", "\"on\""), ("count", "\"1.5\""),
      ("count", "\"x\""),
      ("price", "\"1'23.5\""), ("price", "\"e3\""), ("price", "\"1e\""), ("price", "\"1e3.5\""),
      ("price", "\".\""), ("price", "\"5.\""), ("at", "\" \""), ("zip", "true"),
    ])
  func whatIsNeitherIsAnError(name: String, json: String) throws {
    let error = #expect(throws: ArborError.self) { try value(name, json) }
    #expect(error?.entity == "Row" && error?.keyPath == name)
  }

  @Test(
    "Without the option, no value is converted",
    arguments: [
      ("at", "\"\""), ("paid", "\"1\""), ("paid", "1"), ("paid", "\"true\""), ("zip", "1234"),
      ("price", "\".5\""), ("count", "\"1\""), ("link", "\"\""),
    ])
  func withoutTheOptionNothingIsConverted(name: String, json: String) throws {
    let error = #expect(throws: ArborError.self) { try value(name, json, []) }
    #expect(error?.entity == "Row" && error?.keyPath == name)
  }

  @Test("A number format of the import or the model overrides that of spreadsheets")
  func numberFormats() throws {
    let german = JSONNumberFormat(decimalSeparator: ",", groupingSeparator: ".")
    #expect(try value("count", "\"1.000\"", numbers: german) == 1000)
    let english = JSONNumberFormat(locale: Locale(identifier: "en_US"))
    for text in ["\".5\"", "\"5e-1\""] {
      let half = try value("price", text, [], numbers: english)
      #expect(half == .decimal(Decimal(string: "0.5") ?? 0))
    }
  }

  @Test(
    "URLs are read as Foundation reads them",
    arguments: [
      ("https://de.wikipedia.org/wiki/München", "https://de.wikipedia.org/wiki/M%C3%BCnchen"),
      ("http://example.com/a|b", "http://example.com/a%7Cb"),
      ("http://example.com/my file.pdf", "http://example.com/my%20file.pdf"),
      ("http://example.com/a?b#c", "http://example.com/a?b#c"),
    ])
  func addressesAreReadAsFoundationReadsThem(text: String, address: String) throws {
    let url = try #require(URL(string: text))
    #expect(url.absoluteString == address)
    #expect(try value("link", "\"\(text)\"", []) == .uri(url))
  }

  @Test("Null among members is ignored")
  func nullAmongMembers() throws {
    let workshop = try ImportWorkshop(ImportWorkshop.company(policy: "Merge"))
    let people = try workshop.list(
      #"[{"employeeID": 1, "friends": [null, {"employeeID": 2}, null]}]"#)
    #expect(try people[0].objects(forKey: "friends").count() == 1)
    // A null item is an error.
    let error = try workshop.failure { try workshop.list(#"[{"employeeID": 1}, null]"#) }
    #expect(error.location?.path == "$[1]")
    try workshop.finish()
  }

  @Test("A byte order mark is ignored, and locations match those of an editor")
  func byteOrderMarks() throws {
    let workshop = try ImportWorkshop()
    let context = workshop.context
    let marked = Data("\u{FEFF}[{\"employeeID\": 1, \"name\": \"x\"}]".utf8)
    #expect(try context.importObjects(from: .data(marked), as: "Employee").count == 1)
    #expect(
      try context.importObject(from: "\u{FEFF}{\"employeeID\": 2}", as: "Employee")
        != nil)
    let error = try workshop.failure {
      try context.importObjects(
        from: "\u{FEFF}[{\"name\": 5}]", as: "Room",
        options: {
          var options = ImportOptions()
          options.layout = .lines
          return options
        }())
    }
    #expect(error.location?.column == 1)
    try workshop.finish()
  }

  @Test("A duplicate key of an object is reported")
  func duplicateKeys() throws {
    let workshop = try ImportWorkshop()
    let text = #"[{"employeeID": 1, "name": "a", "age": 1, "name": "b"}]"#
    let error = try workshop.failure {
      try workshop.context.importObjects(from: .data(Data(text.utf8)), as: "Employee")
    }
    #expect(error.message == "An object has the key “name” twice. Remove one of the two members.")
    #expect(error.location?.path == "$[0].name" && error.location?.column == 43)
  }
}
