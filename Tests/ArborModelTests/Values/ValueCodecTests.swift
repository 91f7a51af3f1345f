import TestLength
import ArborModel
import Foundation
import Testing

@Suite struct ValueCodecTests {
  private func decode(_ bytes: [UInt8]) -> PropertyValue? {
    bytes.withUnsafeBytes(ValueCodec.decode)
  }

  @Test(
    "Every value survives a round trip through its encoding",
    arguments: PredicateLiteralTests.values.filter { !$0.containsNaN })
  func everyValueComesBack(_ value: PropertyValue) {
    #expect(ValueCodec.canEncode(value))
    #expect(decode(ValueCodec.encode(value)) == value)
  }

  @Test("Random values survive a round trip through their encoding")
  func randomValuesComeBack() throws {
    let world = try PredicateWorld()
    var random = RandomPredicates(seed: 77, world: world)
    func tree(_ depth: Int) -> PropertyValue {
      let count = Int.random(in: 0...3, using: &random.random)
      switch Int.random(in: 0..<(depth > 0 ? 6 : 4), using: &random.random) {
      case 4: return .list((0..<count).map { _ in tree(depth - 1) })
      case 5:
        return .composite(
          Dictionary(
            (0..<count).map { _ in (random.text(), tree(depth - 1)) }, uniquingKeysWith: { $1 }))
      default: return random.constant(ofKind: Int.random(in: 0..<7, using: &random.random))
      }
    }
    for _ in 0..<500 {
      let value = tree(4)
      #expect(decode(ValueCodec.encode(value)) == value, "seed 77: \(value)")
    }
  }

  @Test("Equal composites have equal bytes")
  func bytesAreCanonical() {
    let names = (0..<20).map { "name\($0)" }
    let forward = PropertyValue.composite(Dictionary(uniqueKeysWithValues: names.map { ($0, 1) }))
    let backward = PropertyValue.composite(
      Dictionary(uniqueKeysWithValues: names.reversed().map { ($0, 1) }))
    #expect(ValueCodec.encode(forward) == ValueCodec.encode(backward))
  }

  /// The format is stored in files and must not change.
  @Test("The bytes of values are fixed")
  func bytesAreFixed() {
    #expect(ValueCodec.encode(.null) == [0])
    #expect(ValueCodec.encode(true) == [2])
    #expect(ValueCodec.encode(-2) == [3, 254, 255, 255, 255, 255, 255, 255, 255])
    #expect(ValueCodec.encode("é") == [6, 2, 0, 0, 0, 0xC3, 0xA9])
    #expect(ValueCodec.encode([1.0]) == [12, 1, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F])
    #expect(ValueCodec.encode(.binary(Data([7]))) == [8, 1, 0, 0, 0, 7])
  }

  @Test("The nesting depth is limited")
  func depthIsBounded() {
    func nested(_ depth: Int) -> PropertyValue { depth == 0 ? 1 : .list([nested(depth - 1)]) }
    #expect(ValueCodec.canEncode(nested(191)))
    #expect(decode(ValueCodec.encode(nested(191))) == nested(191))
    #expect(!ValueCodec.canEncode(nested(192)))
    #expect(decode(ValueCodec.encode(nested(192))) == nil)
    #expect(!ValueCodec.canEncode([.decimal(.nan)]))
    #expect(!ValueCodec.canEncode(.date(Date(timeIntervalSinceReferenceDate: .infinity))))
    // A list with a claimed count of four billion members.
    #expect(decode([12, 255, 255, 255, 255, 0, 0]) == nil)
  }

  @Test("Decoding arbitrary bytes yields nil or a value that survives a round trip")
  func survivesAnyBytes() throws {
    var random = SplitMix(seed: 78)
    let world = try PredicateWorld()
    var values = RandomPredicates(seed: 79, world: world)
    for round in 0..<4000 {
      var bytes: [UInt8]
      if round.isMultiple(of: 2) {
        bytes = (0..<Int.random(in: 0...24, using: &random)).map { _ in
          UInt8.random(in: 0...16, using: &random)
        }
      } else {
        bytes = ValueCodec.encode([values.constant(ofKind: round % 7), .string(values.text())])
        let offset = Int.random(in: 0..<bytes.count, using: &random)
        bytes[offset] ^= UInt8.random(in: 1...255, using: &random)
        if round.isMultiple(of: 3) { bytes.removeLast(offset % 4) }
      }
      guard let value = decode(bytes), ValueCodec.canEncode(value) else { continue }
      let again = decode(ValueCodec.encode(value))
      #expect(again.map { PropertyValue.compare($0, value) } == .equal, "seed 78: \(bytes)")
    }
  }
}
