import ArborModel
import Foundation

/// A simple evaluator that follows the definition of the predicate language and shares no code with
/// the library. It compares numbers as decimal strings and strings as arrays of code points.
struct NaiveEvaluator {
  let world: PredicateWorld
  let object: PredicateWorld.Object

  func evaluate(_ node: PredicateNode) -> Bool {
    switch node {
    case .constant(let flag): flag
    case .and(let nodes): nodes.allSatisfy(evaluate)
    case .or(let nodes): nodes.contains(where: evaluate)
    case .not(let node): !evaluate(node)
    case .comparison(let comparison):
      Self.holds(
        value(comparison.left), comparison.comparison, value(comparison.right), comparison.options)
    }
  }

  private func value(_ expression: ExpressionNode) -> PropertyValue {
    switch expression {
    case .constant(let value): return value
    case .argument, .variable: return .null
    // Random predicates don't contain these.
    case .member, .call, .custom, .cast, .ternary, .subquery, .element, .assignment: return .null
    case .list(let elements): return .list(elements.map(value))
    case .path(let path):
      let names = path.parts.compactMap { part -> String? in
        if case .name(let name, _) = part { name } else { nil }
      }
      return world.value(names, of: object)
    }
  }

  static func holds(
    _ left: PropertyValue, _ comparison: ComparisonOperator, _ right: PropertyValue,
    _ options: ComparisonOptions
  ) -> Bool {
    switch comparison {
    case .equal: return equal(left, right, options)
    case .notEqual: return !equal(left, right, options)
    case .less: return order(left, right, options).map { $0 < 0 } ?? false
    case .lessOrEqual: return order(left, right, options).map { $0 <= 0 } ?? false
    case .greater: return order(left, right, options).map { $0 > 0 } ?? false
    case .greaterOrEqual: return order(left, right, options).map { $0 >= 0 } ?? false
    case .between:
      guard case .list(let bounds) = right else { return false }
      return (order(left, bounds[0], options) ?? -1) >= 0
        && (order(left, bounds[1], options) ?? 1) <= 0
    case .in: return contains(right, left, options)
    case .contains: return contains(left, right, options)
    case .tokenMatches, .utiConformsTo, .utiEquals: return false
    case .beginsWith, .endsWith, .like, .matches:
      guard case .string(let text) = left, case .string(let pattern) = right else { return false }
      return textHolds(text, comparison, pattern, options)
    }
  }

  private static func contains(
    _ collection: PropertyValue, _ element: PropertyValue, _ options: ComparisonOptions
  ) -> Bool {
    if case .list(let members) = collection {
      return members.contains { equal($0, element, options) }
    }
    guard case .string(let text) = collection, case .string(let part) = element else {
      return false
    }
    return textHolds(text, .contains, part, options)
  }

  private static func equal(
    _ left: PropertyValue, _ right: PropertyValue, _ options: ComparisonOptions
  ) -> Bool {
    switch (left, right) {
    case (.null, .null): return true
    case (.string(let left), .string(let right)): return fold(left, options) == fold(right, options)
    case (.date(let left), .date(let right)): return left == right
    case (.binary(let left), .binary(let right)): return left == right
    case (.uuid(let left), .uuid(let right)): return left == right
    case (.uri(let left), .uri(let right)): return left.absoluteString == right.absoluteString
    case (.objectID(let left), .objectID(let right)): return left == right
    case (.list(let left), .list(let right)):
      return left.count == right.count && zip(left, right).allSatisfy { equal($0, $1, options) }
    default:
      guard let left = NaiveNumber(left), let right = NaiveNumber(right) else { return false }
      return left.order(right) == 0
    }
  }

  private static func order(
    _ left: PropertyValue, _ right: PropertyValue, _ options: ComparisonOptions
  ) -> Int? {
    switch (left, right) {
    case (.string(let left), .string(let right)):
      return order(fold(left, options), fold(right, options))
    case (.date(let left), .date(let right)): return left == right ? 0 : (left < right ? -1 : 1)
    case (.binary(let left), .binary(let right)):
      return order(left.map(UInt32.init), right.map(UInt32.init))
    case (.uuid(let left), .uuid(let right)):
      return order(
        left.uuidString.unicodeScalars.map(\.value), right.uuidString.unicodeScalars.map(\.value))
    case (.uri(let left), .uri(let right)):
      return order(
        left.absoluteString.unicodeScalars.map(\.value),
        right.absoluteString.unicodeScalars.map(\.value))
    default:
      guard let left = NaiveNumber(left), let right = NaiveNumber(right) else { return nil }
      return left.order(right)
    }
  }

  private static func order(_ left: [UInt32], _ right: [UInt32]) -> Int {
    left == right ? 0 : (left.lexicographicallyPrecedes(right) ? -1 : 1)
  }

  // MARK: Texts

