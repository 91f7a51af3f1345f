import ArborModel
import TestSupport
import Testing

@testable import ArborStore

@Suite struct ScanRangesTests {
  @Test("Scan ranges contain exactly the tuples that fulfill the conditions")
  func rangesHoldExactlyTheTuplesThatFulfilTheConditions() throws {
    var random = SeededRandom()
    for round in 0..<4000 {
      let columns = (0..<Int.random(in: 1...3, using: &random)).map { _ in
        (
          kind: [.int64, .string, .boolean, .double, .binary].randomElement(using: &random)
            ?? FieldKind.int64, isAscending: Bool.random(using: &random)
        )
      }
      let matches = conditions(columns, using: &random)
      let ranges = try #require(ScanRanges(columns: columns, matches: matches))
      for _ in 0..<10 {
        let tuple = columns.map { Self.value($0.kind, using: &random) }
        let key = try #require(KeySamples.key(tuple, columns: columns))
        let isIn = ranges.ranges.contains { range in
          !key.bytes.lexicographicallyPrecedes(range.lower)
            && range.upper.map { key.bytes.lexicographicallyPrecedes($0) } ?? true
        }
        let isWanted = zip(tuple, matches).prefix(ranges.usedColumns).allSatisfy {
          Self.fulfils($0, $1.condition)
        }
        // A truncated bound includes more than requested, never less.
        #expect(
          isIn == isWanted || isIn && ranges.isCut,
          "\(columns) \(matches) \(tuple) seed \(random.seed), round \(round)")
      }
    }
  }

  @Test("Scan ranges are sorted and disjoint")
  func rangesAreSortedAndDoNotOverlap() throws {
    var random = SeededRandom()
    for round in 0..<500 {
      let columns: [KeyDecoder.Column] = [
        (.string, .random(using: &random)), (.int64, .random(using: &random)),
      ]
      let matches = conditions(columns, using: &random)
      let ranges = try #require(ScanRanges(columns: columns, matches: matches)).ranges
      for (range, next) in zip(ranges, ranges.dropFirst()) {
        let upper = try #require(range.upper)
        #expect(
          !next.lower.lexicographicallyPrecedes(upper), "seed \(random.seed), round \(round)")
      }
      #expect(ranges.allSatisfy { !$0.isEmpty })
    }
  }

  @Test("A bound of the wrong kind has no scan range")
  func aBoundOfAnotherKindServesNothing() {
    let match = ColumnMatch(
      [(0, IndexableTerm(subject: .attribute(slot: 0), condition: .equals("x"), isExact: true))])
    #expect(ScanRanges(columns: [(.int64, true)], matches: [match].compactMap(\.self)) == nil)
  }

  @Test("Conditions on one property are intersected")
  func conditionsOnOnePropertyAreIntersected() throws {
    let terms: [IndexableTerm.Condition] = [
      .range(lower: 1, isLowerIncluded: true, upper: 9, isUpperIncluded: true),
      .range(lower: .null, isLowerIncluded: false, upper: 5, isUpperIncluded: false),
      .range(lower: 1, isLowerIncluded: false, upper: nil, isUpperIncluded: false),
    ]
    let match = try #require(
      ColumnMatch(
        terms.enumerated().map {
          ($0, IndexableTerm(subject: .attribute(slot: 0), condition: $1, isExact: $0 != 1))
        }))
    #expect(match.covered == [0, 2])
    guard case .range(let range) = match.condition else {
      Issue.record("The conditions are ranges.")
      return
    }
    #expect(range.lower == 1 && !range.isLowerIncluded)
    #expect(range.upper == 5 && !range.isUpperIncluded)
  }

  // MARK: Random conditions

  private static func value(_ kind: FieldKind, using random: inout SeededRandom) -> PropertyValue {
    switch kind {
    case .int64: [.null, -1, 0, 1, 2, 3].randomElement(using: &random) ?? .null
    case .double: [.null, -1.5, 0.0, -0.0, 1.0, 2.5].randomElement(using: &random) ?? .null
    default: KeySamples.edges(kind).randomElement(using: &random) ?? .null
    }
  }

  private func conditions(
    _ columns: [KeyDecoder.Column], using random: inout SeededRandom
  ) -> [ColumnMatch] {
    let count = Int.random(in: 1...columns.count, using: &random)
    return columns.prefix(count).compactMap { column in
      var values = (0..<3).map { _ in Self.value(column.kind, using: &random) }
      let condition: IndexableTerm.Condition
      switch Int.random(in: 0..<4, using: &random) {
      case 0: condition = .equals(values[0])
      case 1: condition = .anyOf(Array(values.prefix(.random(in: 1...3, using: &random))))
      default:
        values.sort { PropertyValue.compare($0, $1) == .less }
        condition = .range(
          lower: values[0], isLowerIncluded: !values[0].isNull && .random(using: &random),
          upper: values[2].isNull ? .none : .some(values[2]),
          isUpperIncluded: .random(using: &random))
      }
      return ColumnMatch(
        [(0, IndexableTerm(subject: .object, condition: condition, isExact: true))])
    }
  }

  private static func fulfils(_ value: PropertyValue, _ condition: ColumnMatch.Condition) -> Bool {
    switch condition {
    case .points(let points): return points.contains { PropertyValue.compare($0, value) == .equal }
    case .prefix: return false
    case .range(let range):
      guard !value.isNull else { return false }
      let above = PropertyValue.compare(value, range.lower)
      let below = range.upper.map { PropertyValue.compare(value, $0) } ?? .less
      return (above == .greater || above == .equal && range.isLowerIncluded)
        && (below == .less || below == .equal && range.isUpperIncluded)
    }
  }
}
