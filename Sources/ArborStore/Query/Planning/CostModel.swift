internal import ArborModel

/// The cost model of rows and plans, in units of ``Cost``.
struct CostModel<Counter: Counts> {
  let schema: ModelSchema
  let counts: Counter

  /// Returns the cost of a scan that evaluates conditions on every row.
  func scan(of rows: Int, asking nodes: [BoundNode]) -> Int {
    Cost.product(rows, Cost.sum(1, cost(of: nodes)))
  }

  /// Returns the cost of reading a plan's rows, in addition to finding their numbers.
  func cost(of plan: AccessPlan) -> Int {
    switch plan.access {
    case .nothing, .ordered, .skipping: 0
    case .scan(let rows): scan(of: rows, asking: plan.residual)
    case .numbers(let list):
      plan.isListed
        ? 0 : Cost.product(list.count.rows, Cost.sum(Cost.lookup, cost(of: plan.residual)))
    }
  }

  /// Returns the cost of evaluating conditions on a row, in addition to reading it.
  func cost(of nodes: [BoundNode]) -> Int { nodes.reduce(0) { Cost.sum($0, cost(of: $1)) } }

  private func cost(of node: BoundNode) -> Int {
    switch node {
    case .constant: 0
    case .not(let node): cost(of: node)
    case .and(let nodes), .or(let nodes): cost(of: nodes)
    case .comparison(let comparison):
      Cost.sum(cost(of: comparison.left), cost(of: comparison.right))
    case .quantified(_, let collection, let node):
      Cost.sum(
        cost(of: .collection(collection)),
        Cost.product(members(of: collection), Cost.sum(Cost.lookup, cost(of: node))))
    }
  }

  private func cost(of expression: BoundExpression) -> Int {
    switch expression {
    case .constant, .argument: 0
    case .path(let path): path.hops.count * Cost.hop
    case .list(let elements), .call(_, let elements), .custom(_, let elements, _):
      elements.reduce(0) { Cost.sum($0, cost(of: $1)) }
    case .collection(let collection): (collection.hops.count + 1) * Cost.seek
    case .each(let base, _, let inner): each(of: base, cost(of: inner))
    case .follow(let base, _, let inner):
      Cost.sum(Cost.sum(cost(of: base), Cost.hop), cost(of: inner))
    case .subquery(let base, _, let node): each(of: base, cost(of: node))
    case .filter(let base, _, let node): Cost.sum(cost(of: base), Cost.product(4, cost(of: node)))
    case .ternary(let node, let first, let second):
      Cost.sum(cost(of: node), max(cost(of: first), cost(of: second)))
    case .closure(let base, _): Cost.sum(cost(of: base), Cost.product(4, Cost.hop))
    case .union(_, let base), .cast(let base, _), .element(let base, _): cost(of: base)
    case .part(let base, _, _): Cost.sum(cost(of: base), Cost.hop)
    case .decoded(let path, _): Cost.sum(cost(of: .path(path)), Cost.hop)
    case .slot: 0
    }
  }

  /// Returns the cost of evaluating a condition on each object of a collection.
  private func each(of base: BoundExpression, _ inner: Int) -> Int {
    Cost.sum(cost(of: base), Cost.product(members(of: base), Cost.sum(Cost.lookup, inner)))
  }

  private func members(of expression: BoundExpression) -> Int {
    if case .collection(let collection) = expression { members(of: collection) } else { 4 }
  }

  /// Returns the average number of members per owner, or an assumed number if it is unknown.
  private func members(of collection: BoundCollection) -> Int {
    let owners = schema.entities[collection.relationship.declaringEntity].concreteFamily
    guard collection.relationship.isToMany,
      let links = try? counts.linkCount(of: collection.relationship),
      let count = try? counts.objectCount(of: owners.map { schema.entities[$0] })
    else { return 4 }
    return max(1, links / max(1, count))
  }
}

/// Units of cost. One unit is the cost of scanning a row and testing its own values, about 25
/// nanoseconds. The constants are rounded measurements.
enum Cost {
  /// The cost of looking up a record by number, with numbers in ascending order.
  static let lookup = 16
  /// The cost of following a relationship from a row.
  static let hop = 8
  /// The cost of searching a database for one key.
  static let seek = 8
  /// The cost of stepping to the next key of an index.
  static let key = 2
  /// The upper limit of costs. The true cost of nested collections can overflow an `Int`.
  static let maximum = Int.max / 4

  /// Returns the sum of two costs, limited to ``maximum``.
  static func sum(_ left: Int, _ right: Int) -> Int { min(left + right, maximum) }

  /// Returns a multiple of a cost, limited to ``maximum``.
  static func product(_ count: Int, _ cost: Int) -> Int {
    let (product, overflows) = count.multipliedReportingOverflow(by: cost)
    return overflows ? maximum : min(product, maximum)
  }
}
