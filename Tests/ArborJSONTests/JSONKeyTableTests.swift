import ArborJSON
import Foundation
import TestLength
import Testing

@Suite struct JSONKeyTableTests {
  private static let words = [
    "id", "name", "age", "a", "b", "", "aaaaaaaa", "aaaaaaab", "a much longer key than the others",
    "a much longer key than the otherz", "é", "e\u{301}x", "K", "\u{212A}x", "größe", "x y",
    "日本",
  ]

  /// Returns a key literal, either plain or with all characters escaped.
  private static func written(_ key: String, asEscapes: Bool) -> String {
    guard asEscapes else { return "\"\(key)\"" }
    return "\""
      + key.utf16.map { "\\u" + String(0x1_0000 + UInt32($0), radix: 16).dropFirst() }.joined()
      + "\""
  }

  @Test("Members are found as in a dictionary")
  func findsWhatADictionaryFinds() throws {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SplitMix(seed: seed)
    for _ in 0..<300 {
      let table = JSONKeyTable(
        Self.words.shuffled(using: &generator).prefix(Int(generator.next() % 18)).map(\.self))
      let members = JSONMembers(table)
      // The order is usually the same, as in real lists, and changes from time to time.
      var keys = Self.words.shuffled(using: &generator)
      for _ in 0..<6 {
        if generator.next() % 3 == 0 { keys.shuffle(using: &generator) }
        let present = keys.prefix(Int(generator.next() % 18))
        let text = present.enumerated().map { number, key in
          "\(Self.written(key, asEscapes: generator.next() % 4 == 0)):\(number)"
        }
        let root = try JSONDocument(Data("{\(text.joined(separator: ","))}".utf8)).root
        let isObject = members.find(in: root)
        #expect(isObject)
        let expected = Dictionary(
          uniqueKeysWithValues: present.enumerated().map { ($1, Int64($0)) })
        for (place, key) in table.keys.enumerated() {
          #expect(members[place]?.int64 == expected[key], "\(key), seed \(seed)")
        }
        let unknown = present.filter { !table.keys.contains($0) }
        #expect(members.unknownKeys.map(\.string) == Array(unknown), "seed \(seed)")
      }
    }
  }

  @Test("Members of the previous object are discarded")
  func forgetsTheObjectBefore() throws {
    let members = JSONMembers(JSONKeyTable(["a", "b"]))
    #expect(members[0] == nil && members.unknownKeys.isEmpty)
    let list = try JSONDocument(Data(#"[{"a":1,"c":2},{"b":3},7,{}]"#.utf8)).root
    let found = list.items.map { item in
      let isObject = members.find(in: item)
      return "\(isObject) \(members[0]?.int64 ?? 0) \(members[1]?.int64 ?? 0) "
        + "\(members.unknownKeys.count)"
    }
    #expect(found == ["true 1 0 1", "true 0 3 0", "false 0 0 0", "true 0 0 0"])
  }

  @Test("Keys that are equal strings are the same key")
  func holdsKeysThatAreEqualStringsForOne() throws {
    let table = JSONKeyTable(["\u{212A}", "e\u{301}", "K"])
    #expect(table.keyIndex(of: "K") == 0 && table.keyIndex(of: "é") == 1)
    #expect(table.keyIndex(of: "k") == nil)
    let members = JSONMembers(table)
    members.find(in: try JSONDocument(Data(#"{"K":1,"é":2}"#.utf8)).root)
    #expect(members[0]?.int64 == 1 && members[1]?.int64 == 2 && members[2] == nil)
    members.find(in: try JSONDocument(Data(#"{"\u212a":1,"e\u0301":2}"#.utf8)).root)
    #expect(members[0]?.int64 == 1 && members[1]?.int64 == 2 && members[2] == nil)
  }
}
