import ArborJSON
import ArborModel
import Foundation
import TestLength
import TestSupport
import Testing

@testable import ArborObjects

/// Equal values have equal bytes, whatever the order of their hash tables, and are read back equal.
@Suite("Canonical JSON of Codable values") struct CanonicalJSONTests {
  private enum Color: String, Codable, CaseIterable { case red, green, blue }
  private enum Event: Codable, Hashable {
    case moved(from: Int, to: Int)
    case named(String)
    case nothing
  }

  private struct Item: Codable, Hashable {
    var text: String
    var number: Double
    var small: Float
    var wide: UInt64
    var price: Decimal
    var day: Date
    var data: Data
    var link: URL?
    var id: UUID
    var color: Color
    var colors: Set<Color>
    var events: Set<Event>
    var byColor: [Color: Int]
    var byName: [String: [Int]]
    var byNumber: [Int: String]
    var byEvent: [Event: Set<Int>]
    var parts: [Item]

    init(_ random: inout SeededRandom, depth: Int = 0) {
      let words = ["", "a", "é", "e\u{301}", "\"\\\n\u{1}", "a/b", "\u{1F600}", "\u{F8FE}NaN?"]
      func word() -> String { words.randomElement(using: &random) ?? "" }
      func event() -> Event {
        switch Int.random(in: 0..<3, using: &random) {
        case 0: .moved(from: .random(in: 0..<3, using: &random), to: 1)
        case 1: .named(word())
        default: .nothing
        }
      }
      text = word()
      number =
        [0, 0.1, 1e300, -1e-300, .infinity, -.infinity, 1e21, 123_456_789_012_345_680]
        .randomElement(using: &random) ?? 0
      small = [0.1, -3.4e38, .infinity, 16_777_216].randomElement(using: &random) ?? 0
      wide = [0, .max, 1 << 63].randomElement(using: &random) ?? 0
      price =
        Decimal(
          string: ["0", "1.5", "-12345678901234567890.123456789", "1e30"]
            .randomElement(using: &random) ?? "") ?? 0
      day = Date(timeIntervalSinceReferenceDate: .random(in: -1e9...1e9, using: &random))
      data = Data(word().utf8)
      link = Bool.random(using: &random) ? URL(string: "https://example.org/a?b=c") : nil
      id = UUID()
      color = Color.allCases.randomElement(using: &random) ?? .red
      colors = Set(Color.allCases.filter { _ in Bool.random(using: &random) })
      events = Set((0..<Int.random(in: 0..<5, using: &random)).map { _ in event() })
      byColor = [:]
      for color in Color.allCases where Bool.random(using: &random) { byColor[color] = 7 }
      byName = [:]
      for _ in 0..<3 { byName[word()] = [1, 2] }
      byNumber = [3: "c", 1: word()]
      byEvent = [event(): [3, 1, 2]]
      byEvent[event()] = []
      parts = depth < 2 && Bool.random(using: &random) ? [Item(&random, depth: depth + 1)] : []
    }

    /// An equal value whose hash tables were filled in another order and have other capacities.
    var shuffled: Item {
      func again<T>(_ set: Set<T>) -> Set<T> {
        var copy = Set<T>(minimumCapacity: 100)
        for element in set.shuffled() { copy.insert(element) }
        return copy
      }
      func again<K, V>(_ map: [K: V]) -> [K: V] {
        var copy = [K: V](minimumCapacity: 100)
        for (key, value) in map.shuffled() { copy[key] = value }
        return copy
      }
      var copy = self
      copy.colors = again(colors)
      copy.events = again(events)
      copy.byColor = again(byColor)
      copy.byName = again(byName)
      copy.byNumber = again(byNumber)
      copy.byEvent = again(byEvent).mapValues(again)
      copy.parts = parts.map(\.shuffled)
      return copy
    }
  }

  @Test("Equal values have equal bytes and are read back")
  func equalValuesHaveEqualBytes() throws {
    var random = SeededRandom()
    for _ in 0..<TestLength.of(300, long: 5000) {
      let item = Item(&random)
      let json = try CanonicalJSON.encode(item)
      let text = String(decoding: json, as: UTF8.self)
      #expect(try CanonicalJSON.encode(item.shuffled) == json, "seed \(random.seed): \(text)")
      let read = try CanonicalJSON.decode(Item.self, from: json)
      #expect(read == item, "seed \(random.seed): \(text)")
      // Reading as a dynamic value and writing that again changes nothing.
      let value = CanonicalJSON.value(of: item)
      #expect(try CanonicalJSON.decoded(Item.self, from: value) == item, "seed \(random.seed)")
    }
  }

  /// The hash tables of a set depend on its capacity, so that an encoder that follows them finds
  /// different orders of at least one of some sets.
  @Test("The order of a hash table is found by the comparison")
  func hashOrderIsFound() throws {
    let isFound = try (0..<100).contains { start in
      let set = Set((start..<start + 20).map { "\($0)" })
      var copy = Set<String>(minimumCapacity: 1000)
      for element in set { copy.insert(element) }
      return try JSONEncoder().encode(set) != JSONEncoder().encode(copy)
    }
    #expect(isFound)
  }

  @Test(
    "Numbers have one form",
    arguments: [
      (#"{"b":1.0,"a":[1e2,-0,0.00]}"#, #"{"a":[100,0,0],"b":1}"#),
      (
        "[1e21,1e22,1E-6,1e-7,123456789012345678901234567890.5]",
        "[1e+21,1e+22,0.000001,1e-7,1.234567890123456789012345678905e+29]"
      ),
      (
        #"{"é":1,"f":2,"z":{"b":null,"a":"\u00e9"}}"#,
        #"{"f":2,"z":{"a":"é","b":null},"é":1}"#
      ),
    ])
  func numbersHaveOneForm(text: String, canonical: String) throws {
    let bytes = try JSONValue.parse(Data(text.utf8)).canonicalBytes
    #expect(String(decoding: bytes, as: UTF8.self) == canonical)
  }

  private struct Nest: Codable { var inner: [Nest] = [] }

  @Test("A value that is nested too deeply is not encoded")
  func deepValuesAreRefused() {
    let deep = (0..<300).reduce(Nest()) { nest, _ in Nest(inner: [nest]) }
    #expect(throws: EncodingError.self) { try CanonicalJSON.encode(deep) }
    #expect(throws: EncodingError.self) { try CanonicalJSON.encode([Double.nan]) }
  }
}
