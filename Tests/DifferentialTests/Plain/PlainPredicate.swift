import Foundation

/// A predicate of the naive evaluator.
indirect enum PlainPredicate {
  case truth(Bool)
  case not(PlainPredicate)
  case and([PlainPredicate])
  case or([PlainPredicate])
  case comparison(PlainComparison)
  /// A Boolean path used as a predicate.
  case bare(PlainTerm)
}

struct PlainComparison {
  enum Qualifier: String, CaseIterable {
    case any = "ANY"
    case some = "SOME"
    case all = "ALL"
    case none = "NONE"
  }

  enum Test: String, CaseIterable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case between = "BETWEEN"
    case `in` = "IN"
    case notIn = "NOT IN"
    case contains = "CONTAINS"
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    case like = "LIKE"
    case matches = "MATCHES"
    case tokenMatches = "TOKENMATCHES"
  }

  struct Options {
    var foldsCase = false
    var foldsDiacritics = false
    var isNormalized = false
    /// Whether to compare by the rules of the current locale.
    var isLocalized = false
    /// Whether to compare whole words, as `CONTAINS[w]` does.
    var wantsWords = false

    func fold(_ text: String) -> String {
      if isNormalized, !foldsCase, !foldsDiacritics {
        return text.precomposedStringWithCanonicalMapping
      }
      return PlainText.fold(text, case: foldsCase, diacritics: foldsDiacritics)
    }
  }

  var qualifier: Qualifier?
  var left: PlainTerm
  var test: Test
  var options = Options()
  var right: PlainTerm
  /// The pattern of `MATCHES`; ``right`` then contains its text.
  var pattern: PlainPattern?
}

/// An expression that yields a value.
indirect enum PlainTerm {
  case constant(PlainValue)
  /// A path from the fetched object.
  case path([PlainStep])
  case variable(String, [PlainStep])
  case list([PlainTerm])
  /// A path that follows another term.
  case behind(PlainTerm, [PlainStep])
  case infix(PlainTerm, PlainInfix, PlainTerm)
  case prefix(PlainPrefix, PlainTerm)
  case call(PlainFunction, [PlainTerm])
  case cast(PlainTerm, PlainCast)
  case ternary(PlainPredicate, PlainTerm, PlainTerm)
  case subquery(PlainTerm, String, PlainPredicate)
  case element(PlainTerm, Position)

  indirect enum Position {
    case at(PlainTerm)
    case first
    case last
    case size
  }
}

/// A name in a key path.
enum PlainStep {
  case attribute(String)
  /// A part of a composite.
  case part(String)
  case toOne(String)
  case toMany(String)
  case objectID
  case entityName
  case operation(PlainOperation)

  var text: String {
    switch self {
    case .attribute(let name), .part(let name), .toOne(let name), .toMany(let name): name
    case .objectID: "objectID"
    case .entityName: "entity.name"
    case .operation(let operation): operation.rawValue
    }
  }

  var isToMany: Bool { if case .toMany = self { true } else { false } }
}

/// A collection operator.
enum PlainOperation: String, CaseIterable {
  case count = "@count"
  case sum = "@sum"
  case average = "@avg"
  case least = "@min"
  case greatest = "@max"
  case union = "@unionOfObjects"
  case distinctUnion = "@distinctUnionOfObjects"
}

/// An operator between two terms.
enum PlainInfix: String, CaseIterable {
  case add = "+"
  case subtract = "-"
  case multiply = "*"
  case divide = "/"
  case modulus = "%"
  case power = "**"
  case and = "&"
  case or = "|"
  case exclusiveOr = "^"
  case left = "<<"
  case right = ">>"
  case union = "UNION"
  case intersect = "INTERSECT"
  case minus = "MINUS"

  /// The equivalent function, if there is one.
  var function: String? {
    switch self {
    case .add: "add:to:"
    case .subtract: "from:subtract:"
    case .multiply: "multiply:by:"
    case .divide: "divide:by:"
    case .modulus: "modulus:by:"
    case .power: "raise:toPower:"
    case .and: "bitwiseAnd:with:"
    case .or: "bitwiseOr:with:"
    case .exclusiveOr: "bitwiseXor:with:"
    case .left: "leftshift:by:"
    case .right: "rightshift:by:"
    case .union, .intersect, .minus: nil
    }
  }

  /// The operator's precedence.
  var strength: Int {
    switch self {
    case .union, .intersect, .minus: 0
    case .or: 1
    case .exclusiveOr: 2
    case .and: 3
    case .left, .right: 4
    case .add, .subtract: 5
    case .multiply, .divide, .modulus: 6
    case .power: 7
    }
  }
}

enum PlainPrefix: String { case negate = "-", complement = "~" }

enum PlainFunction: String, CaseIterable {
  case sum, count, min, max, average, median, stddev, mode, distinct
  case sqrt, log, ln, exp, floor, ceiling, abs, trunc
  case uppercase, lowercase, length, canonical, concat, join
  case noindex
}

enum PlainCast: String, CaseIterable {
  case number = "NSNumber"
  case decimal = "NSDecimalNumber"
  case text = "NSString"
  case date = "NSDate"
}