  private static func fold(_ text: String, _ options: ComparisonOptions) -> [UInt32] {
    var folded = text
    if options.contains(.diacriticInsensitive) { folded = withoutMarks(folded) }
    if options.contains(.caseInsensitive) {
      folded = folded.decomposedStringWithCanonicalMapping
        .folding(options: .caseInsensitive, locale: nil)
    }
    if options.contains(.diacriticInsensitive) { folded = withoutMarks(folded) }
    if !options.isDisjoint(with: [.caseInsensitive, .diacriticInsensitive, .normalized]) {
      folded = folded.precomposedStringWithCanonicalMapping
    }
    return folded.unicodeScalars.map(\.value)
  }

  private static func withoutMarks(_ text: String) -> String {
    let kept = text.decomposedStringWithCanonicalMapping.unicodeScalars.filter {
      ![.nonspacingMark, .enclosingMark].contains($0.properties.generalCategory)
    }
    return String(String.UnicodeScalarView(kept))
  }

  private static func textHolds(
    _ text: String, _ comparison: ComparisonOperator, _ pattern: String,
    _ options: ComparisonOptions
  ) -> Bool {
    let (hay, needle) = (fold(text, options), fold(pattern, options))
    switch comparison {
    case .beginsWith: return !needle.isEmpty && hay.starts(with: needle)
    case .endsWith: return !needle.isEmpty && hay.reversed().starts(with: needle.reversed())
    case .contains:
      return !needle.isEmpty && hay.indices.contains { hay[$0...].starts(with: needle) }
    case .like: return glob(hay[...], needle[...])
    default: return matches(text, pattern, options)
    }
  }

  private static func glob(_ text: ArraySlice<UInt32>, _ pattern: ArraySlice<UInt32>) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    let rest = pattern.dropFirst()
    switch first {
    case 0x2A:
      return (text.startIndex...text.endIndex).contains { glob(text[$0...], rest) }
    case 0x3F: return !text.isEmpty && glob(text.dropFirst(), rest)
    case 0x5C where !rest.isEmpty:
      return text.first == rest.first && glob(text.dropFirst(), rest.dropFirst())
    default: return text.first == first && glob(text.dropFirst(), rest)
    }
  }

  private static func matches(
    _ text: String, _ pattern: String, _ options: ComparisonOptions
  ) -> Bool {
    let ignoresCase = options.contains(.caseInsensitive)
    var (subject, pattern) = (text, pattern)
    if options.contains(.diacriticInsensitive) {
      subject = withoutMarks(text).precomposedStringWithCanonicalMapping
    } else if options.contains(.normalized) {
      subject = text.precomposedStringWithCanonicalMapping
      pattern = pattern.precomposedStringWithCanonicalMapping
    }
    let range = subject.range(
      of: "^(?:\(pattern))$",
      options: ignoresCase ? [.regularExpression, .caseInsensitive] : .regularExpression)
    return range == subject.startIndex..<subject.endIndex
  }
}

/// A number as the strings of its integer and fractional digits.
struct NaiveNumber {
  private let isNegative: Bool
  private let whole: String
  private let fraction: String

  init?(_ value: PropertyValue) {
    let text: String
    switch value {
    case .boolean(let flag): text = flag ? "1" : "0"
    case .integer(let number): text = "\(number)"
    case .decimal(let number) where !number.isNaN: text = "\(number)"
    case .double(let number) where number.isFinite:
      // A floating-point integer has its exact value, even if it is printed rounded.
      text = Int64(exactly: number).map { "\($0)" } ?? "\(number)"
    case .double(let number) where number.isInfinite: text = number < 0 ? "-1e400" : "1e400"
    default: return nil
    }
    let parts = text.replacing("-", with: "", maxReplacements: text.hasPrefix("-") ? 1 : 0)
      .split(separator: "e")
    let halves = parts[0].split(separator: ".")
    let power = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
    let zeros = String(repeating: "0", count: 420)
    let behind = halves.count > 1 ? String(halves[1]) : ""
    // 420 zeros on both sides leave room for every exponent.
    let digits = zeros + halves[0] + behind + zeros
    let point = digits.index(digits.startIndex, offsetBy: 420 + halves[0].count + power)
    whole = String(digits[..<point].drop { $0 == "0" })
    let rest = String(digits[point...])
    fraction = String(rest.reversed().drop { $0 == "0" }.reversed())
    isNegative = text.hasPrefix("-") && !(whole.isEmpty && fraction.isEmpty)
  }

  func order(_ other: NaiveNumber) -> Int {
    guard isNegative == other.isNegative else { return isNegative ? -1 : 1 }
    let magnitude: Int
    if whole.count != other.whole.count {
      magnitude = whole.count < other.whole.count ? -1 : 1
    } else if whole != other.whole {
      magnitude = whole < other.whole ? -1 : 1
    } else {
      magnitude = fraction == other.fraction ? 0 : (fraction < other.fraction ? -1 : 1)
    }
    return isNegative ? -magnitude : magnitude
  }
}
