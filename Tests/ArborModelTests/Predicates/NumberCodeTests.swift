import TestLength
import ArborModel
import Foundation
import Testing

/// Typed arithmetic agrees with arithmetic on values for every pair of numeric types.
@Suite struct NumberCodeTests {
  private static let fields = ["short", "medium", "long", "flag", "single", "ratio", "born"]

  @Test("Typed code yields the same results as code for general values", arguments: 0..<12)
  func saysWhatValuesSay(round: Int) throws {
    let seed = UInt64(4200 + round)
    var random = SplitMix(seed: seed)
    let world = try PredicateWorld()
    let wholes: [PropertyValue] = [nil, 0, 1, -1, 2, 7, 32767, -32768]
    let longs: [PropertyValue] = [nil, 0, 5, .integer(.max), .integer(.min), 3_037_000_500]
    let reals: [PropertyValue] = [nil, 0, 0.5, -2.25, 1e30, 7]
    for _ in 0..<12 {
      world.insert(
        world.person,
        [
          "short": wholes.randomElement(using: &random) ?? nil,
          "medium": wholes.randomElement(using: &random) ?? nil,
          "long": longs.randomElement(using: &random) ?? nil,
          "flag": [nil, true, false].randomElement(using: &random) ?? nil,
          "single": reals.randomElement(using: &random) ?? nil,
          "ratio": reals.randomElement(using: &random) ?? nil,
          "born": Bool.random(using: &random)
            ? nil : .date(Date(timeIntervalSinceReferenceDate: 100)),
        ])
    }
    func operand(_ depth: Int) -> String {
      if depth == 0 || Int.random(in: 0..<3, using: &random) == 0 {
        let constants = ["2", "0", "-3", "0.5", "9223372036854775807"]
        return (Self.fields + constants).randomElement(using: &random) ?? "1"
      }
      let signs = [" + ", " - ", " * ", " / "]
      let sign = signs.randomElement(using: &random) ?? " + "
      return "(" + operand(depth - 1) + sign + operand(depth - 1) + ")"
    }
    for _ in 0..<60 {
      let comparison = ["==", "!=", "<", ">=", ">", "<="].randomElement(using: &random) ?? "=="
      let (left, right) = (operand(2), operand(1))
      // A function call prevents typed code.
      let typed = FetchPredicate(stringLiteral: "\(left) \(comparison) \(right)")
      let general = FetchPredicate(
        stringLiteral: "noindex(\(left)) \(comparison) noindex(\(right))")
      let comment: Comment = "seed \(seed): \(left) \(comparison) \(right)"
      // Dates cannot be multiplied, and both forms are rejected.
      guard let found = try? world.matches(typed) else {
        #expect(throws: ArborError.self, comment) { try world.matches(general) }
        continue
      }
      #expect(try world.matches(general) == found, comment)
    }
  }
}
