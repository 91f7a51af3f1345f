import ArborModel
import Foundation
import Testing

@Suite struct NumberOrderingTests {
  @Test("The order of numbers agrees with decimal texts")
  func agreesWithDecimalTexts() throws {
    let world = try PredicateWorld()
    var random = RandomPredicates(seed: 61, world: world)
    let values =
      (0..<90).map { _ in random.number() } + RandomPredicates.edges.map(PropertyValue.integer)
      + RandomPredicates.extremes.map(PropertyValue.double)
    let numbers = try values.map { (value: $0, naive: try #require(NaiveNumber($0))) }
    for left in numbers {
      for right in numbers {
        let order = Int(NumberOrdering.compare(left.value, right.value).rawValue)
        let expected = left.naive.order(right.naive)
        if order != expected { Issue.record("seed 61: \(left.value) and \(right.value)") }
      }
    }
  }

  @Test("Integers and fractions are compared exactly")
  func wholeNumbersAndFractionsAreExact() {
    #expect(NumberOrdering.compare(5, 5.0) == .equal)
    #expect(NumberOrdering.compare(5, 5.5) == .less)
    #expect(NumberOrdering.compare(-5, -5.5) == .greater)
    #expect(NumberOrdering.compare(.max, 0x1p63) == .less)
    #expect(NumberOrdering.compare(.min, -0x1p63) == .equal)
    #expect(NumberOrdering.compare(.max, Double(Int64.max)) == .less)
    #expect(NumberOrdering.compare(9_007_199_254_740_993, 0x1p53) == .greater)
    #expect(NumberOrdering.compare(0, .nan) == .greater)
    #expect(NumberOrdering.compare(0, -.infinity) == .greater)
  }

  @Test("Keys are ordered like numbers")
  func keysAreOrderedLikeNumbers() throws {
    let numbers: [PropertyValue] = [
      .double(-.greatestFiniteMagnitude), .integer(.min), -2.5, -1,
      .double(-.leastNonzeroMagnitude), 0,
      .decimal(Decimal(string: "1e-128") ?? 0), 0.1, true, 2, 9.99, .integer(.max), 1e300,
    ]
    for (left, right) in zip(numbers, numbers.dropFirst()) {
      let (first, second) = (try #require(left.numberKey), try #require(right.numberKey))
      #expect(first.lexicographicallyPrecedes(second), "\(left) and \(right)")
    }
    for value: PropertyValue in [.double(.nan), .double(.infinity), .decimal(.nan), "1", .null] {
      #expect(value.numberKey == nil)
    }
  }
}
