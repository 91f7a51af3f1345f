internal import ArborModel

/// What rows and plans cost, in units of ``Cost``.
struct CostModel<Source: Counts> {
  let schema: ModelSchema
  let counts: Source

  /// What a scan costs that asks every row for some conditions.
  func scan(of rows: Int, asking nodes: [BoundNode]) -> Int {
    Cost.product(rows, Cost.sum(1, cost(of: nodes)))
  }

  /// What the rows of a plan cost beyond finding their numbers.
  func cost(of plan: AccessPlan) -> Int {
    switch plan.access {
    case .nothing, .ordered: 0
    case .scan(let rows): scan(of: rows, asking: plan.residual)
    case .numbers(let list):
      plan.isListed
        ? 0 : Cost.product(list.count.rows, Cost.sum(Cost.lookup, cost(of: plan.residual)))
    }
  }

  /// What a row costs that some conditions are asked of, beyond its reading.
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
    case .union(_, let base), .cast(let base, _), .element(let base, _): cost(of: base)
    case .part(let base, _, _): Cost.sum(cost(of: base), Cost.hop)
    case .decoded(let path, _): Cost.sum(cost(of: .path(path)), Cost.hop)
    case .slot: 0
    }
  }

  /// What is asked of each object of a collection.
  private func each(of base: BoundExpression, _ inner: Int) -> Int {
    Cost.sum(cost(of: base), Cost.product(members(of: base), Cost.sum(Cost.lookup, inner)))
  }

  private func members(of expression: BoundExpression) -> Int {
    if case .collection(let collection) = expression { members(of: collection) } else { 4 }
  }

  /// How many members an owner has in the mean.
  private func members(of collection: BoundCollection) -> Int {
    let owners = schema.entities[collection.relationship.declaringEntity].concreteFamily
    guard collection.relationship.isToMany,
      let links = try? counts.linkCount(of: collection.relationship),
      let count = try? counts.objectCount(of: owners.map { schema.entities[$0] })
    else { return 4 }
    return max(1, links / max(1, count))
  }
}

/// Units of cost: one is a row of a scan that is asked for its own values, some 25 nanoseconds. The
/// numbers are measured ones, rounded.
enum Cost {
  /// A record that is looked up by its number, where numbers are in order.
  static let lookup = 16
  /// A relationship that is followed from a row.
  static let hop = 8
  /// A look into a database for one key.
  static let seek = 8
  /// A step to the next key of an index.
  static let key = 2
  /// What costs more costs this: nested collections can ask for more than a number counts.
  static let most = Int.max / 4

  /// Two costs together.
  static func sum(_ left: Int, _ right: Int) -> Int { min(left + right, most) }

  /// So many times a cost.
  static func product(_ count: Int, _ cost: Int) -> Int {
    let (product, overflows) = count.multipliedReportingOverflow(by: cost)
    return overflows ? most : min(product, most)
  }
}
