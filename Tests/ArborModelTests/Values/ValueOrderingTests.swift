import ArborModel
import Foundation
import Testing

@Suite struct ValueOrderingTests {
  /// Classes of equal values, in ascending order.
  static let classes: [[PropertyValue]] = [
    [.null], [.double(.nan), .decimal(.nan)], [.double(-.infinity)], [-1e300],
    [.integer(.min), .double(-0x1p63), .decimal(Decimal(Int64.min))], [-1, -1.0, .decimal(-1)],
    [.double(-.leastNonzeroMagnitude)], [0, 0.0, .double(-0.0), .boolean(false), .decimal(0)],
    [.double(.leastNonzeroMagnitude)], [.decimal(Decimal(string: "1e-128") ?? 0)],
    [0.1, .decimal(Decimal(string: "0.1") ?? 0)], [1, 1.0, .boolean(true), .decimal(1)],
    [9.99, .decimal(Decimal(string: "9.99") ?? 0)],
    [9_007_199_254_740_992, 9_007_199_254_740_992.0],
    [9_007_199_254_740_993, .decimal(9_007_199_254_740_993)], [9_007_199_254_740_994.0],
    [.integer(.max), .decimal(Decimal(Int64.max))],
    // Compared with decimals, the floating-point number 2⁶³ has the value of its shortest decimal
    // representation.
    [.decimal(Decimal(string: "9223372036854775808") ?? 0)], [1e100], [.double(.infinity)],
    [""], ["A"], ["a"], ["ab"], ["b"], ["e\u{301}"], ["é"], ["\u{FFFD}"], ["😀"],
    [.date(.distantPast)], [.date(Date(timeIntervalSinceReferenceDate: 0))], [.binary(Data())],
    [.binary(Data([0]))], [.binary(Data([0, 1]))], [.binary(Data([200]))],
    [.uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)))],
    [.uuid(UUID(uuid: (200, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))],
    [.uri(URL(fileURLWithPath: "/a"))], [.uri(URL(fileURLWithPath: "/b"))],
    [.objectID(ObjectID(storeID: PredicateWorld.storeID, entityName: "A", number: 9))],
    [.objectID(ObjectID(storeID: PredicateWorld.storeID, entityName: "B", number: 1))],
    [.objectID(ObjectID(storeID: PredicateWorld.storeID, entityName: "B", number: 2))],
    [.list([])], [.list([.null])], [[1], [1.0]], [[1, "a"]], [[2]], [.composite([:])],
    [.composite(["a": 1]), .composite(["a": 1.0])], [.composite(["a": 1, "b": 0])],
    [.composite(["b": 0])],
  ]

  @Test("Values of different types are ordered by rank")
  func ranksAreInOrder() {
    for (left, leftClass) in Self.classes.enumerated() {
      for (right, rightClass) in Self.classes.enumerated() {
        for first in leftClass {
          for second in rightClass {
            #expect(
              PropertyValue.compare(first, second) == Ordering(left, right),
              "\(first) and \(second)")
          }
        }
      }
    }
  }

  @Test("The order is antisymmetric and transitive for random values of every kind")
  func orderIsTotal() throws {
    let world = try PredicateWorld()
    var random = RandomPredicates(seed: 15, world: world)
    let values = (0..<90).map { index -> PropertyValue in
      index.isMultiple(of: 9)
        ? .null : random.constant(ofKind: [0, 0, 0, 1, 1, 2, 3, 4, 5][index % 9])
    }
    for first in values {
      #expect(PropertyValue.compare(first, first) == .equal)
      for second in values {
        let order = PropertyValue.compare(first, second)
        #expect(PropertyValue.compare(second, first) == order.reversed, "seed 15")
        for third in values where order != .greater {
          guard PropertyValue.compare(second, third) != .greater else { continue }
          #expect(
            PropertyValue.compare(first, third) != .greater, "seed 15: \(first) \(second) \(third)")
        }
      }
    }
  }

  @Test("Texts are ordered by code point")
  func textsAreOrderedByCodePoint() {
    // UTF-16 would sort the surrogates of an emoji before U+FFFD.
    let scalars: [Unicode.Scalar] = [
      "a", "\u{7F}", "\u{80}", "é", "\u{7FF}", "\u{800}", "\u{FFFD}", "😀",
    ]
    for left in scalars {
      for right in scalars {
        #expect(
          PropertyValue.compareTexts("x\(left)", "x\(right)") == Ordering(left.value, right.value))
      }
    }
    #expect(PropertyValue.compareTexts("", "") == .equal)
    #expect(PropertyValue.compareTexts("", "a") == .less)
    #expect(PropertyValue.compareTexts("a\u{0}", "a") == .greater)
  }
}
