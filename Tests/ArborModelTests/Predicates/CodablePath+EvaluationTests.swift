import ArborJSON
import Testing

@testable import ArborModel

@Suite struct CodablePathEvaluationTests {
  @Test("Damaged bytes yield a value of the right type or none")
  func damagedTextsAreHarmless() {
    let text = Array(#"{"b":[{"x\n":"y"},-1.5],"c":{"a":"é\u00e9"},"a":{"a":"\"1"}}"#.utf8)
    let keys = [Array("a".utf8), Array("a".utf8)]
    let scalars = JSONShape.Scalar.all
    for index in text.indices {
      for byte in [0x00, 0x22, 0x2C, 0x30, 0x5B, 0x5C, 0x5D, 0x75, 0x7B, 0x7D, 0xFF] as [UInt8] {
        var damaged = text
        damaged[index] = byte
        damaged.withUnsafeBytes { bytes in
          for prefix in [bytes, UnsafeRawBufferPointer(rebasing: bytes[...index])] {
            guard let found = JSONFinder.find(keys, in: prefix) else { continue }
            for scalar in scalars { #expect(isFitting(scalar.value(of: found), scalar)) }
          }
        }
      }
    }
  }

  private func isFitting(_ value: PropertyValue, _ scalar: JSONShape.Scalar) -> Bool {
    switch (value, scalar) {
    case (.null, _), (.boolean, .boolean), (.integer, .integer), (.double, .double),
      (.double, .float), (.decimal, .decimal), (.decimal, .integer), (.date, .date),
      (.string, .string), (.uuid, .uuid), (.uri, .uri), (.binary, .binary):
      true
    default: false
    }
  }
}
