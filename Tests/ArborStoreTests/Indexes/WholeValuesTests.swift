import LMDB
import Testing

@testable import ArborStore

/// Runs of values as returned by a cursor, which end with an incomplete value in a forged file.
@Suite struct WholeValuesTests {
  private func numbers(_ bytes: [UInt8]) -> [UInt64] {
    bytes.withUnsafeBytes { Array(WholeValues($0, as: UInt64.self)) }
  }

  private func bytes(_ numbers: [UInt64]) -> [UInt8] {
    numbers.flatMap { number in withUnsafeBytes(of: number) { Array($0) } }
  }

  @Test("An incomplete value at the end is ignored")
  func whatIsNoWholeValueIsPassedOver() {
    for count in 0...3 {
      let expected = (0..<UInt64(count)).map { $0 &* 0x0101_0101_0101_0101 }
      for rest in 0..<8 {
        let run = bytes(expected) + [UInt8](repeating: 255, count: rest)
        #expect(numbers(run) == expected)
      }
    }
  }

  @Test("Values are read from unaligned memory")
  func valuesNeedNotBeAligned() {
    let run = [UInt8(9)] + bytes([1, 2, 3])
    let read = run.withUnsafeBytes {
      Array(WholeValues(UnsafeRawBufferPointer(rebasing: $0[1...]), as: UInt64.self))
    }
    #expect(read == [1, 2, 3])
  }

  @Test("Pairs are read as big-endian numbers")
  func pairsAreBigEndian() {
    let run = bytes([UInt64(1).bigEndian, UInt64(2).bigEndian, 3])
    let pairs = run.withUnsafeBytes {
      WholeValues($0, as: OrderedMembers.StoredPair.self).map { [$0.numbers.0, $0.numbers.1] }
    }
    #expect(pairs == [[1, 2]])
  }
}
