import ArborJSON
import Foundation
import TestLength
import Testing

@Suite struct JSONWriterTests {
  @Test("Documents are written compact or pretty")
  func writesPrettyAndCompact() {
    let value: JSONValue = ["b": [1, [], [:], ["x": nil]], "a": "q\"\\\n\u{1}\u{1F}/é"]
    #expect(
      value.text() == #"{"b":[1,[],{},{"x":null}],"a":"q\"\\\n\u0001\u001f/é"}"#)
    #expect(
      value.text(.pretty) == """
        {
          "b": [
            1,
            [],
            {},
            {
              "x": null
            }
          ],
          "a": "q\\"\\\\\\n\\u0001\\u001f/é"
        }
        """)
  }

  @Test("Written values are read back equal")
  func readsBackWhatItWroteByteForByte() throws {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SplitMix(seed: seed)
    for _ in 0..<400 {
      let value = Self.random(depth: 0, &generator)
      for style in [JSONStyle.compact, .pretty] {
        let data = value.data(style)
        let again = try JSONValue.parse(data)
        #expect(again == value, "seed \(seed)")
        #expect(again.data(style) == data, "seed \(seed)")
      }
    }
  }

  private static func random(depth: Int, _ generator: inout SplitMix) -> JSONValue {
    switch generator.next() % (depth < 5 ? 9 : 6) {
    case 0: return nil
    case 1: return .bool(generator.next() % 2 == 0)
    case 2: return .number(JSONNumber(Int64(truncatingIfNeeded: generator.next())))
    case 3: return .number(JSONNumber(Double(generator.next() % 1000) / 8) ?? JSONNumber(0))
    case 4, 5: return .string(text(&generator))
    case 6:
      return .array((0..<generator.next() % 5).map { _ in random(depth: depth + 1, &generator) })
    default:
      var object = JSONObject()
      for _ in 0..<generator.next() % 20 {
        object[text(&generator)] = random(depth: depth + 1, &generator)
      }
      return .object(object)
    }
  }

  private static func text(_ generator: inout SplitMix) -> String {
    let scalars: [Unicode.Scalar] = ["a", "\"", "\\", "\n", "\u{0}", "é", "\u{301}", "😀", "\u{7F}"]
    var text = ""
    for _ in 0..<generator.next() % 12 {
      text.unicodeScalars.append(scalars[Int(generator.next() % UInt64(scalars.count))])
    }
    return text
  }
}
