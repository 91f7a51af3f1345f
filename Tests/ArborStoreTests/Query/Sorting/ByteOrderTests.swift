import ArborModel
import TestSupport
import Testing

@testable import ArborStore

@Suite struct ByteOrderTests {
  @Test("Comparing bytes agrees with comparing values")
  func bytesAndValuesHaveOneOrder() throws {
    var random = SeededRandom()
    let seed = random.seed
    let world = try SortWorld(rows: 24, using: &random)
    for round in 0..<40 {
      let keys = try world.randomKeys(using: &random)
      let bytes = try #require(ByteOrder(keys, columns: world.columns(keys)))
      let values = CollatedOrder(keys, columns: world.columns(keys))
      var wrong = 0
      try world.forEachPair { left, right in
        let byBytes = bytes.compare(
          bytes.key(left.0.number, left.1, of: left.0.entity),
          bytes.key(right.0.number, right.1, of: right.0.entity))
        let byValues = try values.compare(
          values.key(left.0.number, left.1, of: left.0.entity),
          values.key(right.0.number, right.1, of: right.0.entity))
        if byBytes != byValues { wrong += 1 }
      }
      #expect(wrong == 0, "\(keys.map(\.isAscending)) seed \(seed), round \(round)")
    }
    try world.finish()
  }

  @Test("A row that a prefix places after another one is after it")
  func aRowThatIsCertainlyAfterIsAfter() throws {
    var random = SeededRandom()
    let seed = random.seed
    let world = try SortWorld(rows: 24, using: &random)
    var decided = 0
    for round in 0..<40 {
      let keys = try world.randomKeys(using: &random)
      let order = try #require(ByteOrder(keys, columns: world.columns(keys)))
      var wrong = 0
      world.forEachPair { left, right in
        let key = order.key(right.0.number, right.1, of: right.0.entity)
        guard order.isCertainlyAfter(left.1, of: left.0.entity, key) else { return }
        decided += 1
        let own = order.key(left.0.number, left.1, of: left.0.entity)
        if order.compare(own, key) != .greater { wrong += 1 }
      }
      #expect(wrong == 0, "seed \(seed), round \(round)")
    }
    #expect(decided > 0)
    try world.finish()
  }

  @Test("Orders that bytes can't represent have no byte order")
  func ordersThatBytesDoNotHaveAreRefused() throws {
    var random = SeededRandom()
    let world = try SortWorld(rows: 0, using: &random)
    for options in [SortKey.Options.localized, .numeric] {
      let keys = try world.keys([SortKey("name", options: options)])
      #expect(ByteOrder(keys, columns: world.columns(keys)) == nil)
    }
    try world.finish()
  }

  @Test("The number of a prefix is ordered like its bytes")
  func prefixesAreNumbersOfTheirBytes() {
    for (left, right) in [("", "a"), ("a", "b"), ("a", "ab"), ("abcdefgh", "abcdefgi"), ("z", "é")]
    {
      let numbers = [left, right].map { text in
        Array(text.utf8).withUnsafeBytes(\.prefixNumber)
      }
      #expect(numbers[0] < numbers[1])
    }
    #expect([UInt8](repeating: 0xFF, count: 9).withUnsafeBytes(\.prefixNumber) == .max)
  }
}
