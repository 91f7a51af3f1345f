import TestLength
import ArborModel
import Foundation
import Testing

/// Arithmetic, compared with simpler implementations and at the limits of every type.
@Suite struct ValueArithmeticTests {
  private func value(_ function: PredicateFunction, _ arguments: PropertyValue...) -> PropertyValue
  {
    function.value(of: arguments, now: Date(timeIntervalSinceReferenceDate: 0))
  }

  @Test(
    "Arithmetic expressions have the listed values",
    arguments: [
      "1 + 2 == 3", "7 / 2 == 3", "-7 / 2 == -3", "7.0 / 2 == 3.5", "7 / 0 == nil",
      "7.5 / 0 == nil", "1 / 0.0 == nil", "modulus:by:(-7, 2) == -1", "modulus:by:(7, 0) == nil",
      "modulus:by:(7.5, 2) == 1.5", "2 ** 10 == 1024", "2 ** -1 == 0.5",
      "2 ** 63 == 9.223372036854776e18",
      "(1 + 2) * 2 == 6", "-(3) == -3", "9223372036854775807 + 1 == 9223372036854775808",
      "9223372036854775807 * 9223372036854775807 > 8.5e37",
      "-9223372036854775807 - 2 == -9223372036854775809",
      "(-9223372036854775807 - 1) / -1 == 9223372036854775808",
      "modulus:by:(-9223372036854775807 - 1, -1) == 0", "1 + nil == nil", "nil * 2 == nil",
      "TRUE + TRUE == 2", "CAST('0.1', 'NSDecimalNumber') + CAST('0.2', 'NSDecimalNumber') == 0.3",
      "CAST('1', 'NSDecimalNumber') / 3 < 0.34", "CAST('7', 'NSDecimalNumber') / 0 == nil",
      "modulus:by:(CAST('7.5', 'NSDecimalNumber'), 2) == 1.5",
      "modulus:by:(CAST('-7.5', 'NSDecimalNumber'), 2) == -1.5",
      "1e308 * 10 > 1e308", "5 & 3 == 1", "5 | 3 == 7", "bitwiseXor:with:(5, 3) == 6",
      "1 << 4 == 16", "1 << 64 == 0", "1 << 1000 == 0", "-8 >> 1 == -4", "-8 >> 99 == -1",
      "8 << -2 == 2", "onesComplement(0) == -1", "bitwiseAnd:with:(1.5, 1) == nil",
      "bitwiseAnd:with:(6.0, 3) == 2",
      "0.1 + 0.2 == 0.3", "0.1 * 3 == 0.3", "1.15 * 0.19 == 0.2185", "-0.1 - 0.2 == -0.3",
      "1.0 / 3 * 3 == 1", "1e300 + 0.1 == 1e300", "CAST('inf', 'NSNumber') - 0.1 > 1e308",
      "CAST('1.15', 'NSDecimalNumber') * 0.19 == CAST('0.2185', 'NSDecimalNumber')",
      "0.1 + 0.2 + CAST('0.7', 'NSDecimalNumber') == 1",
      "CAST('0.1', 'NSDecimalNumber') * 1e300 == 1e299",
      "sum(CAST('0.1', 'NSDecimalNumber'), 0.2) == 0.3",
    ])
  func arithmetic(_ text: String) throws {
    #expect(try PredicateWorld.holds(text), "\(text)")
  }

