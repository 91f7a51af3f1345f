internal import ArborModel
internal import LMDB

/// What access paths cost, in units of one row of a scan that is asked for its own values: some 25
/// nanoseconds. The numbers are measured ones, rounded.
struct CostModel {
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

  let source: QuerySource

  init(_ source: QuerySource) { self.source = source }

  /// What a row costs that some conditions are asked of, beyond its reading.
  func cost(of nodes: [BoundNode]) -> Int {
    nodes.reduce(0) { Self.sum($0, cost(of: $1)) }
  }

  /// Two costs together.
  static func sum(_ left: Int, _ right: Int) -> Int { min(left + right, most) }

  /// So many times a cost.
  static func product(_ count: Int, _ cost: Int) -> Int {
    let (product, overflows) = count.multipliedReportingOverflow(by: cost)
    return overflows ? most : min(product, most)
  }

  private func cost(of node: BoundNode) -> Int {
    switch node {
    case .constant: 0
    case .not(let node): cost(of: node)
    case .and(let nodes), .or(let nodes): cost(of: nodes)
    case .comparison(let comparison):
      Self.sum(cost(of: comparison.left), cost(of: comparison.right))
    case .quantified(_, let collection, let node):
      Self.sum(
        cost(of: .collection(collection)),
        Self.product(members(of: collection), Self.sum(Self.lookup, cost(of: node))))
    }
  }

  private func cost(of expression: BoundExpression) -> Int {
    switch expression {
    case .constant, .argument: 0
    case .path(let path): path.hops.count * Self.hop
    case .list(let elements), .call(_, let elements), .custom(_, let elements, _):
      elements.reduce(0) { Self.sum($0, cost(of: $1)) }
    case .collection(let collection): (collection.hops.count + 1) * Self.seek
    case .each(let base, _, let inner): each(of: base, cost(of: inner))
    case .follow(let base, _, let inner):
      Self.sum(Self.sum(cost(of: base), Self.hop), cost(of: inner))
    case .subquery(let base, _, let node): each(of: base, cost(of: node))
    case .filter(let base, _, let node): Self.sum(cost(of: base), Self.product(4, cost(of: node)))
    case .ternary(let node, let first, let second):
      Self.sum(cost(of: node), max(cost(of: first), cost(of: second)))
    case .union(_, let base), .cast(let base, _), .element(let base, _): cost(of: base)
    case .part(let base, _, _): Self.sum(cost(of: base), Self.hop)
    case .decoded(let path, _): Self.sum(cost(of: .path(path)), Self.hop)
    case .slot: 0
    }
  }

  /// What is asked of each object of a collection.
  private func each(of base: BoundExpression, _ inner: Int) -> Int {
    Self.sum(
      cost(of: base), Self.product(members(of: base), Self.sum(Self.lookup, inner)))
  }

  private func members(of expression: BoundExpression) -> Int {
    if case .collection(let collection) = expression { members(of: collection) } else { 4 }
  }

  /// How many members an owner has in the mean; costs nothing.
  private func members(of collection: BoundCollection) -> Int {
    let databases = source.store.databases
    guard
      let relationshipIndex = databases.relationshipIndex(
        entity: collection.owner.index, slot: collection.relationship.slot),
      let links = try? source.reader.entryCount(databases.relationships[relationshipIndex].members)
    else { return 4 }
    let declaring = source.schema.entities[collection.relationship.declaringEntity]
    let owners = declaring.concreteFamily.map { source.schema.entities[$0] }
    let count = (try? source.count(owners)) ?? 0
    return max(1, links / max(1, count))
  }
}
