/// A formatter of bound trees for query plans, in a notation similar to the predicate language.
package struct BoundText {
  let constant: (PropertyValue) -> String
  let arguments: [PropertyValue]

  /// - Parameters:
  ///   - arguments: The constants of the trees' `.argument` leaves.
  ///   - constant: A closure that formats a constant, or `nil` for the syntax of the predicate
  ///     language.
  package init(arguments: [PropertyValue], constant: ((PropertyValue) -> String)? = nil) {
    self.arguments = arguments
    self.constant = constant ?? PredicateLiteral.text
  }

  /// Returns the text of a predicate, in parentheses if it is nested and needs them.
  package func text(_ node: BoundNode, isNested: Bool = false) -> String {
    switch node {
    case .constant(let isTrue): return isTrue ? "TRUE" : "FALSE"
    case .not(let inner): return "NOT " + text(inner, isNested: true)
    case .comparison(let comparison):
      return "\(text(comparison.left)) \(comparison.comparison.rawValue)\(comparison.options.text) "
        + text(comparison.right)
    case .and(let parts), .or(let parts):
      let word = if case .and = node { " AND " } else { " OR " }
      let joined = parts.map { text($0, isNested: true) }.joined(separator: word)
      return isNested ? "(\(joined))" : joined
    case .quantified(let quantifier, let collection, let node):
      let word = if case .any = quantifier { "ANY" } else { "ALL" }
      return "\(word) \(text(collection)) (\(text(node)))"
    }
  }

  package func text(_ expression: BoundExpression) -> String {
    switch expression {
    case .path(let path): return text(path)
    case .constant(let value): return constant(value)
    case .argument(let argumentIndex):
      return argumentIndex < arguments.count
        ? constant(arguments[argumentIndex]) : "$\(argumentIndex)"
    case .list(let elements): return "{" + texts(elements) + "}"
    case .collection(let collection): return text(collection)
    case .each(let base, _, let inner), .follow(let base, _, let inner):
      return text(base) + "." + text(inner)
    case .union(let union, let base): return text(base) + "." + union.rawValue
    case .closure(let base, let step): return "CLOSURE(\(text(base)).\(step.name))"
    case .call(.count, let operands) where operands.count == 1: return text(operands[0]) + ".@count"
    case .call(let function, let operands):
      guard let infix = function.infix else { return "\(function.name)(\(texts(operands)))" }
      if operands.count == 1 { return infix.symbol + text(operands[0]) }
      return "(" + operands.map(text).joined(separator: " \(infix.symbol) ") + ")"
    case .custom(let name, let operands, _): return "FUNCTION(\(name), \(texts(operands)))"
    case .cast(let base, let type): return "CAST(\(text(base)), \(type.rawValue))"
    case .ternary(let node, let first, let second):
      return "TERNARY(\(text(node)), \(text(first)), \(text(second)))"
    case .subquery(let base, _, let node), .filter(let base, _, let node):
      return "SUBQUERY(\(text(base)), \(text(node)))"
    case .slot: return "$"
    case .element(let base, let position):
      switch position {
      case .first: return text(base) + "[FIRST]"
      case .last: return text(base) + "[LAST]"
      case .at(let index): return text(base) + "[\(text(index))]"
      }
    case .decoded(let path, let part): return ([text(path)] + part.keys).joined(separator: ".")
    case .part(let base, let name, _): return text(base) + "." + name
    }
  }

  private func texts(_ expressions: [BoundExpression]) -> String {
    expressions.map(text).joined(separator: ", ")
  }

  /// Returns the text of a path, with a leading caret for each enclosing scope.
  package func text(_ path: BoundPath) -> String {
    let leaf =
      switch path.leaf {
      case .attribute(let attribute): attribute.name
      case .toOne(let relationship): relationship.name
      case .object: "objectID"
      case .entityName: "entity.name"
      }
    return text(path.scope, path.hops, leaf)
  }

  private func text(_ collection: BoundCollection) -> String {
    text(collection.scope, collection.hops, collection.relationship.name)
  }

  private func text(_ scope: Int, _ hops: [RelationshipSchema], _ end: String) -> String {
    String(repeating: "^", count: scope) + (hops.map(\.name) + [end]).joined(separator: ".")
  }
}
