import ArborData
import ArborModel
import Foundation
import TestSupport

/// Writes a naive predicate in the library's language, in one of three forms.
struct PredicateRenderer {
  /// How constants reach the library.
  enum Form: CaseIterable {
    /// All as literals in the text.
    case literal
    /// Some as `%@` arguments, some paths as `%K`.
    case format
    /// Some as interpolated values.
    case interpolation
  }

  private enum Piece {
    case text(String)
    case value(PlainValue)
    case path(String)
  }

  let form: Form
  /// The ID of an object in the store that is asked.
  let objectID: (Int) -> ObjectID
  private var random: SeededRandom
  private var pieces: [Piece] = []

  init(_ form: Form, seed: UInt64, objectID: @escaping (Int) -> ObjectID) {
    self.form = form
    self.objectID = objectID
    random = SeededRandom(seed: seed)
  }

  /// The predicate, read by the library; and what it was read from.
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
    return renderer.pieces.map { piece in
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

  private mutating func add(_ text: String) {
    if case .text(let last)? = pieces.last {
      pieces[pieces.count - 1] = .text(last + text)
    } else {
      pieces.append(.text(text))
    }
  }

  private mutating func chance(_ percent: Int) -> Bool {
    Int.random(in: 0..<100, using: &random) < percent
  }

  private mutating func one(_ texts: String...) -> String {
    texts[Int.random(in: 0..<texts.count, using: &random)]
  }

  private mutating func write(_ predicate: PlainPredicate) {
    switch predicate {
    case .truth(let flag): add(flag ? one("TRUEPREDICATE", "truepredicate") : "FALSEPREDICATE")
    case .not(let inner):
      add(one("NOT ", "!", "not "))
      write(inner, inParentheses: !inner.isTight || chance(30))
    case .and(let parts): write(parts, one(" AND ", " && ", " and "), isOr: false)
    case .or(let parts): write(parts, one(" OR ", " || ", " Or "), isOr: true)
    case .comparison(let comparison): write(comparison)
    }
  }

  private mutating func write(_ parts: [PlainPredicate], _ word: String, isOr: Bool) {
    for (place, part) in parts.enumerated() {
      if place > 0 { add(word) }
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

  // MARK: Terms

  private mutating func write(_ term: PlainTerm) {
    switch term {
    case .constant(let value): write(value)
    case .path(let steps): write(path: steps)
    case .variable(let name, let steps):
      add((["$" + name] + steps.map { Self.name($0.text) }).joined(separator: "."))
    case .list(let terms):
      add("{")
      for (place, term) in terms.enumerated() {
        if place > 0 { add(one(", ", ",")) }
        write(term)
      }
      add("}")
    }
  }

  private mutating func write(path steps: [PlainStep]) {
    if steps.isEmpty { return add("SELF") }
    if form == .format, chance(25) {
      pieces.append(.path(steps.map(\.text).joined(separator: ".")))
      return
    }
    let prefix = chance(8) ? "SELF." : ""
    add(prefix + steps.map { Self.name($0.text) }.joined(separator: "."))
  }

  /// A reserved word needs a mark to be a name.
  private static func name(_ text: String) -> String {
    ModelGenerator.reservedNames.contains(text.lowercased()) ? "#" + text : text
  }

  private mutating func write(_ value: PlainValue) {
    if form != .literal, chance(60) {
      pieces.append(.value(value))
    } else {
      add(literal(value))
    }
  }

  private mutating func literal(_ value: PlainValue) -> String {
    switch value {
    case .null: return one("NIL", "nil", "NULL")
    case .boolean(let flag): return flag ? one("TRUE", "YES", "yes") : one("FALSE", "NO")
    case .integer(let number):
      if number >= 0, chance(10) { return "0x" + String(number, radix: 16) }
      return "\(number)"
    case .double(let number):
      return number.isFinite ? "\(number)" : "CAST(\"\(number)\", \"NSNumber\")"
    case .decimal(let number): return "CAST(\"\(number)\", \"NSDecimalNumber\")"
    case .text(let text): return quoted(text)
    case .date(let seconds): return "CAST(\(seconds), \"NSDate\")"
    case .bytes(let bytes):
      return "data(\"" + bytes.map { String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined()
        + "\")"
    case .uuid(let uuid): return "uuid(\"\(uuid.uuidString)\")"
    case .uri(let text): return "uri(\"\(text)\")"
    case .object(let key): return "objectID(\"\(objectID(key))\")"
    case .list(let values):
      return "{" + values.map { literal($0) }.joined(separator: ", ") + "}"
    }
  }

  private mutating func quoted(_ text: String) -> String {
    let quote: Unicode.Scalar = chance(50) ? "\"" : "'"
    var quoted = String(quote)
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": quoted += "\\\\"
      case quote: quoted += "\\" + String(quote)
      case "\n" where chance(50): quoted += "\\n"
      default:
        if scalar.value < 0x10000, chance(10) {
          quoted += "\\u" + String(scalar.value + 0x10000, radix: 16).dropFirst()
        } else {
          quoted.unicodeScalars.append(scalar)
        }
      }
    }
    return quoted + String(quote)
  }
}

extension PlainPredicate {
  /// Whether NOT binds to the whole of it.
  fileprivate var isTight: Bool {
    switch self {
    case .truth, .not, .comparison: true
    case .and, .or: false
    }
  }
}

extension PlainValue {
  /// The same as a value of the library.
  func value(_ objectID: (Int) -> ObjectID) -> Value {
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
    case .uri(let text): URL(string: text).map(Value.uri) ?? .null
    case .object(let key): .objectID(objectID(key))
    case .list(let values): .list(values.map { $0.value(objectID) })
    }
  }
}
