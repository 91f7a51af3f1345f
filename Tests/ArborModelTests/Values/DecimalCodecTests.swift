import TestLength
import ArborModel
import Foundation
import Testing

@Suite struct DecimalCodecTests {
  static let numbers = [
    "0", "1", "-1", "10", "-10", "0.1", "-0.1", "9.99", "9.989", "-9.99", "123456789012345678",
    "99999999999999999999999999999999999999", "-99999999999999999999999999999999999999",
    "340282366920938463463374607431768211455", "12345678901234567890123456789012345678",
    "1e127", "1e-128", "-1e-128", "1e-127", "1.5e-127", "12345e120", "1e100", "5e-100", "0.5",
    "0.05",
    "100000000000000000000", "1000000000000000000000000000000000000000",
  ]

  private func encoded(_ number: Decimal) throws -> [UInt8] {
    try #require(DecimalCodec.encode(number))
  }

  @Test("Decimals survive a round trip through their encoding", arguments: numbers)
  func comesBack(_ text: String) throws {
    let number = try #require(Decimal(string: text))
    let bytes = try encoded(number)
    #expect(bytes.withUnsafeBytes(DecimalCodec.decode) == number)
  }

  @Test(
    "The greatest decimals survive a round trip",
    arguments: [Decimal.greatestFiniteMagnitude, -Decimal.greatestFiniteMagnitude])
  func theGreatestComesBack(_ number: Decimal) throws {
    #expect(try encoded(number).withUnsafeBytes(DecimalCodec.decode) == number)
  }

  @Test("Encoded decimals are ordered like their values")
  func randomNumbersComeBackInOrder() throws {
    var random = SplitMix(seed: 51)
    var numbers: [(bytes: [UInt8], naive: NaiveNumber)] = []
    for _ in 0..<400 {
      let count = Int.random(in: 1...38, using: &random)
      let digits = (0..<count).map { _ in "\(Int.random(in: 0...9, using: &random))" }.joined()
      let sign = Bool.random(using: &random) ? "-" : ""
      let text = "\(sign)\(digits)e\(Int.random(in: -90...80, using: &random))"
      let number = try #require(Decimal(string: text))
      let bytes = try encoded(number)
      #expect(bytes.withUnsafeBytes(DecimalCodec.decode) == number, "seed 51: \(text)")
      numbers.append((bytes, try #require(NaiveNumber(.decimal(number)))))
    }
    for left in numbers.prefix(120) {
      for right in numbers {
        let order = left.naive.order(right.naive)
        let bytes =
          left.bytes == right.bytes
          ? 0 : (left.bytes.lexicographicallyPrecedes(right.bytes) ? -1 : 1)
        #expect(bytes == order, "seed 51")
      }
    }
  }

  @Test("Equal decimals have equal bytes")
  func equalNumbersHaveEqualBytes() throws {
    let spellings = ["1.50", "1.5", "15e-1", "0.15e1", "1.500000"]
    let bytes = try spellings.map { try encoded(#require(Decimal(string: $0))) }
    #expect(Set(bytes) == [bytes[0]])
    let long = Decimal(sign: .plus, exponent: -3, significand: 1500)
    #expect(try encoded(long) == bytes[0])
    #expect(DecimalCodec.encode(Decimal.nan) == nil)
  }

  /// The format is stored in files and must not change.
  @Test("The bytes of decimals are fixed")
  func bytesAreFixed() throws {
    #expect(try encoded(0) == [2])
    #expect(try encoded(Decimal(string: "12.5") ?? 0) == [3, 0x80, 2, 2, 3, 6, 0])
    #expect(try encoded(Decimal(string: "-0.05") ?? 0) == [1, 0x80, 0, 0xF9, 0xFF])
  }

  @Test(
    "Other bytes are rejected",
    arguments: [
      [], [0, 0], [2, 2], [3], [3, 0x80, 1, 0], [3, 0x80, 1, 2], [3, 0x80, 1, 12, 0],
      [4, 0x80, 1, 2, 0],
      [1, 0x7F, 0xFE, 0xFD, 0], [3, 0x80, 1, 1, 2, 0], [3, 0x80, 1, 2, 1, 0],
      [3, 0xFF, 0xFF, 2, 0],
    ] as [[UInt8]])
  func refusesOtherBytes(_ bytes: [UInt8]) {
    #expect(bytes.withUnsafeBytes(DecimalCodec.decode) == nil)
  }
}
