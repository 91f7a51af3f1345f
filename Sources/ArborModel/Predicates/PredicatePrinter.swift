/// Writes trees as text that parses back to them.
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
    let qualifier = comparison.qualifier.map { $0.rawValue + " " } ?? ""
    let symbol = comparison.comparison.rawValue + comparison.options.text
    return "\(qualifier)\(text(of: comparison.left)) \(symbol) \(text(of: comparison.right))"
  }
}
