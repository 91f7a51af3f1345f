/// The unresolved parts of a tree: its unbound variables and its `%K`s.
struct OpenLeaves {
  private(set) var variables: Set<String> = []
  private(set) var pathArguments: Set<Int> = []
  /// The variables that are bound at the current position and, after the visit, those that the tree
  /// assigns.
  private(set) var bound: [String] = []

  mutating func visit(_ node: PredicateNode) { node.forEachSide { visit($0) } }

  private mutating func visit(_ expression: ExpressionNode) {
    switch expression {
    case .constant, .argument: break
    case .variable(let name, _): if !bound.contains(name) { variables.insert(name) }
    case .path(let path): visit(path)
    case .member(let base, let path):
      visit(base)
      visit(path)
    case .list(let elements), .call(_, let elements, _): for element in elements { visit(element) }
    case .custom(let target, name: _, let operands, _):
      visit(target)
      for operand in operands { visit(operand) }
    case .cast(let base, to: _, _): visit(base)
    case .ternary(let condition, let first, let second):
      visit(condition)
      visit(first)
      visit(second)
    case .subquery(let base, let variable, let condition, _):
      visit(base)
      let outer = bound
      bound.append(variable)
      visit(condition)
      bound = outer
    case .element(let base, let position, _):
      visit(base)
      if case .at(let index) = position { visit(index) }
    case .assignment(let name, let value):
      visit(value)
      bound.append(name)
    }
  }

  private mutating func visit(_ path: KeyPathNode) {
    for case .argument(let index, _) in path.parts { pathArguments.insert(index) }
  }
}
