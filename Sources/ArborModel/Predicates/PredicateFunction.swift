/// The functions of the language, those that are written as operators among them.
///
/// A raw value is the name in full, with a colon for each argument. `castObject:toType:` and
/// `objectFrom:withIndex:` are other words for ``ExpressionNode/cast(_:to:_:)`` and
/// ``ExpressionNode/element(_:_:_:)`` and therefore missing.
package enum PredicateFunction: String, Sendable, Hashable, CaseIterable {
  case add = "add:to:"
  case subtract = "from:subtract:"
  case multiply = "multiply:by:"
  case divide = "divide:by:"
  case modulus = "modulus:by:"
  case power = "raise:toPower:"
  case negate = "negate:"

  case bitwiseAnd = "bitwiseAnd:with:"
  case bitwiseOr = "bitwiseOr:with:"
  case bitwiseXor = "bitwiseXor:with:"
  case leftshift = "leftshift:by:"
  case rightshift = "rightshift:by:"
  case onesComplement = "onesComplement:"

  case union = "union:with:"
  case intersect = "intersect:with:"
  case minus = "minus:with:"

  case sum = "sum:"
  case count = "count:"
  case min = "min:"
  case max = "max:"
  case average = "average:"
  case median = "median:"
  case mode = "mode:"
  case stddev = "stddev:"
  case distinct = "distinct:"

  case sqrt = "sqrt:"
  case log = "log:"
  case ln = "ln:"
  case exp = "exp:"
  case floor = "floor:"
  case ceiling = "ceiling:"
  case abs = "abs:"
  case trunc = "trunc:"
  case random = "random"
  case randomn = "randomn:"

  case uppercase = "uppercase:"
  case lowercase = "lowercase:"
  case length = "length:"
  case canonical = "canonical:"
  /// Its arguments one behind the other, nil passed over.
  case concat = "concat:"
  /// The elements of a list one behind the other, nil passed over, the second argument between
  /// them.
  case join = "join:"

  /// A part of a date in a zone, which is UTC unless the second argument names another one.
  case year = "year:"
  case month = "month:"
  case day = "day:"
  case hour = "hour:"
  /// From 1 for Monday to 7 for Sunday, as in ISO 8601.
  case weekday = "weekday:"

  case now = "now"
  /// Its argument, for which the planner uses no index.
  case noindex = "noindex:"
  case distanceToLocation = "distanceToLocation:fromLocation:"

  package var arity: ClosedRange<Int> {
    switch self {
    // A list, or its elements one by one.
    case .sum, .count, .min, .max, .average, .median, .mode, .stddev, .concat: 1...10_000
    case .join, .year, .month, .day, .hour, .weekday: 1...2
    default: labels...labels
    }
  }

  private var labels: Int { rawValue.utf8.count { $0 == UInt8(ascii: ":") } }
}

extension PredicateFunction {
  private static let named: [String: PredicateFunction] = {
    var named: [String: PredicateFunction] = [:]
    for function in allCases {
      named[function.rawValue] = function
      if function.rawValue.hasSuffix(":") { named[String(function.rawValue.dropLast())] = function }
    }
    return named
  }()

  /// The function of a name, written with or without its last colon.
  package init?(named name: String) {
    guard let function = Self.named[name] else { return nil }
    self = function
  }

  var arityWords: String {
    switch (arity.lowerBound, arity.upperBound) {
    case (0, _): "no argument"
    case (1, 1): "one argument"
    case (1, 2): "one or two arguments"
    case (1, _): "at least one argument"
    default: "two arguments"
    }
  }

  /// The name as it is printed before parentheses: one label needs no colon.
  package var name: String { arity == 2...2 ? rawValue : String(rawValue.prefix { $0 != ":" }) }
}

extension PredicateFunction {
  /// How tightly operators bind; an operand that binds less tightly stands in parentheses.
  package enum Precedence: Int, Comparable, Sendable {
    case assignment, set, bitwiseOr, bitwiseXor, bitwiseAnd, shift, sum, product, power, unary
    case postfix

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    package var tighter: Precedence { Precedence(rawValue: rawValue + 1) ?? .postfix }
  }

  /// The sign that stands between two operands or before one, and how tightly it binds; nil for a
  /// function that is written by its name.
  package var infix: (symbol: String, precedence: Precedence)? {
    switch self {
    case .union: ("UNION", .set)
    case .intersect: ("INTERSECT", .set)
    case .minus: ("MINUS", .set)
    case .bitwiseOr: ("|", .bitwiseOr)
    case .bitwiseXor: ("^", .bitwiseXor)
    case .bitwiseAnd: ("&", .bitwiseAnd)
    case .leftshift: ("<<", .shift)
    case .rightshift: (">>", .shift)
    case .add: ("+", .sum)
    case .subtract: ("-", .sum)
    case .multiply: ("*", .product)
    case .divide: ("/", .product)
    case .modulus: ("%", .product)
    case .power: ("**", .power)
    case .negate: ("-", .unary)
    case .onesComplement: ("~", .unary)
    default: nil
    }
  }
}
