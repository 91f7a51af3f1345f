import ArborModel
import Testing

@testable import ArborStore

@Suite struct KeyBufferTests {
  @Test(
    "A key for an index is truncated at its limit",
    arguments: [470, 476, 477, 478, 479, 480, 481, 500])
  func anIndexKeyEndsAtItsLimit(length: Int) {
    var key = KeyBuffer()
    let isText = KeyEncoder.append(
      .string(String(repeating: "a", count: length)), as: .string, to: &key)
    #expect(isText)
    // The marker and the terminator count, too.
    #expect(key.isCut == (length + 2 > KeyBuffer.indexLimit))
    #expect(key.bytes.count == min(length + 2, KeyBuffer.indexLimit))
    let isNumber = KeyEncoder.append(.integer(1), as: .int64, to: &key)
    #expect(isNumber)
    #expect(key.isCut == (length + 11 > KeyBuffer.indexLimit))

    key.removeAll()
    #expect(key.bytes.isEmpty && !key.isCut)
  }

  @Test("A buffer without a limit grows")
  func aBufferWithoutLimitGrows() {
    var keys = KeyBuffer(limit: .max)
    var expected: [UInt8] = []
    for length in [1, 5000, 3, 100_000, 0] {
      let text = String(repeating: "\0", count: length)
      let isText = KeyEncoder.append(.string(text), as: .string, to: &keys)
      #expect(isText)
      expected += [2] + Array(repeating: 1, count: 2 * length) + [0]
    }
    #expect(!keys.isCut && Array(keys.bytes) == expected)

    keys.truncate(to: 4)
    #expect(Array(keys.bytes) == [2, 1, 1, 0])
  }

  @Test("Appended bytes can be inverted, and are truncated at the limit")
  func bytesAreTakenAndInvertedAsTheyAre() {
    for count in [0, 1, 479, 480, 481] {
      var key = KeyBuffer()
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
      bytes.withUnsafeBytes { key.append($0, mask: 0xFF) }
      #expect(Array(key.bytes) == bytes.prefix(480).map { ~$0 })
      #expect(key.isCut == (count > 480))
    }
  }
}
