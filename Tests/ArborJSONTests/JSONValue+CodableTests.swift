import ArborJSON
import Foundation
import Testing

@Suite struct JSONValueCodableTests {
  struct Event: Codable, Equatable {
    var name: String
    var payload: JSONValue
    var more: JSONValue?
  }

  @Test("JSON values can be properties of Codable types")
  func valuesArePropertiesOfCodableTypes() throws {
    let text = #"""
      {"name": "n", "payload": {"a": [1, -2.5, true, null, "x", {}], "b": 18446744073709551615,
       "c": 0.1, "d": 123456789.123456789123}}
      """#
    let event = try JSONDecoder().decode(Event.self, from: Data(text.utf8))
    #expect(event.payload["a"] == [1, -2.5, true, nil, "x", [:]])
    #expect(event.payload["b"]?.number?.uint64 == .max)
    #expect(event.payload["c"] == 0.1)
    #expect(event.payload["d"]?.number?.text == "123456789.123456789123")
    #expect(event.more == nil)
    let data = try JSONEncoder().encode(event)
    #expect(try JSONDecoder().decode(Event.self, from: data) == event)
    #expect(try JSONValue.parse(data)["payload"] == event.payload)
    // Other formats are supported, too.
    let list = try PropertyListEncoder().encode(["v": JSONValue.array([1, "x", true])])
    let back = try PropertyListDecoder().decode([String: JSONValue].self, from: list)
    #expect(back["v"]?[1] == "x")
  }

  @Test("Random values survive encoding and decoding")
  func randomValuesComeBack() throws {
    let seed = UInt64.random(in: .min ... .max)
    var samples = JSONSamples(seed: seed)
    for _ in 0..<200 {
      let text = samples.value()
      guard let value = try? JSONValue.parse(text),
        let data = try? JSONEncoder().encode([value])
      else { continue }
      // Values that a Foundation encoder accepts are decoded unchanged.
      let back = try JSONDecoder().decode([JSONValue].self, from: data)
      #expect(try back == JSONValue.parse(data).array, "seed \(seed): \(text)")
    }
  }

  @Test("Encoding a number beyond the range of doubles is an error")
  func aNumberBeyondAllIsAnError() throws {
    let number = try #require(JSONNumber(text: "1e400"))
    #expect(throws: EncodingError.self) { try JSONEncoder().encode([JSONValue.number(number)]) }
  }
}