  /// Sums of 38-digit numbers keep every digit that fits, even after cancellation.
  @Test(
    "Sums of decimals are rounded once",
    arguments: [
      ("99999999999999999999999999999999999999", "-1e38", "-1"),
      ("1e38", "-99999999999999999999999999999999999999", "1"),
      ("-1e38", "99999999999999999999999999999999999999", "-1"),
      ("99999999999999999999999999999999999999", "1", "1e38"),
      ("99999999999999999999999999999999999999", "0.5", "1e38"),
      ("99999999999999999999999999999999999998", "0.4", "99999999999999999999999999999999999998"),
      ("1e37", "-0.01", "1e37"), ("1e37", "-0.1", "9999999999999999999999999999999999999.9"),
      ("1e37", "-0.09", "9999999999999999999999999999999999999.9"),
      ("12345678901234567890123456789012345678", "-12345678901234567890123456789012345677.5", "0"),
      ("1e60", "1e-60", "1e60"), ("1e60", "-1e-60", "1e60"), ("1e-60", "1e-60", "2e-60"),
      ("5e38", "-49999999999999999999999999999999999999", "4.5e38"),
    ])
  func sumsOfDecimalsAreRoundedOnce(left: String, right: String, sum: String) throws {
    let numbers = try [left, right, sum].map { text -> PropertyValue in
      .decimal(try #require(Decimal(string: text)))
    }
    #expect(value(.add, numbers[0], numbers[1]) == numbers[2])
    #expect(value(.add, numbers[1], numbers[0]) == numbers[2])
  }

  static let edges: [PropertyValue] = [
    .null, .boolean(true), .integer(0), .integer(1), .integer(-1), .integer(.max), .integer(.min),
    .integer(64), .integer(-64), .double(0), .double(-0.0), .double(0.1), .double(.infinity),
    .double(-.infinity), .double(.nan), .double(.greatestFiniteMagnitude),
    .double(.leastNonzeroMagnitude), .double(0x1p63), .double(-1e300), .decimal(0), .decimal(-7),
    .decimal(.greatestFiniteMagnitude), .decimal(.leastFiniteMagnitude), .decimal(.nan),
    .decimal(.leastNonzeroMagnitude), .decimal(Decimal(string: "1e127") ?? 0),
    .decimal(Decimal(string: "1e-128") ?? 0),
    .decimal(Decimal(string: "99999999999999999999999999999999999999") ?? 0),
    .decimal(Decimal(string: "0.33333333333333333333333333333333333333") ?? 0), .string(""),
    .string("e\u{301}\u{0}🇩🇪ß"), .string("12"), .date(.distantPast), .date(.distantFuture),
    .date(Date(timeIntervalSinceReferenceDate: .greatestFiniteMagnitude)),
    .date(Date(timeIntervalSinceReferenceDate: 0)), .binary(Data([0, 255])), .uuid(UUID()),
    .list([]), .list([.integer(.min), .double(.nan), .null]), .list([.integer(.max), .integer(1)]),
    .list([.decimal(.greatestFiniteMagnitude), .decimal(.greatestFiniteMagnitude)]),
    .list([.list([]), .string("x")]), .list([.double(90), .double(-180)]),
    .composite([:]), .composite(["latitude": 1, "longitude": .string("x")]),
  ]

  @Test(
    "A function returns a value for any arguments, but never NaN",
    arguments: PredicateFunction.allCases)
  func survivesEverything(
    of function: PredicateFunction
  ) {
    for first in Self.edges {
      for second in Self.edges {
        let given = function.value(of: [first, second], now: .distantPast)
        let isPassedOn = given == first || function == .noindex
        if case .double(let number) = given, !isPassedOn {
          #expect(!number.isNaN, "\(function) \(first) \(second)")
        }
        if case .decimal(let number) = given, !isPassedOn {
          #expect(!number.isNaN, "\(function) \(first) \(second)")
        }
      }
      for type in ValueCast.allCases { _ = type.cast(first) }
    }
    _ = function.value(of: [], now: .distantPast)
  }

  @Test("Integer arithmetic agrees with arithmetic on wider integers")
  func wholeNumbersAreExact() {
    var random = SplitMix(seed: 77)
    let edges: [Int64] = [.min, .max, 0, 1, -1, 3, -3, 1 << 32]
    for round in 0..<3000 {
      let pair = (0..<2).map { _ in
        Bool.random(using: &random)
          ? edges.randomElement(using: &random) ?? 0
          : Int64(bitPattern: random.next()) >> Int64.random(in: 0..<60, using: &random)
      }
      let (left, right) = (PropertyValue.integer(pair[0]), PropertyValue.integer(pair[1]))
      let (wideLeft, wideRight) = (Int128(pair[0]), Int128(pair[1]))
      expect(value(.add, left, right), wideLeft + wideRight, round)
      expect(value(.subtract, left, right), wideLeft - wideRight, round)
      expect(value(.multiply, left, right), wideLeft * wideRight, round)
      guard pair[1] != 0 else { continue }
      expect(value(.divide, left, right), wideLeft / wideRight, round)
      expect(value(.modulus, left, right), wideLeft % wideRight, round)
    }
  }

  private func expect(_ value: PropertyValue, _ wide: Int128, _ round: Int) {
    if let narrow = Int64(exactly: wide) {
      #expect(value == .integer(narrow), "round \(round)")
    } else {
      let decimal = Decimal(string: wide.description) ?? .nan
      #expect(
        PropertyValue.compare(value, .decimal(decimal)) == .equal,
        "round \(round): \(value) \(wide)")
    }
  }

  @Test("Arithmetic on decimals with few digits is exact, compared with integers of hundredths")
  func decimalsAreExact() {
    var random = SplitMix(seed: 78)
    for round in 0..<2000 {
      let left = Int64.random(in: -1_000_000...1_000_000, using: &random)
      let right = Int64.random(in: -1_000_000...1_000_000, using: &random)
      func hundredths(_ number: Int64) -> PropertyValue { .decimal(Decimal(number) / 100) }
      #expect(
        value(.add, hundredths(left), hundredths(right)) == hundredths(left + right), "\(round)")
      #expect(
        value(.subtract, hundredths(left), hundredths(right)) == hundredths(left - right),
        "\(round)")
      guard right != 0 else { continue }
      let rest = value(.modulus, hundredths(left), hundredths(right))
      #expect(
        PropertyValue.compare(rest, hundredths(left % right)) == .equal,
        "\(round): \(left) \(right)")
      #expect(
        value(.floor, hundredths(left))
          == .decimal(Decimal((Double(left) / 100).rounded(.down))), "\(round): \(left)")
      #expect(
        PropertyValue.compare(value(.trunc, hundredths(left)), .integer(left / 100)) == .equal,
        "\(round): \(left)")
    }
  }

  @Test("Numbers combined with decimals become decimals")
  func numbersBesideDecimalsAreDecimals() {
    let rate = PropertyValue.decimal(Decimal(string: "0.2185") ?? 0)
    #expect(value(.add, .integer(1), .double(0.5)) == .double(1.5))
    #expect(value(.multiply, .decimal(Decimal(string: "1.15") ?? 0), .double(0.19)) == rate)
    #expect(value(.multiply, .double(0.19), .decimal(Decimal(string: "1.15") ?? 0)) == rate)
    #expect(value(.add, .decimal(1), .double(.infinity)) == .double(.infinity))
    #expect(value(.multiply, .decimal(1), .double(1e300)) == .double(1e300))
    #expect(value(.divide, .decimal(1), .integer(4)) == .decimal(Decimal(string: "0.25") ?? 0))
    #expect(value(.power, .decimal(2), .integer(3)) == .double(8))
    let beyond = value(
      .multiply, .decimal(.greatestFiniteMagnitude), .decimal(.greatestFiniteMagnitude))
    guard case .double(let number) = beyond else {
      Issue.record("\(beyond)")
      return
    }
    #expect(number > 1e300)
  }
}
