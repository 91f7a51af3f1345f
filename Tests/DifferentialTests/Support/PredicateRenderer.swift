import ArborData
import ArborModel
import Foundation
import TestSupport

/// A writer of naive predicates in the library's predicate language, in one of three forms.
struct PredicateRenderer {
  /// The ways to pass constants.
  enum Form: CaseIterable {
    /// All as literals in the text.
    case literal
    /// Some as `%@` arguments, and some paths as `%K`.
    case format
    /// Some as interpolated values.
    case interpolation
  }

  enum Piece {
    case text(String)
    case value(PlainValue)
    case path(String)
  }

  let form: Form
  /// Returns the ID of an object in the queried store.
  let objectID: (Int) -> ObjectID
  private var random: SeededRandom
  var pieces: [Piece] = []

  init(_ form: Form, seed: UInt64, objectID: @escaping (Int) -> ObjectID) {
    self.form = form
    self.objectID = objectID
    random = SeededRandom(seed: seed)
  }

  /// Renders a predicate and parses it with the library.
  static func predicate(
    _ predicate: PlainPredicate, _ form: Form, seed: UInt64,
    objectID: @escaping (Int) -> ObjectID
  ) throws -> FetchPredicate {
    var renderer = PredicateRenderer(form, seed: seed, objectID: objectID)
    renderer.write(predicate)
    return try renderer.read()
  }

  static func text(
    _ predicate: PlainPredicate, _ form: Form, seed: UInt64,
    objectID: @escaping (Int) -> ObjectID
  ) -> String {
    var renderer = PredicateRenderer(form, seed: seed, objectID: objectID)
    renderer.write(predicate)
    return renderer.text
  }

  /// Renders a term with literals only.
  static func text(
    _ term: PlainTerm, seed: UInt64, objectID: @escaping (Int) -> ObjectID
  ) -> String {
    var renderer = PredicateRenderer(.literal, seed: seed, objectID: objectID)
    renderer.write(term)
    return renderer.text
  }

  private var text: String {
    pieces.map { piece in
      switch piece {
      case .text(let text): text
      case .path(let path): "%K‹\(path)›"
      case .value(let value): "%@‹\(value)›"
      }
    }.joined()
  }

  private func read() throws -> FetchPredicate {
    if form == .interpolation {
      var parts = FetchPredicate.StringInterpolation(literalCapacity: 0, interpolationCount: 0)
      for piece in pieces {
        switch piece {
        case .text(let text), .path(let text): parts.appendLiteral(text)
        case .value(let value): parts.appendInterpolation(value.value(objectID))
        }
      }
      return FetchPredicate(stringInterpolation: parts)
    }
    var format = ""
    var arguments: [(any PredicateArgument)?] = []
    for piece in pieces {
      switch piece {
      case .text(let text): format += text
      case .path(let path):
        format += "%K"
        arguments.append(path)
      case .value(let value):
        format += "%@"
        arguments.append(value.value(objectID))
      }
    }
    return try FetchPredicate(format: format, arguments: arguments)
  }

  // MARK: Predicates

  mutating func add(_ text: String) {
    if case .text(let last)? = pieces.last {
      pieces[pieces.count - 1] = .text(last + text)
    } else {
      pieces.append(.text(text))
    }
  }

  mutating func chance(_ percent: Int) -> Bool {
    Int.random(in: 0..<100, using: &random) < percent
  }

  mutating func one(_ texts: String...) -> String {
    texts[Int.random(in: 0..<texts.count, using: &random)]
  }

  mutating func write(_ predicate: PlainPredicate) {
    switch predicate {
    case .truth(let flag): add(flag ? one("TRUEPREDICATE", "truepredicate") : "FALSEPREDICATE")
    case .not(let inner):
      add(one("NOT ", "!", "not "))
      write(inner, inParentheses: !inner.isTight || chance(30))
    case .and(let parts): write(parts, one(" AND ", " && ", " and "), isOr: false)
    case .or(let parts): write(parts, one(" OR ", " || ", " Or "), isOr: true)
    case .comparison(let comparison): write(comparison)
    case .bare(let term): write(term)
    }
  }

  private mutating func write(_ parts: [PlainPredicate], _ word: String, isOr: Bool) {
    for (index, part) in parts.enumerated() {
      if index > 0 { add(word) }
      let isLooser = if case .or = part { !isOr } else { false }
      write(part, inParentheses: isLooser || chance(10))
    }
  }

  private mutating func write(_ predicate: PlainPredicate, inParentheses: Bool) {
    if inParentheses { add("(") }
    write(predicate)
    if inParentheses { add(")") }
  }

  private mutating func write(_ comparison: PlainComparison) {
    if let qualifier = comparison.qualifier { add(qualifier.rawValue + " ") }
    write(comparison.left)
    var letters = ""
    if comparison.options.foldsCase { letters += one("c", "C") }
    if comparison.options.foldsDiacritics { letters += "d" }
    if comparison.options.isNormalized { letters += "n" }
    if comparison.options.wantsWords { letters += "w" }
    if comparison.options.isLocalized { letters += "l" }
    let options = letters.isEmpty ? "" : "[\(letters)]"
    let word: String =
      switch comparison.test {
      case .equal: one("=", "==")
      case .notEqual: one("!=", "<>")
      case .lessOrEqual: one("<=", "=<")
      case .greaterOrEqual: one(">=", "=>")
      default: comparison.test.rawValue
      }
    add(" \(word)\(options) ")
    write(comparison.right)
  }
}

extension PlainPredicate {
  /// The predicate with literals only; must not contain objects.
  var text: String {
    PredicateRenderer.text(self, .literal, seed: 1) { _ in
      ObjectID(storeID: UUID(), entityName: "None", number: 1)
    }
  }

  /// Whether NOT applies to it without parentheses.
  fileprivate var isTight: Bool {
    switch self {
    case .truth, .not, .comparison, .bare: true
    case .and, .or: false
    }
  }
}

extension PlainValue {
  /// Returns the equivalent value of the library.
  func value(_ objectID: (Int) -> ObjectID) -> PropertyValue {
    switch self {
    case .null: .null
    case .boolean(let flag): .boolean(flag)
    case .integer(let number): .integer(number)
    case .double(let number): .double(number)
    case .decimal(let number): .decimal(number)
    case .text(let text): .string(text)
    case .date(let seconds): .date(Date(timeIntervalSinceReferenceDate: seconds))
    case .bytes(let bytes): .binary(Data(bytes))
    case .uuid(let uuid): .uuid(uuid)
    case .uri(let text): URL(string: text).map(PropertyValue.uri) ?? .null
    case .object(let key): .objectID(objectID(key))
    case .list(let values): .list(values.map { $0.value(objectID) })
    case .composite(let parts): .composite(parts.mapValues { $0.value(objectID) })
    }
  }
}
