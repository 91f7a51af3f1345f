import ArborJSON
import Foundation
import Testing

@Suite("Random documents, read by this library and by Foundation") struct JSONComparisonTests {
  /// A document as decoded by `JSONDecoder`.
  indirect enum Decoded: Decodable {
    case null, bool(Bool), number(Double), string(String), array([Decoded])
    case object([String: Decoded])

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if container.decodeNil() {
        self = .null
      } else if let bool = try? container.decode(Bool.self) {
        self = .bool(bool)
      } else if let number = try? container.decode(Double.self) {
        self = .number(number)
      } else if let string = try? container.decode(String.self) {
        self = .string(string)
      } else if let array = try? container.decode([Decoded].self) {
        self = .array(array)
      } else {
        self = .object(try container.decode([String: Decoded].self))
      }
    }

    func equals(_ value: JSONValue) -> Bool {
      switch (self, value) {
      case (.null, .null): true
      case (.bool(let left), .bool(let right)): left == right
      case (.number(let left), .number(let right)): left == right.double
      case (.string(let left), .string(let right)):
        left.unicodeScalars.elementsEqual(right.unicodeScalars)
      case (.array(let left), .array(let right)):
        left.count == right.count && zip(left, right).allSatisfy { $0.equals($1) }
      case (.object(let left), .object(let right)):
        left.count == right.count
          && right.allSatisfy { key, value in left[key]?.equals(value) ?? false }
      default: false
      }
    }
  }

  /// Whether a value contains numbers that Foundation rejects or rounds: very large or small ones,
  /// or zero with an exponent.
  private static func hasExtremeNumber(_ value: JSONValue) -> Bool {
    switch value {
    case .number(let number):
      number == JSONNumber(0)
        ? number.text.lowercased().contains("e")
        : !(1e-300...1e300).contains(number.double?.magnitude ?? .infinity)
    case .array(let elements): elements.contains(where: hasExtremeNumber)
    case .object(let object): object.values.contains(where: hasExtremeNumber)
    default: false
    }
  }

  @Test("Random documents are read as Foundation reads them")
  func agreesWithFoundationOnRandomDocuments() throws {
    let seed = UInt64.random(in: .min ... .max)
    var samples = JSONSamples(seed: seed)
    var counts = (read: 0, refused: 0)
    for _ in 0..<3_000 {
      let data = samples.damaged(samples.space() + samples.value() + samples.space())
      let text = String(decoding: data, as: UTF8.self)
      do throws(ArborError) {
        let value = try JSONValue.parse(data)
        counts.read += 1
        guard !Self.hasExtremeNumber(value) else { continue }
        let decoded = try? JSONDecoder().decode(Decoded.self, from: data)
        #expect(decoded?.equals(value) == true, "seed \(seed): \(text)")
        let isRead =
          (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) != nil
        #expect(isRead, "seed \(seed): \(text)")
      } catch {
        counts.refused += 1
        // Foundation accepts duplicate keys and a trailing comma, and takes zero bytes for a sign
        // of UTF-16.
        let isLenient = error.message.contains("twice") || error.message.contains("comma after")
        guard !isLenient, !data.contains(0) else { continue }
        let decoded = try? JSONDecoder().decode(Decoded.self, from: data)
        #expect(decoded == nil, "seed \(seed): \(error) for \(text)")
      }
    }
    #expect(counts.read > 500 && counts.refused > 200, "seed \(seed)")
  }

  @Test("Random documents are written unchanged")
  func writesRandomDocumentsByteForByteAgain() throws {
    let seed = UInt64.random(in: .min ... .max)
    var samples = JSONSamples(seed: seed)
    for _ in 0..<1_500 {
      let text = samples.space() + samples.value()
      guard let value = try? JSONValue.parse(text) else { continue }
      for style in [JSONStyle.compact, .pretty] {
        let written = value.data(style)
        let again = try JSONValue.parse(written)
        #expect(again == value && again.data(style) == written, "seed \(seed): \(text)")
      }
    }
  }
}
