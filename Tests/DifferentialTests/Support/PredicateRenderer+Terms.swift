import ArborModel
import Foundation

/// Terms in the library's predicate language.
extension PredicateRenderer {
  /// Precedences above those of all infix operators.
  private static var unary: Int { 8 }
  private static var postfix: Int { 9 }

  /// Writes a term, in parentheses if its precedence is less than required.
  mutating func write(_ term: PlainTerm, atLeast strength: Int = 0) {
    let isLoose = term.strength < strength
    if isLoose || (term.isCompound && chance(10)) {
      add("(")
      body(of: term)
      add(")")
    } else {
      body(of: term)
    }
  }

  private mutating func body(of term: PlainTerm) {
    switch term {
    case .constant(let value): write(value)
    case .path(let steps): write(path: steps)
    case .variable(let name, let steps): add("$" + name + Self.suffix(steps))
    case .list(let terms): enclosed("{", terms, "}")
    case .behind(let base, let steps):
      write(base, atLeast: Self.postfix)
      add(Self.suffix(steps))
    case .infix(let left, let infix, let right): write(left, infix, right)
    case .prefix(let sign, let inner):
      add(sign.rawValue)
      write(inner, atLeast: Self.unary)
    case .call(let function, let terms):
      enclosed(function.rawValue + one("(", ":("), terms, ")")
    case .cast(let inner, let cast):
      if chance(20) {
        enclosed("castObject:toType:(", [inner], ", \"\(cast.rawValue)\")")
      } else {
        enclosed("CAST(", [inner], ", \"\(cast.rawValue)\")")
      }
    case .ternary(let condition, let first, let second):
      add("TERNARY(")
      write(condition)
      add(", ")
      enclosed("", [first, second], ")")
    case .subquery(let base, let name, let condition):
      add("SUBQUERY(")
      write(base)
      add(", $\(name), ")
      write(condition)
      add(")")
    case .element(let base, let position): write(base, position)
    }
  }

  private mutating func enclosed(_ start: String, _ terms: [PlainTerm], _ end: String) {
    add(start)
    for (position, term) in terms.enumerated() {
      if position > 0 { add(one(", ", ",")) }
      write(term)
    }
    add(end)
  }

  private mutating func write(_ left: PlainTerm, _ infix: PlainInfix, _ right: PlainTerm) {
    if let function = infix.function, chance(20) {
      return enclosed(function + "(", [left, right], ")")
    }
    // Powers are right-associative, all other operators left-associative.
    let isPower = infix == .power
    write(left, atLeast: isPower ? Self.unary : infix.strength)
    add(" \(infix.rawValue) ")
    write(right, atLeast: isPower ? infix.strength : infix.strength + 1)
  }

  private mutating func write(_ base: PlainTerm, _ position: PlainTerm.Position) {
    if case .at(let index) = position, chance(15) {
      return enclosed("objectFrom:withIndex:(", [base, index], ")")
    }
    write(base, atLeast: Self.postfix)
    switch position {
    case .at(let index): enclosed("[", [index], "]")
    case .first: add("[FIRST]")
    case .last: add("[last]")
    case .size: add("[SIZE]")
    }
  }

  private static func suffix(_ steps: [PlainStep]) -> String {
    steps.map { "." + $0.name }.joined()
  }
  private mutating func write(path steps: [PlainStep]) {
    if steps.isEmpty { return add("SELF") }
    if form == .format, chance(25) {
      pieces.append(.path(steps.map(\.text).joined(separator: ".")))
      return
    }
    let prefix = chance(8) ? "SELF." : ""
    add(prefix + steps.map { $0.name }.joined(separator: "."))
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
    case .composite: preconditionFailure("No literal is a composite; compare its parts.")
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

extension PlainTerm {
  fileprivate var strength: Int {
    switch self {
    case .infix(_, let infix, _): infix.strength
    case .prefix: 8
    // A sign before a number binds like a prefix operator.
    case .constant(.integer(let number)) where number < 0: 8
    case .constant(.double(let number)) where number.sign == .minus: 8
    default: 9
    }
  }

  fileprivate var isCompound: Bool {
    if case .infix = self { true } else { false }
  }
}

extension PlainStep {
  /// The name as written in a predicate, in which reserved words are escaped.
  var name: String {
    ModelGenerator.reservedNames.contains(text.lowercased()) ? "#" + text : text
  }
}
