/// The functions of the language, including those written as operators.
///
/// A raw value is the full name, with one colon per argument. `castObject:toType:` and
/// `objectFrom:withIndex:` are not included, because they are only alternative spellings of
/// ``ExpressionNode/cast(_:to:_:)`` and ``ExpressionNode/element(_:_:_:)``.
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
  /// The objects to which a path leads without its last relationship, and all that are reached from
  /// them by following that relationship repeatedly.
  case closure = "CLOSURE:"

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
  /// Concatenates its arguments, ignoring `nil`.
  case concat = "concat:"
  /// Concatenates the elements of a list, ignoring `nil`, with the second argument as separator.
  case join = "join:"

  /// The year of a date. Like the other components, it is in UTC unless the second argument
  /// specifies another time zone.
  case year = "year:"
  case month = "month:"
  case day = "day:"
  case hour = "hour:"
  /// The weekday of a date, from 1 for Monday to 7 for Sunday, as in ISO 8601.
  case weekday = "weekday:"

  case now = "now"
  /// The argument itself. Prevents the planner from using an index for it.
  case noindex = "noindex:"
  case distanceToLocation = "distanceToLocation:fromLocation:"

  package var arity: ClosedRange<Int> {
    switch self {
    // A list, or its elements as separate arguments.
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
    named["closure"] = .closure
    return named
  }()

  /// Creates the function with the given name, or returns `nil` if it doesn't exist. The last colon
  /// is optional.
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

  /// The name as printed before parentheses. A name with a single label is printed without its
  /// colon.
  package var name: String { arity == 2...2 ? rawValue : String(rawValue.prefix { $0 != ":" }) }
}

extension PredicateFunction {
  /// Operator precedence. Operands with a lower precedence need parentheses.
  package enum Precedence: Int, Comparable, Sendable {
    case assignment, set, bitwiseOr, bitwiseXor, bitwiseAnd, shift, sum, product, power, unary
    case postfix

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    package var tighter: Precedence { Precedence(rawValue: rawValue + 1) ?? .postfix }
  }

  /// The operator symbol and its precedence, or `nil` for a function that is written as a call.
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
