import ArborModel
import Foundation
import Testing

/// The intervals that are passed to indexes, around boundary values.
@Suite struct NumericIntervalTests {
  static let constants: [PropertyValue] = [
    0, 1, -1, .integer(.max), .integer(.min), 32767, 32768, -32768, -32769, 2.5, -2.5, 0.1, -0.0,
    1e19, -1e19, 9.223372036854775e18, 0x1p63, -0x1p63, 0x1p53, 0x1p53, 9_007_199_254_740_993,
    .double(.infinity), .double(-.infinity), .double(.leastNonzeroMagnitude), 1e300,
    .decimal(Decimal(string: "0.1") ?? 0), .decimal(Decimal(string: "-2.5") ?? 0),
    .decimal(Decimal(string: "9223372036854775808") ?? 0), .decimal(Decimal(string: "1e100") ?? 0),
    .decimal(Decimal(string: "9007199254740992.5") ?? 0), true, false, 3.4e38,
    3.5e38,
    .double(Double(Float(0.1))),
  ]

  static let stored: [String: [PropertyValue]] = [
    "short": [0, 1, -1, 32767, -32768, 2, -3], "flag": [true, false],
    "long": [0, 1, -1, 2, 3, -2, -3, .integer(.max), .integer(.min), 9_007_199_254_740_993],
    "single": [
      0, 0.5, .double(Double(Float(0.1))), .double(Double(Float.greatestFiniteMagnitude)),
      .double(.infinity), .double(-.infinity),
    ],
    "ratio": [
      0, 0.1, 2.5, 1e300, -1e300, 0x1p63, 9_007_199_254_740_992.0, 9_007_199_254_740_994.0,
      .double(.leastNonzeroMagnitude), .double(.greatestFiniteMagnitude), .double(.infinity),
      .double(-.infinity),
    ],
    "price": [
      .decimal(0), .decimal(Decimal(string: "0.1") ?? 0), .decimal(Decimal(string: "1e100") ?? 0),
      .decimal(Decimal(string: "-2.5") ?? 0), .decimal(.greatestFiniteMagnitude),
    ],
  ]

  @Test(
    "Constants at the bounds of each type are compared exactly", arguments: stored.keys.sorted())
  func everyConstantIsComparedExactly(
    attribute: String
  ) throws {
    let world = try PredicateWorld()
    for value in Self.stored[attribute] ?? [] { world.insert(world.person, [attribute: value]) }
    world.insert(world.person, [:])
    for constant in Self.constants {
      for comparison in ["==", "!=", "<", "<=", ">", ">="] {
        let predicate = try FetchPredicate(format: "%K \(comparison) %@", attribute, constant)
        let node = try predicate.resolved.get()
        let naive = Set(
          world.objects.values.filter { NaiveEvaluator(world: world, object: $0).evaluate(node) }
            .map(\.number))
        #expect(try world.matches(predicate) == naive, "\(predicate)")
      }
    }
  }
}
