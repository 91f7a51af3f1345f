import ArborData
import Foundation
import TestLength
import Testing

/// A type of attribute with values that are easily compared in two ways.
enum ComparedKind: String, CaseIterable, CustomTestStringConvertible {
  case string, integer, boolean, float, double, decimal, date, uuid, uri, binary

  var testDescription: String { rawValue }

  var type: AttributeType {
    switch self {
    case .string: .string
    case .integer: .integer64
    case .boolean: .boolean
    case .float: .float
    case .double: .double
    case .decimal: .decimal
    case .date: .date
    case .uuid: .uuid
    case .uri: .uri
    case .binary: .binary
    }
  }

  /// Values of which some are equal in one sense and different in another.
  var tricky: [PropertyValue] {
    switch self {
    case .string:
      [
        "\u{E9}", "e\u{301}", "\u{212B}", "\u{C5}", "A\u{30A}", "a\u{323}\u{301}",
        "a\u{301}\u{323}", "", "a", "A", "a\u{0}", "\u{FB01}", "fi", "\u{AC00}", "\u{1100}\u{1161}",
        "a",
      ]
    case .integer: [0, 1, -1, .integer(.max), .integer(.min), 0]
    case .boolean: [true, false, true]
    case .float: [0.0, -0.0, 0.25, .double(Double(Float(0.1))), -0.25, 0.25]
    case .double:
      [
        0.0, -0.0, 0.1, 0.3, .double(0.1 + 0.2), .double(.leastNonzeroMagnitude), 1.5, -1.5, 1.5,
      ]
    case .decimal:
      [
        "1", "1.0", "1.00", "0.1", "0.10", "10", "1e1", "-1", "0", "0.000", "3.30", "3.3", "330e-2",
        "99999999999999999999999999999999999999",
      ].map { .decimal(Decimal(string: $0) ?? .nan) } + [
        .decimal(Decimal(sign: .plus, exponent: -2, significand: 100)),
        .decimal(Decimal(sign: .plus, exponent: 1, significand: 1)),
      ]
    case .date:
      [0.0, -0.0, 1, 1.5, -978_307_200, 1].map {
        .date(Date(timeIntervalSinceReferenceDate: $0))
      }
    case .uuid: ["00", "01", "01"].map { .uuid(Self.uuid($0)) }
    case .uri:
      [
        "https://a/b", "https://a/B", "https://a/b/", "https://a/%C3%A9", "https://a/e%CC%81",
        "HTTPS://a/b", "b",
      ].map { .uri(Self.url($0)) }
    case .binary:
      [[], [0], [0, 0], [1], [1, 0], [255]].map { .binary(Data($0)) } + [
        .binary(Data([9, 1, 9])[1..<2]), .binary(Data(repeating: 7, count: 600)),
        .binary(Data(repeating: 7, count: 599) + [8]), .binary(Data(repeating: 7, count: 600)),
      ]
    }
  }

