import ArborModel
import Foundation
import Testing

@Suite struct ComparisonOperatorTests {
  @Test("An operator and its mirror yield the same result with exchanged sides")
  func mirrorsSayTheSame() throws {
    let world = try PredicateWorld()
    var random = RandomPredicates(seed: 23, world: world)
    var values: [PropertyValue] = (0..<40).map { random.constant(ofKind: $0 % 6) }
    values += [.null, ["a", 1], .list([]), .list([.null])]
    let oneWay: Set<ComparisonOperator> = [
      .between, .beginsWith, .endsWith, .like, .matches, .tokenMatches, .utiConformsTo, .utiEquals,
    ]
    for comparison in ComparisonOperator.allCases {
      guard let mirrored = comparison.mirrored else {
        #expect(oneWay.contains(comparison))
        continue
      }
      #expect(mirrored.mirrored == comparison)
      for options: ComparisonOptions in [[], .caseInsensitive] {
        let straight = ComparisonSemantics(comparison, options)
        let exchanged = ComparisonSemantics(mirrored, options)
        for left in values {
          for right in values {
            let (first, second) = (
              try straight.holds(left, right), try exchanged.holds(right, left)
            )
            if first != second { Issue.record("\(left) \(comparison) \(right), seed 23") }
          }
        }
      }
    }
  }

  @Test("Operators accept the orderings they stand for")
  func ordersAreAccepted() {
    let accepted: [ComparisonOperator: [Ordering]] = [
      .equal: [.equal], .notEqual: [.less, .greater], .less: [.less],
      .lessOrEqual: [.less, .equal], .greater: [.greater], .greaterOrEqual: [.equal, .greater],
    ]
    for (comparison, orders) in accepted {
      for order in [Ordering.less, .equal, .greater] {
        #expect(comparison.accepts(order) == orders.contains(order))
      }
    }
  }

  @Test("Comparison options are read and written as letters")
  func optionsAreLetters() {
    for raw in 0..<16 as Range<UInt8> {
      let options = ComparisonOptions(rawValue: raw)
      var read: ComparisonOptions = []
      for letter in options.text.utf8.dropFirst().dropLast() {
        if let option = ComparisonOptions(letter: letter) { read.insert(option) }
      }
      #expect(read == options)
    }
    #expect(ComparisonOptions(letter: UInt8(ascii: "C")) == .caseInsensitive)
    #expect(ComparisonOptions(letter: UInt8(ascii: "w")) == .words)
    #expect(ComparisonOptions(letter: UInt8(ascii: "x")) == nil)
    #expect(ComparisonOptions([.caseInsensitive, .normalized]).folding == .case)
    #expect(ComparisonOptions([.normalized, .localized]).folding == .canonical)
    #expect(ComparisonOptions([.caseInsensitive, .localized]).folding == .case)
  }
}
