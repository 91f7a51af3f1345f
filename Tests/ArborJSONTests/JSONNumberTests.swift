import ArborJSON
import Foundation
import TestLength
import Testing

@Suite struct JSONNumberTests {
  @Test("A number keeps its text as written")
  func keepsTheTextAsWritten() throws {
    for text in ["0", "-0", "1.0", "1.50", "1E5", "-12e-3", "123456789012345678901234567890.5"] {
      #expect(try JSONValue.parse(text).number?.text == text)
      #expect(JSONNumber(text: text)?.text == text)
    }
    for text in ["", "-", "01", "1.", ".1", "1e", "NaN", "1 ", " 1", "0x1"] {
      #expect(JSONNumber(text: text) == nil, "\(text)")
    }
  }

  @Test("Integers are converted exactly or not at all")
  func givesWholeNumbersExactlyOrNotAtAll() {
    let cases: [(String, Int64?)] = [
      ("9223372036854775807", .max), ("9223372036854775808", nil), ("-9223372036854775808", .min),
      ("-9223372036854775809", nil), ("1.0", 1), ("1e3", 1000), ("1.5e1", 15), ("1.5", nil),
      ("-0", 0), ("0.0e9", 0), ("922337203685477580.7e1", .max), ("1e19", nil), ("100e-2", 1),
      ("1e-1", nil), ("1e99999999999999999999", nil), ("123e9223372036854775807", nil),
      ("1e-9223372036854775808", nil),
    ]
    for (text, number) in cases { #expect(JSONNumber(text: text)?.int64 == number, "\(text)") }
    #expect(JSONNumber(text: "18446744073709551615")?.uint64 == .max)
    #expect(JSONNumber(text: "18446744073709551616")?.uint64 == nil)
    #expect(JSONNumber(text: "-1")?.uint64 == nil)
  }

  @Test("Decimals are converted exactly or not at all")
  func givesDecimalsExactlyOrNotAtAll() {
    for text in ["12345678901234567890.10", "-0.001", "99999999999999999999999999999999999999"] {
      #expect(JSONNumber(text: text)?.decimal == Decimal(string: text), "\(text)")
    }
    #expect(JSONNumber(text: "1e127")?.decimal == Decimal(string: "1e127"))
    #expect(JSONNumber(text: "1e128")?.decimal == Decimal(string: "10e127"))
    #expect(JSONNumber(text: "1e165")?.decimal == nil)
    #expect(JSONNumber(text: "1.5e-127")?.decimal == Decimal(string: "15e-128"))
    #expect(JSONNumber(text: "1e-129")?.decimal == nil)
    #expect(JSONNumber(text: "999999999999999999999999999999999999999")?.decimal == nil)
    #expect(JSONNumber(text: "1e200")?.decimal == nil)
    #expect(JSONNumber(text: "1e-200")?.decimal == nil)
  }

  @Test("Numbers beyond the range of doubles aren't converted")
  func refusesNumbersBeyondDoubles() {
    #expect(JSONNumber(text: "1e400")?.double == nil)
    #expect(JSONNumber(text: "1e308")?.double == 1e308)
    #expect(JSONNumber(text: "0.1")?.double == 0.1)
    #expect(JSONNumber(Double.infinity) == nil)
    #expect(JSONNumber(Double.nan) == nil)
    #expect(JSONNumber(Decimal.nan) == nil)
    #expect(JSONNumber(1e300)?.double == 1e300)
  }

  @Test("Different spellings of a number are equal")
  func equalsWhatDenotesTheSameNumber() throws {
    let spellings = [
      ["1", "1.0", "10e-1", "0.1e1", "0.0001E4"], ["0", "-0", "0.000", "0e7", "-0e-99"],
      ["-12.5", "-1.25e1", "-125e-1", "-0.00125e4"], ["10", "1e1"], ["100", "1e2"],
      ["0.01", "1e-2"],
      ["1e99999999999999999999"], ["1e99999999999999999998"], ["9007199254740993"],
      ["9007199254740992"],
    ]
    for (group, texts) in spellings.enumerated() {
      for text in texts {
        for (otherGroup, others) in spellings.enumerated() {
          for other in others {
            let left = try #require(JSONNumber(text: text))
            let right = try #require(JSONNumber(text: other))
            #expect((left == right) == (group == otherGroup), "\(text) \(other)")
            if left == right { #expect(left.hashValue == right.hashValue) }
          }
        }
      }
    }
  }

  @Test("Random spellings agree with doubles")
  func agreesWithDoublesOnRandomSpellings() throws {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SplitMix(seed: seed)
    for _ in 0..<2_000 {
      let double = Double(bitPattern: generator.next())
      guard double.isFinite else { continue }
      let number = try #require(JSONNumber(double))
      #expect(number.double == double, "seed \(seed)")
      let whole = Int64(truncatingIfNeeded: (generator.next() >> (generator.next() % 64)) | 1)
      let shifted = JSONNumber(text: "\(whole)000e-3")
      #expect(shifted == JSONNumber(whole), "\(whole), seed \(seed)")
      #expect(shifted?.int64 == whole, "\(whole), seed \(seed)")
    }
  }
}