  /// Returns a random value, of which many are equal to others in some sense.
  func random(_ random: inout SplitMix) -> PropertyValue {
    switch self {
    case .string:
      let parts = [
        "e", "\u{E9}", "\u{301}", "\u{323}", "a", "A", "\u{212B}", "\u{C5}", "\u{30A}", "\u{0}",
        "\u{1100}", "\u{1161}", "\u{AC00}",
      ]
      return .string(
        (0..<Int.random(in: 0...3, using: &random)).map { _ in
          parts.randomElement(using: &random) ?? ""
        }.joined())
    case .integer: return .integer(.random(in: -2...2, using: &random))
    case .boolean: return .boolean(.random(using: &random))
    case .float: return .double(Self.quarter(&random))
    case .double: return .double(Self.quarter(&random) / [1, 3, 10].randomElement(using: &random)!)
    case .decimal:
      let digits = Int.random(in: 0...12, using: &random)
      let sign: FloatingPointSign = digits > 0 && .random(using: &random) ? .minus : .plus
      return .decimal(
        Decimal(
          sign: sign, exponent: .random(in: -3...1, using: &random), significand: Decimal(digits)))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: Self.quarter(&random)))
    case .uuid: return .uuid(Self.uuid(["00", "01", "02"].randomElement(using: &random)!))
    case .uri:
      let path = ["b", "B", "b/", "", "%C3%A9", "e%CC%81", "c"].randomElement(using: &random)!
      return .uri(Self.url(.random(using: &random) ? path : "https://a/" + path))
    case .binary:
      var bytes = Data((0..<5).map { _ in UInt8.random(in: 0...1, using: &random) })
      if Bool.random(using: &random) { bytes = Data(repeating: 7, count: 600) + bytes }
      let end = Int.random(in: max(0, bytes.count - 5)...bytes.count, using: &random)
      return .binary(bytes[min(1, end)..<end])
    }
  }

  /// A small number, among them 0.0 and -0.0.
  private static func quarter(_ random: inout SplitMix) -> Double {
    let number = Double(Int.random(in: 0...4, using: &random)) / 4
    return .random(using: &random) ? -number : number
  }

  private static func uuid(_ end: String) -> UUID {
    UUID(uuidString: "00000000-0000-0000-0000-0000000000" + end) ?? UUID()
  }

  /// Returns a URL, which has a base if the text is relative.
  private static func url(_ text: String) -> URL {
    URL(string: text, relativeTo: URL(string: "https://a/")) ?? URL(filePath: "/")
  }
}

/// The oracle: when two values of the same type are equal, written without the library.
struct ComparisonOracle {
  /// Whether to answer as code does that uses the `==` of another form.
  var isDistorted = false

  func areEqual(_ left: PropertyValue, _ right: PropertyValue) -> Bool {
    switch (left, right) {
    case (.string(let left), .string(let right)):
      isDistorted ? left == right : Array(left.utf8) == Array(right.utf8)
    case (.integer(let left), .integer(let right)): left == right
    case (.boolean(let left), .boolean(let right)): left == right
    case (.double(let left), .double(let right)):
      isDistorted ? left.bitPattern == right.bitPattern : left == right
    case (.decimal(let left), .decimal(let right)):
      isDistorted
        ? left.exponent == right.exponent && left == right : !(left < right) && !(right < left)
    case (.date(let left), .date(let right)):
      isDistorted
        ? left.timeIntervalSinceReferenceDate.bitPattern
          == right.timeIntervalSinceReferenceDate.bitPattern
        : left.timeIntervalSinceReferenceDate == right.timeIntervalSinceReferenceDate
    case (.uuid(let left), .uuid(let right)): left.uuidString == right.uuidString
    case (.uri(let left), .uri(let right)):
      isDistorted
        ? left.absoluteString.lowercased() == right.absoluteString.lowercased()
        : Array(left.absoluteString.utf8) == Array(right.absoluteString.utf8)
    case (.binary(let left), .binary(let right)):
      isDistorted ? left.count == right.count : Array(left) == Array(right)
    default: false
    }
  }

  /// Whether the stored forms of two values are the same.
  func areIdentical(_ left: PropertyValue, _ right: PropertyValue) -> Bool {
    switch (left, right) {
    case (.double(let one), .double(let other)):
      isDistorted ? one == other : one.bitPattern == other.bitPattern
    default: areEqual(left, right)
    }
  }

  /// For each value, the number of values that equal it.
  func counts(_ values: [PropertyValue]) -> [Int] {
    values.map { value in values.count { areEqual($0, value) } }
  }

  /// The sizes of the sets of equal values, in ascending order.
  func sizes(_ values: [PropertyValue]) -> [Int] {
    var classes: [[PropertyValue]] = []
    for value in values {
      if let index = classes.firstIndex(where: { areEqual($0[0], value) }) {
        classes[index].append(value)
      } else {
        classes.append([value])
      }
    }
    return classes.map(\.count).sorted()
  }
}
