import Foundation
import Testing

@testable import ArborModel

@Suite struct CompatibilityFormsTests {
  /// The table has all compatibility forms of its blocks, as Foundation knows them.
  @Test func theTableIsThatOfUnicode() {
    var count = 0
    for code in 0...0x10_FFFF as ClosedRange<UInt32> {
      guard let scalar = Unicode.Scalar(code) else { continue }
      let plain = CompatibilityForms.plain(String(scalar))
      guard !plain.unicodeScalars.elementsEqual([scalar]) else { continue }
      count += 1
      let expected =
        scalar.properties.isDefaultIgnorableCodePoint
        ? "" : String(scalar).precomposedStringWithCompatibilityMapping
      #expect(
        plain.unicodeScalars.elementsEqual(expected.unicodeScalars),
        "U+\(String(code, radix: 16))")
    }
    #expect(count > 2700)
  }

  /// No character of the blocks is missing from the table.
  @Test(
    arguments: [
      0x2070...0x209F, 0x2100...0x214F, 0x2160...0x217F, 0x2460...0x24EA, 0x3200...0x33FF,
      0xFB00...0xFDFF, 0xFE30...0xFFEF, 0x1D400...0x1D7FF,
    ] as [ClosedRange<UInt32>])
  func blocksAreComplete(block: ClosedRange<UInt32>) {
    for code in block {
      guard let scalar = Unicode.Scalar(code), !scalar.properties.isDefaultIgnorableCodePoint else {
        continue
      }
      #expect(
        CompatibilityForms.plain(String(scalar)).unicodeScalars.elementsEqual(
          String(scalar).precomposedStringWithCompatibilityMapping.unicodeScalars),
        "U+\(String(code, radix: 16))")
    }
  }
}
