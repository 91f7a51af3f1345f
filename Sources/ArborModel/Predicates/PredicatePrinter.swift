/// A formatter that converts trees to text that parses into equal trees.
package struct PredicatePrinter {
  let argument: (Int) -> String

  package init(argument: @escaping (Int) -> String) { self.argument = argument }

  package func text(of node: PredicateNode) -> String {
    switch node {
    case .constant(let flag): flag ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .and(let nodes): nodes.map(operand).joined(separator: " AND ")
    case .or(let nodes): nodes.map(text).joined(separator: " OR ")
    case .not(let node): "NOT " + negated(node)
    case .comparison(let comparison): text(of: comparison)
    }
  }

  /// Returns the text of an operand of AND. OR needs parentheses, because its precedence is lower.
  package func operand(_ node: PredicateNode) -> String {
    if case .or = node { "(\(text(of: node)))" } else { text(of: node) }
  }

  private func negated(_ node: PredicateNode) -> String {
    switch node {
    case .constant, .not: text(of: node)
    default: "(\(text(of: node)))"
    }
  }

  private func text(of comparison: PredicateComparison) -> String {
    let qualifier = comparison.qualifier.map { $0.rawValue + " " } ?? ""
    let symbol = comparison.comparison.rawValue + comparison.options.text
    return "\(qualifier)\(text(of: comparison.left)) \(symbol) \(text(of: comparison.right))"
  }
}

/// Formatting of expressions, with only the parentheses that are necessary.
extension PredicatePrinter {
  func text(of expression: ExpressionNode) -> String {
    switch expression {
    case .constant(let value): return PredicateLiteral.text(of: value)
    case .argument(let index): return argument(index)
    case .variable(let name, _): return variable(name)
    case .path(let path): return text(of: path)
    case .member(let base, let path):
      return text(of: base, atLeast: .postfix) + "." + text(of: path)
    case .list(let elements): return "{" + list(elements) + "}"
    case .call(let function, let operands, _): return call(function, operands)
    case .custom(let target, let name, let operands, _):
      // From left to right, because arguments are numbered in the order of the text.
      let start = "FUNCTION(\(text(of: target)), \(PredicateLiteral.quoted(name))"
      return start + (operands.isEmpty ? "" : ", " + list(operands)) + ")"
    case .cast(let base, let type, _):
      return "CAST(\(text(of: base)), \(PredicateLiteral.quoted(type)))"
    case .ternary(let condition, let first, let second):
      return "TERNARY(\(text(of: condition)), \(text(of: first)), \(text(of: second)))"
    case .subquery(let base, let name, let condition, _):
      return "SUBQUERY(\(text(of: base)), \(variable(name)), \(text(of: condition)))"
    case .element(let base, let position, _):
      return text(of: base, atLeast: .postfix) + "[" + text(of: position) + "]"
    case .assignment(let name, let value): return variable(name) + " := " + text(of: value)
    }
  }

  private func list(_ elements: [ExpressionNode]) -> String {
    elements.map { text(of: $0) }.joined(separator: ", ")
  }

  private func variable(_ name: String) -> String { "$" + escaped(name, isVariable: true) }

  private func text(of position: ElementPosition) -> String {
    switch position {
    case .at(let index): text(of: index)
    case .first: "FIRST"
    case .last: "LAST"
    case .size: "SIZE"
    }
  }

  private func call(_ function: PredicateFunction, _ operands: [ExpressionNode]) -> String {
    guard let (symbol, precedence) = function.infix, operands.count == function.arity.lowerBound
    else { return function.name + "(" + list(operands) + ")" }
    if function == .negate { return symbol + negated(operands[0]) }
    guard operands.count == 2 else { return symbol + text(of: operands[0], atLeast: precedence) }
    // Operators are left-associative, except powers, which are right-associative.
    let isRightward = function == .power
    let left = text(of: operands[0], atLeast: isRightward ? precedence.tighter : precedence)
    let right = text(of: operands[1], atLeast: isRightward ? precedence : precedence.tighter)
    return "\(left) \(symbol) \(right)"
  }

  /// Returns the text of the operand of a minus. A positive number is put in parentheses, because
  /// the minus would become its sign.
  private func negated(_ operand: ExpressionNode) -> String {
    if case .constant(let value) = operand, value.isWrittenAsNumber {
      let text = PredicateLiteral.text(of: value)
      return text.hasPrefix("-") ? text : "(\(text))"
    }
    return text(of: operand, atLeast: .unary)
  }

  /// Returns the text of an operand, in parentheses if its precedence is too low for its position.
  private func text(
    of expression: ExpressionNode, atLeast precedence: PredicateFunction.Precedence
  ) -> String {
    let text = text(of: expression)
    return self.precedence(of: expression) < precedence ? "(\(text))" : text
  }

  private func precedence(of expression: ExpressionNode) -> PredicateFunction.Precedence {
    switch expression {
    case .assignment: .assignment
    case .call(let function, _, _): function.infix?.precedence ?? .postfix
    // A dot after a number would be its decimal point, and a sign has a lower precedence than a
    // dot.
    case .constant(let value): value.isWrittenAsNumber ? .unary : .postfix
    default: .postfix
    }
  }
}

extension PropertyValue {
  /// Whether the constant's literal is a number, with or without a sign.
  fileprivate var isWrittenAsNumber: Bool {
    switch self {
    case .integer: true
    case .double(let number): number.isFinite
    default: false
    }
  }
}

extension PredicatePrinter {
  /// Returns a property's name as written in predicates, with a mark if it is a reserved word.
  package static func name(_ name: String) -> String {
    PredicatePrinter { _ in "" }.text(of: KeyPathNode(names: [name]))
  }

  func text(of path: KeyPathNode) -> String {
    if path.parts.isEmpty { return "SELF" }
    return path.parts.map { part in
      switch part {
      case .argument: "%K"
      case .collectionOperator(let name, _): name
      case .name(let name, _): (PredicateKeyword(spelledBy: name) == nil ? "" : "#") + escaped(name)
      }
    }.joined(separator: ".")
  }

  /// Returns a name in which all characters that are not allowed in identifiers are escaped.
  func escaped(_ name: String, isVariable: Bool = false) -> String {
    var escaped = ""
    for scalar in name.unicodeScalars {
      let isPlain =
        scalar == "_" || (isVariable && scalar == "$")
        || (scalar.isASCII
          ? isLetter(scalar) || (isDigit(scalar) && !escaped.isEmpty)
          : scalar.properties.isXIDStart || (scalar.properties.isXIDContinue && !escaped.isEmpty))
      if isPlain {
        escaped.unicodeScalars.append(scalar)
      } else if scalar.value <= 0xFFFF {
        escaped += PredicateLiteral.escape(scalar.value)
      } else {
        escaped += "\\"
        escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  private func isLetter(_ scalar: Unicode.Scalar) -> Bool {
    ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
  }

  private func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }
}
