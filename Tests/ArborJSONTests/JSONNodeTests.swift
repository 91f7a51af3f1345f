import ArborJSON
import Foundation
import TestLength
import Testing

@Suite struct JSONNodeTests {
  private static func root(_ text: String) throws -> JSONNode {
    try JSONDocument(Data(text.utf8)).root
  }

  /// Returns a random number literal of any form and length.
  private static func number(_ generator: inout SplitMix) -> String {
    func digits(_ count: UInt64) -> String {
      (0..<count).map { _ in String(generator.next() % 10) }.joined()
    }
    var whole = String(digits(1 + generator.next() % 22).drop { $0 == "0" })
    if whole.isEmpty { whole = "0" }
    let sign = generator.next() % 3 == 0 ? "-" : ""
    let fraction = generator.next() % 2 == 0 ? "." + digits(1 + generator.next() % 20) : ""
    let exponent = generator.next() % 4 == 0 ? "e\(Int(generator.next() % 60) - 30)" : ""
    return sign + whole + fraction + exponent
  }

  @Test("Numbers of nodes equal those parsed from their texts")
  func readsNumbersAsTheirTextsDo() throws {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SplitMix(seed: seed)
    let edges = [
      "-0", "0", "-0.0", "0.5", "9007199254740993.0", "9007199254740992.0", "900719925474099.3",
      "999999999999999999", "1000000000000000000", "9223372036854775807", "9223372036854775808",
      "-9223372036854775808", "-999999999999999999", "0.1", "123456.789012345678", "1e400", "1.0",
      "0.00000000000000001", "-0.30000000000000004", "5e-324",
    ]
    for text in edges + (0..<3_000).map({ _ in Self.number(&generator) }) {
      let node = try Self.root("[\(text)]").items.first { _ in true }
      let number = try #require(JSONNumber(text: text))
      #expect(node?.number?.text == text, "seed \(seed)")
      #expect(node?.int64 == number.int64, "\(text), seed \(seed)")
      let double = Double(text).flatMap { $0.isFinite ? $0 : nil }
      #expect(node?.double?.bitPattern == double?.bitPattern, "\(text), seed \(seed)")
      #expect(node?.value == .number(number))
    }
    for text in ["null", "\"1\"", "[1]", "{\"a\":1}", "true"] {
      #expect(try Self.root(text).int64 == nil && Self.root(text).double == nil)
    }
  }

  @Test("Every escaped character is read")
  func readsEveryCharacterWrittenAsAnEscape() throws {
    let edges: [UInt32] = [0, 0x1F, 0x20, 0x22, 0x5C, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000]
    let high: [UInt32] = [0xFFFF, 0x1_0000, 0x1_F600, 0x10_FFFF, 0xFEFF, 0x301]
    for scalar in (edges + high).compactMap(Unicode.Scalar.init) {
      let units = Array(String(scalar).utf16)
      let escapes = units.map { "\\u" + String(0x1_0000 + UInt32($0), radix: 16).dropFirst() }
      let text = "x" + String(scalar) + "\n" + String(scalar)
      let written =
        "\"x\(escapes.joined())\\n\(escapes.joined().uppercased().replacing("\\U", with: "\\u"))\""
      let node = try Self.root(written)
      #expect(node.string == text)
      #expect(node.isText(text) && !node.isText(text + "x"))
    }
  }

  @Test("Texts are compared like strings")
  func comparesTextsAsStringsAreCompared() throws {
    let texts = ["", "K", "\u{212A}", "é", "e\u{301}", "name", "Name", "nam", "a \\\" b"]
    for left in texts {
      let node = try Self.root("[\(JSONValue.string(left))]").items.first { _ in true }
      for right in texts { #expect(node?.isText(right) == (left == right), "\(left) \(right)") }
    }
    #expect(try !Self.root("1").isText("1"))
  }

  @Test("Members and elements are found in order")
  func findsMembersAndElementsInOrder() throws {
    let root = try Self.root(#"{"a":[1,[2],{"x":3}],"b":{"c":{"d":null}},"\u0065":true}"#)
    var keys: [String?] = []
    root.forEachMember { key, value in
      keys.append(key.string)
      #expect(key.location.path == value.location.path)
    }
    #expect(keys == ["a", "b", "e"])
    #expect(root.member("b")?.member("c")?.member("d")?.isNull == true)
    #expect(root.member("e")?.bool == true && root.member("f") == nil && root.isNull == false)
    let list = try #require(root.member("a"))
    #expect(list.member("a") == nil && list.count == 3 && root.count == 3)
    #expect(list.items.map(\.value) == [1, [2], ["x": 3]])
    #expect(list.items.count == 3 && list.items.indices.map { list.items[$0].kind }.count == 3)
    #expect(root.items.isEmpty && root.items.first { _ in true } == nil)
    #expect(list.elements?.map(\.value) == list.items.map(\.value))
    #expect(try Self.root("\"abc\"").count == 0)
  }
}
