@testable import ArborModel
import TestLength
import Testing

/// The search for a byte sequence in a buffer.
@Suite struct ByteMatcherTests {
  /// Short and long texts, which use different algorithms, over few letters, so that matches and
  /// near matches are frequent.
  @Test("Byte sequences are found in short and long texts", arguments: [1, 2, 3, 4] as [UInt64])
  func findsWhatIsThere(seed: UInt64) {
    var random = SplitMix(seed: seed)
    for _ in 0..<4000 {
      func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 97...99, using: &random) }
      }
      let most = Bool.random(using: &random) ? 40 : 300
      let text = bytes(Int.random(in: 0...most, using: &random))
      var needle = bytes(Int.random(in: 1...12, using: &random))
      if !text.isEmpty, Bool.random(using: &random) {
        let start = Int.random(in: 0..<text.count, using: &random)
        needle = Array(text[start...].prefix(Int.random(in: 1...40, using: &random)))
      }
      let expected =
        text.count >= needle.count
        && (0...(text.count - needle.count)).contains { text[$0...].starts(with: needle) }
      // The search must not match bytes outside of the buffer's part.
      let whole = needle + text + needle
      let found = whole.withUnsafeBytes { whole in
        let part = UnsafeRawBufferPointer(
          rebasing: whole[needle.count..<(needle.count + text.count)])
        return ByteInfix(constant: ConstantBytes(needle)).matches(part)
      }
      #expect(found == expected, "seed \(seed): \(needle) in \(text)")
    }
  }
}
