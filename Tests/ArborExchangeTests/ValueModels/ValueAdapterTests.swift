import ArborJSON
import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import Testing

@Suite struct ValueAdapterTests {
  @Test("Properties are read from their key paths")
  func modelsComeFromTheirKeyPaths() throws {
    let json: JSONValue = [
      ["id": 1, "images": ["small": "https://a.b/c.png"], "children": [["title": "x"]]],
      ["children": [], "id": 2, "cached": true],
    ]
    let banners = try ValueAdapter.decode([Banner].self, from: .value(json))
    #expect(
      banners == [
        Banner(
          bannerID: 1, picURL: URL(string: "https://a.b/c.png"), children: [Item(title: "x")]),
        Banner(bannerID: 2, children: [], cached: true),
      ])
  }

  @Test("Values of all types survive a round trip through JSON")
  func scalarsOfAllTypesGoThereAndBack() throws {
    let json = #"""
      {"flag": true, "tiny": -128, "short": -32768, "middle": 2147483647,
       "long": 9223372036854775807, "whole": -9223372036854775808, "unsignedTiny": 255,
       "unsignedShort": 65535, "unsignedMiddle": 4294967295,
       "unsignedLong": 18446744073709551615, "unsigned": 1, "single": 0.1, "double": 1e300,
       "decimal": 12345678901234567890.123456789, "text": "ü\n", "date": "2024-05-01T12:30:00.5Z",
       "data": "AQID", "url": "https://a.b/c?d=e", "uuid": "8B3E6A40-3C0B-4C54-9D1F-0F4F3D3B6A11",
       "level": "high", "rank": 2, "size": {"width": 3, "height": 4}, "list": [1, 2],
       "set": ["a"], "table": {"x": 1.5}}
      """#
    let sample = try ValueAdapter.decode(Sample.self, from: .data(Data(json.utf8)))
    #expect(sample.unsignedLong == .max && sample.whole == .min && sample.tiny == .min)
    #expect(sample.decimal == Decimal(string: "12345678901234567890.123456789"))
    #expect(sample.single == 0.1 && sample.level == .high && sample.rank == .second)
    #expect(sample.date == ISO8601Date.parse("2024-05-01T12:30:00.5Z"))
    #expect(sample.data == Data([1, 2, 3]) && sample.set == ["a"])
    let rendered = try ValueAdapter.encode(sample)
    #expect(rendered == (try JSONValue.parse(json)))
    #expect(rendered["single"]?.number?.text == "0.1")
    #expect(try ValueAdapter.decode(Sample.self, from: .value(rendered)) == sample)
  }

  @Test(
    "Numbers beyond a property's range are rejected",
    arguments: [
      ("tiny", "128", "-128 to 127"), ("short", "-32769", "-32768 to 32767"),
      ("middle", "2147483648", "-2147483648 to 2147483647"),
      ("long", "9223372036854775808", "to 9223372036854775807"), ("unsigned", "-1", "from 0"),
      ("unsignedTiny", "256", "0 to 255"), ("whole", "1.5", "an integer from"),
      ("unsignedLong", "18446744073709551616", "0 to 18446744073709551615"),
      ("single", "1e39", "range of Float"), ("double", "1e309", "range of Double"),
      ("decimal", "1e200", "38 digits"),
    ])
  func numbersOutOfRangeAreErrors(key: String, number: String, words: String) throws {
    let json = "{\n  \"\(key)\": \(number)}"
    let error = try #require(throws: ArborError.self) {
      try ValueAdapter.decode(Sample.self, from: .data(Data(json.utf8), named: "a.json"))
    }
    #expect(error.code == .invalidDocument && error.message.contains(words), "\(error)")
    let path = "$.\(key)"
    #expect(
      error.location == .init(source: "a.json", line: 2, column: key.count + 7, path: path))
    #expect(error.debugDescription.contains(number))
    #expect(error.entity == "Sample" && error.keyPath == key)
  }

  @Test(
    "A value of another JSON type is an error",
    arguments: [
      ("flag", "1"), ("flag", "\"true\""), ("whole", "\"1\""), ("whole", "true"), ("text", "1"),
      ("double", "\"1.5\""), ("date", "\"yesterday\""), ("date", "1"), ("data", "\"%\""),
      ("url", "\"http://[\""), ("uuid", "\"1\""), ("level", "\"middle\""), ("rank", "3"),
      ("size", "[3, 4]"), ("list", "{}"), ("list", "[\"a\"]"), ("table", "[]"), ("decimal", "{}"),
    ])
  func noOtherTypeIsTaken(key: String, value: String) throws {
    let error = try #require(throws: ArborError.self) {
      try ValueAdapter.decode(Sample.self, from: .data(Data("{\"\(key)\": \(value)}".utf8)))
    }
    let isParsed = value.hasPrefix("\"") && ["date", "data", "url", "uuid"].contains(key)
    #expect(error.code == (isParsed ? .unparsableValue : .invalidDocument))
    #expect(error.location?.path?.hasPrefix("$.\(key)") == true, "\(error)")
  }

  private struct Paint: ValueModel {
    enum Shade: String, Codable, CaseIterable { case light, dark }
    enum Gloss: Int, Codable { case matt, satin }
    var shade: Shade?
    var gloss: Gloss?
    static let entityName = "Paint"
  }

  @Test(
    "The error for an invalid case lists the valid ones",
    arguments: [
      (#"{"shade": "grey"}"#, "The value is not a valid Shade. Expected one of light, dark."),
      (#"{"gloss": 2}"#, "The value is not a valid Gloss."),
    ])
  func casesAreListed(json: String, message: String) throws {
    let error = try #require(throws: ArborError.self) {
      try ValueAdapter.decode(Paint.self, from: .data(Data(json.utf8)))
    }
    #expect(error.code == .invalidDocument && error.message == message)
  }

  private struct Reading: ValueModel {
    enum CodingKeys: String, CodingKey { case name, nick }
    var name: String
    /// The inner optional is `nil` if the key was present with null.
    var nick: String??

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      name = try container.decode(String.self, forKey: .name)
      if container.contains(.nick) {
        nick = .some(try container.decodeIfPresent(String.self, forKey: .nick))
      }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(name, forKey: .name)
      if let nick { try container.encode(nick, forKey: .nick) }
    }
  }

  @Test("Missing keys and null are distinguished")
  func missingAndNullAreToldApart() throws {
    for text in [#"{"name":"a"}"#, #"{"name":"a","nick":null}"#, #"{"name":"a","nick":"b"}"#] {
      let reading = try ValueAdapter.decode(Reading.self, from: .data(Data(text.utf8)))
      #expect(try ValueAdapter.encode(reading).text() == text)
    }
    let missing = try #require(throws: ArborError.self) {
      try ValueAdapter.decode([Item].self, from: [["title": "a"], ["price": 1]])
    }
    #expect(missing.location?.path == "$[1]" && missing.message.contains("Item.title"))
    let null = try #require(throws: ArborError.self) {
      try ValueAdapter.decode([Item].self, from: [["title": nil]])
    }
    #expect(null.location?.path == "$[0].title" && null.message.contains("null"))
  }

  private struct Settings: ValueModel, Equatable {
    var size = 12
    var font: String? = "Serif"
    var tags: [Item] = [Item(title: "a")]
    var unused = true
    static var defaults: (any ValueModel)? { Settings() }
    static let jsonKeyPaths: JSONKeyPaths = ["font": "text.font", "unused": nil]
  }

  @Test("A missing key keeps the property's default")
  func whatIsMissingKeepsItsDefault() throws {
    #expect(try ValueAdapter.decode(Settings.self, from: [:]) == Settings())
    let json: JSONValue = ["size": 9, "text": ["font": nil], "tags": [], "unused": false]
    #expect(
      try ValueAdapter.decode([Settings].self, from: [json, [:]])
        == [Settings(size: 9, font: nil, tags: []), Settings()])
    // Null is not a missing key.
    #expect(throws: ArborError.self) {
      try ValueAdapter.decode(Settings.self, from: ["size": nil])
    }
  }

  @Test("Lists keep their null elements")
  func listsKeepTheirNullElements() throws {
    let json: JSONValue = [["title": "a"], nil, ["title": "b"]]
    let items = try ValueAdapter.decode([Item?].self, from: .value(json))
    #expect(items == [Item(title: "a"), nil, Item(title: "b")])
    #expect(try ValueAdapter.encode(items) == json)
    let error = try #require(throws: ArborError.self) {
      try ValueAdapter.decode([Item].self, from: .value(json))
    }
    #expect(error.location?.path == "$[1]" && error.code == .invalidDocument)
  }

  @Test("Unknown keys are ignored")
  func unknownKeysAreIgnored() throws {
    let json: JSONValue = ["a": [1], "title": "x", "b": ["title": "y"]]
    #expect(try ValueAdapter.decode(Item.self, from: .value(json)) == Item(title: "x"))
  }

  private struct Shelf: ValueModel {
    var first: Item?
    var all: [Item]
    var distinct: Set<Item>
    var some: [Item]?
    var named: [String: Item]
  }

  @Test("Nested models can be in any collection")
  func nestedModelsComeInAnyCollection() throws {
    let json: JSONValue = [
      "first": ["title": "a"], "all": [["title": "a"], ["title": "b"]],
      "distinct": [["title": "c"]], "named": ["d": ["title": "d"]],
    ]
    let shelf = try ValueAdapter.decode(Shelf.self, from: .value(json))
    #expect(shelf.first?.title == "a" && shelf.all.map(\.title) == ["a", "b"])
    #expect(shelf.distinct == [Item(title: "c")] && shelf.some == nil)
    #expect(shelf.named["d"]?.title == "d")
    #expect(try ValueAdapter.encode(shelf) == json)
  }

  @Test("The class of each model is chosen from its JSON")
  func clustersChooseTheirClasses() throws {
    let json: JSONValue = [
      ["type": "circle", "name": "c", "radius": 1.5], ["type": "square", "name": "s", "side": 2],
      ["type": "shape", "name": "x"],
    ]
    let shapes = try ValueAdapter.decode([Shape].self, from: .value(json))
    #expect(shapes.map(\.name) == ["c", "s", "x"])
    #expect((shapes[0] as? Circle)?.radius == 1.5 && (shapes[1] as? Square)?.side == 2)
    #expect(
      try ValueAdapter.encode(shapes)
        == [["name": "c", "radius": 1.5], ["name": "s", "side": 2], ["name": "x"]])
  }

  @Test(
    "A class that isn't a subclass of the model is rejected", arguments: ["triangle", "banner"])
  func aTypeThatCannotBeHadIsAnError(type: String) throws {
    let json: JSONValue = [["type": .string(type), "name": "c", "id": 1, "children": []]]
    let error = try #require(throws: ArborError.self) {
      try ValueAdapter.decode([Shape].self, from: .value(json))
    }
    #expect(error.code == .noModelType && error.location?.path == "$[0]")
  }

  /// A class cluster that always determines a type.
  class Letter: ValueModel {
    final class Special: Letter {}
    var name: String
    class func modelType(for json: JSONValue) -> any ValueModel.Type {
      json["special"] == true ? Special.self : Letter.self
    }
    class func modelType(for object: ManagedObject) -> any ValueModel.Type {
      object["name"] == "special" ? Special.self : Letter.self
    }
    class var entityName: String { "Tag" }
  }

  @Test("A model type chosen by a closure is used for JSON and objects")
  func aChooserMayHaveATypeForAll() throws {
    let json: JSONValue = [["name": "a", "special": true], ["name": "b"]]
    let letters = try ValueAdapter.decode([Letter].self, from: .value(json))
    #expect(letters.map { $0 is Letter.Special } == [true, false])
    let workshop = try ModelWorkshop()
    let objects = try ["special", "b"].map { try workshop.insert("Tag", ["name": .string($0)]) }
    let read = try workshop.context.values(Letter.self, of: objects)
    #expect(read.map { $0 is Letter.Special } == [true, false])
    try workshop.finish()
  }

  private struct Named: ValueModel {
    struct Unfit: Error, Equatable { var name: String }
    var name: String
    mutating func validate() throws {
      if name.isEmpty { throw Unfit(name: name) }
      name = name.uppercased()
    }
  }

  @Test("Models are validated after reading")
  func modelsAreValidated() throws {
    let names = try ValueAdapter.decode([Named].self, from: [["name": "a"], ["name": "b"]])
    #expect(names.map(\.name) == ["A", "B"])
    for json: JSONValue in [[["name": ""]], [["name": "a"], ["name": ""]]] {
      let error = try #require(throws: ArborError.self) {
        try ValueAdapter.decode([Named].self, from: .value(json))
      }
      #expect(
        error.code == .modelError && error.underlying as? Named.Unfit == Named.Unfit(name: ""))
    }
  }

  private struct Picky: ValueModel {
    struct Refusal: Error {}
    var name: String
    enum CodingKeys: String, CodingKey { case name }
    init(from decoder: any Decoder) throws { throw Refusal() }
  }

  @Test("A model whose initializer throws is reported with the error")
  func aModelThatCannotBeMadeSaysWhy() throws {
    let error = try #require(throws: ArborError.self) {
      try ValueAdapter.decode([Picky].self, from: [[:]])
    }
    #expect(error.code == .initialization && error.underlying is Picky.Refusal)
    #expect(error.location?.path == "$[0]")
  }

  @Test("Files are read, and errors contain their location")
  func filesAreRead() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).json")
    #expect(throws: ArborError.self) { try ValueAdapter.decode([Item].self, from: .file(url)) }
    try Data(#"[{"title": 1}]"#.utf8).write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    let error = try #require(throws: ArborError.self) {
      try ValueAdapter.decode([Item].self, from: .file(url))
    }
    #expect(
      error.location == .init(source: url.path, line: 1, column: 12, path: "$[0].title"))
  }

  @Test("Documents that are not valid JSON are rejected")
  func documentsThatAreNoJSONAreErrors() {
    let error = #expect(throws: ArborError.self) {
      try ValueAdapter.decode([Item].self, from: "[")
    }
    #expect(error?.code == .malformedDocument)
  }

  private struct Envelope: ValueModel {
    var kind: String
    var body: JSONValue
    var rest: JSONValue?
    static let jsonKeyPaths: JSONKeyPaths = ["body": "data.body"]
  }

  @Test("JSON values keep every digit and the order of keys")
  func valuesOfJSONKeepEveryDigitAndTheirOrder() throws {
    let text =
      #"{"kind":"k","data":{"body":{"z":1.00000000000000000000000000000000000000001,"a":[1]}}}"#
    let json = try JSONValue.parse(text)
    let envelope = try ValueAdapter.decode(Envelope.self, from: .value(json))
    #expect(envelope.body.text() == json["data"]?["body"]?.text() && envelope.rest == nil)
    #expect(try ValueAdapter.encode(envelope).text() == text)
  }
}
