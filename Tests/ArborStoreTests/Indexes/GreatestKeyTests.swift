import TestSupport
import Testing

@testable import ArborStore

@Suite struct GreatestKeyTests {
  private func isBefore(_ greatest: GreatestKey, _ key: [UInt8]) -> Bool {
    key.withUnsafeBytes { greatest.isBefore($0) }
  }

  @Test("The greatest known key compares like a byte string until it is forgotten")
  func saysWhatIsAboveAllOthers() {
    var random = SeededRandom()
    var greatest = GreatestKey()
    #expect(!greatest.isKnown)
    greatest.note(nil)
    #expect(greatest.isKnown && isBefore(greatest, []) && isBefore(greatest, [0]))
    for _ in 0..<500 {
      let keys = (0..<2).map { _ in
        (0..<Int.random(in: 0...6, using: &random)).map { _ in
          UInt8.random(in: 0...2, using: &random)
        }
      }
      keys[0].withUnsafeBytes { greatest.note($0) }
      #expect(
        isBefore(greatest, keys[1]) == keys[0].lexicographicallyPrecedes(keys[1]),
        "seed \(random.seed)")
    }
    greatest.forget()
    #expect(!greatest.isKnown)
  }
}
