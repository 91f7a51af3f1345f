import ArborJSON
import Foundation
import Testing

/// Documents that are designed to be expensive. Each is rejected or read in linear time; quadratic
/// time would take hours.
@Suite("Documents that are expensive to read", .timeLimit(.minutes(40))) struct JSONHostileTests {
  private static func error(_ text: String) throws -> ArborError {
    try #require(throws: ArborError.self) { try JSONValue.parse(text) }
  }

  private static func repeated(_ text: String, _ count: Int) -> String {
    String(repeating: text, count: count)
  }

  @Test("Deep nesting is an error", arguments: ["[", "{\"\":", "[{\"a\":[", "[[],"])
  func nesting(opening: String) throws {
    let text = Self.repeated(opening, 300_000)
    #expect(try Self.error(text).code == .limitExceeded)
    var reader = JSONItemReader(.data(Data(text.utf8)), chunkSize: 100)
    let error = try #require(throws: ArborError.self) { while try reader.next() != nil {} }
    #expect(error.code == .limitExceeded)
  }

  @Test("Lists and objects with many members are read")
  func fanOut() throws {
    let list = try JSONDocument(Data(("[" + Self.repeated("[],", 300_000) + "0]").utf8)).root
    #expect(list.count == 300_001 && list.items.reduce(0) { $0 + $1.count } == 0)
    let wide = Data(("[" + Self.repeated("0,", 500_000) + "0]").utf8)
    var reader = JSONItemReader(.data(wide), chunkSize: 4_096)
    var count = 0
    while let batch = try reader.next() { count += batch.items.count }
    #expect(count == 500_001)
  }

  @Test("The number of values is limited")
  func valuesAreCounted() throws {
    var limits = JSONLimits()
    limits.maximumCount = 100
    let values = Self.repeated("0,", 97) + "0"
    #expect(try JSONDocument(Data("[\(values)]".utf8), limits: limits).root.count == 98)
    for text in ["[\(values),0,0]", "[[\(values)]]", "{\(Self.repeated("\"a\":0,", 50))"] {
      let error = try #require(throws: ArborError.self) {
        try JSONDocument(Data(text.utf8), limits: limits)
      }
      #expect(error.code == .limitExceeded && error.message.contains("100 values"), "\(error)")
    }
    // Reading item by item, a document may contain any number of values.
    var reader = JSONItemReader(.data(Data("[\(values),\(values)]".utf8)), limits: limits)
    var count = 0
    while let batch = try reader.next(10) { count += batch.items.count }
    #expect(count == 196)
  }

  @Test("Duplicate keys are found among many members")
  func duplicateKeys() throws {
    let pairs = Self.repeated(#""a":1,"#, 200_000)
    #expect(try Self.error("{\(pairs)\"b\":2}").location?.column == 8)
    let keys = (0..<100_000).map { "\"key\($0)\":0" }.joined(separator: ",")
    let last = try Self.error("{\(keys),\"key99999\":1}")
    #expect(last.message.contains("twice") && last.location?.path == "$.key99999")
    #expect(try JSONValue.parse("{\(keys)}").object?.count == 100_000)
    // A key is the same however it is escaped.
    #expect(try Self.error("{\(keys),\"\\u006bey0\":1}").message.contains("twice"))
  }

  /// Keys that collide in many hash functions, because they have the same length and differ only at
  /// the ends.
  @Test("Objects with keys that are made to collide are read")
  func keysMadeToCollide() throws {
    let middle = Self.repeated("x", 60)
    let keys = (0..<30_000).map { number in
      let digits = String(100_000 + number)
      return "\"\(digits.prefix(3))\(middle)\(digits.suffix(3))\":0"
    }
    let root = try JSONDocument(Data("{\(keys.joined(separator: ","))}".utf8)).root
    #expect(root.count == 30_000)
    let members = JSONMembers(JSONKeyTable(["a", "b", "c"]))
    members.find(in: root)
    #expect(members.unknownKeys.count == 30_000)
  }

  @Test(
    "Extreme numbers are read",
    arguments: [
      "1e999999999", "-1e-999999999", "1e99999999999999999999", "0e999999999999999999999",
      "1\(repeated("0", 100_000))", "0.\(repeated("0", 100_000))1", "\(repeated("9", 100_000)).5e3",
      "1e\(repeated("9", 100_000))", "-\(repeated("8", 100_000))e-99999",
    ])
  func numbers(text: String) throws {
    let node = try JSONDocument(Data(text.utf8)).root
    let number = try #require(node.number)
    #expect(
      number.text == text && node.int64 == number.int64 && number.uint64 == nil
        || text.hasPrefix("0e"))
    #expect(node.double == number.double)
    #expect(number == number && number.hashValue == node.number?.hashValue)
    #expect(number != JSONNumber(7))
    _ = number.decimal
  }

  @Test("Long strings are read")
  func strings() throws {
    let plain = Self.repeated("x", 2_000_000)
    #expect(try JSONValue.parse("\"\(plain)\"").string?.utf8.count == 2_000_000)
    let escapes = Self.repeated("\\u00e9", 200_000)
    #expect(try JSONValue.parse("\"\(escapes)\"").string?.utf8.count == 400_000)
    #expect(try Self.error("\"\(plain)").message.contains("not terminated"))
    // The longest string, read in small pieces: the buffer doubles each time.
    var reader = JSONItemReader(.data(Data("[\"\(plain)\"]".utf8)), chunkSize: 64)
    #expect(try reader.next()?.items.first { _ in true }?.string?.utf8.count == 2_000_000)
    let combining = Self.repeated("e\u{301}", 100_000)
    #expect(try Self.error("[\"\(combining)\",]").location?.column == 200_004)
  }

  @Test("Long white space is read")
  func whiteSpace() throws {
    let space = Self.repeated(" \n\t\r", 300_000)
    #expect(try JSONValue.parse("\(space)[\(space)1\(space),\(space)2\(space)]\(space)") == [1, 2])
    let data = Data("\(space)[\(space)1\(space),\(space)2\(space)]\(space)x".utf8)
    var reader = JSONItemReader(.data(data), chunkSize: 1_000)
    let error = try #require(throws: ArborError.self) { while try reader.next() != nil {} }
    #expect(error.location?.line == 1_800_001 && error.location?.column == 3)
  }
}
