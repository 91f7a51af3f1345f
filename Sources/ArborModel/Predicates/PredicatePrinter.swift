/// Writes trees as text that parses back to them.
package struct PredicatePrinter {
  /// The text of an argument.
  private let argument: (Int) -> String

  /// - Parameter argument: The text of an argument.
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

  /// AND binds tighter than OR.
  private func operand(_ node: PredicateNode) -> String {
    if case .or = node { "(\(text(of: node)))" } else { text(of: node) }
  }

  private func negated(_ node: PredicateNode) -> String {
    switch node {
    case .constant, .not: text(of: node)
    default: "(\(text(of: node)))"
    }
  }

  private func text(of comparison: PredicateComparison) -> String {
    let symbol = comparison.comparison.rawValue + comparison.options.text
    return "\(text(of: comparison.left)) \(symbol) \(text(of: comparison.right))"
  }

  private func text(of expression: ExpressionNode) -> String {
    switch expression {
    case .constant(let value): PredicateLiteral.text(of: value)
    case .argument(let index): argument(index)
    case .variable(let name, _): "$" + escaped(name, isVariable: true)
    case .list(let elements): "{" + elements.map(text).joined(separator: ", ") + "}"
    case .path(let path): text(of: path)
    }
  }

  private func text(of path: KeyPathNode) -> String {
    if path.parts.isEmpty { return "SELF" }
    return path.parts.map { part in
      switch part {
      case .argument: "%K"
      case .name(let name, _):
        (PredicateKeyword(spelledBy: Array(name.utf8)) == nil ? "" : "#") + escaped(name)
      }
    }.joined(separator: ".")
  }

  /// A name with whatever no identifier holds escaped.
  private func escaped(_ name: String, isVariable: Bool = false) -> String {
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
