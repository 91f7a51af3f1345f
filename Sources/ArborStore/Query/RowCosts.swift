internal import ArborModel
internal import LMDB

/// What ways to rows cost, in units of one row of a scan that is asked for its own values: some 25
/// nanoseconds. The numbers are measured ones, rounded.
struct RowCosts {
  /// A record that is looked up by its number, where numbers are in order.
  static let lookup = 16
  /// A relationship that is followed from a row.
  static let hop = 8
  /// A look into a database for one key.
  static let seek = 8
  /// A step to the next key of an index.
  static let key = 2

  let source: QuerySource

  init(_ source: QuerySource) { self.source = source }

  /// What a row costs that some conditions are asked of, beyond its reading.
  func cost(of nodes: [BoundNode]) -> Int {
    nodes.reduce(0) { $0 + cost(of: $1) }
  }

  private func cost(of node: BoundNode) -> Int {
    switch node {
    case .constant: 0
    case .not(let node): cost(of: node)
    case .and(let nodes), .or(let nodes): cost(of: nodes)
    case .comparison(let comparison): cost(of: comparison.left) + cost(of: comparison.right)
    case .quantified(_, let collection, let node):
      cost(of: .collection(collection)) + members(of: collection) * (Self.lookup + cost(of: node))
    }
  }

  private func cost(of expression: BoundExpression) -> Int {
    switch expression {
    case .constant, .argument: 0
    case .path(let path): path.hops.count * Self.hop
    case .list(let elements), .call(_, let elements), .custom(_, let elements, _):
      elements.reduce(0) { $0 + cost(of: $1) }
    case .collection(let collection): (collection.hops.count + 1) * Self.seek
    case .each(let base, _, let inner):
      cost(of: base) + members(of: base) * (Self.lookup + cost(of: inner))
    case .follow(let base, _, let inner): cost(of: base) + Self.hop + cost(of: inner)
    case .subquery(let base, _, let node):
      cost(of: base) + members(of: base) * (Self.lookup + cost(of: node))
    case .filter(let base, _, let node): cost(of: base) + 4 * cost(of: node)
    case .ternary(let node, let first, let second):
      cost(of: node) + max(cost(of: first), cost(of: second))
    case .union(_, let base), .cast(let base, _), .element(let base, _): cost(of: base)
    case .part(let base, _, _): cost(of: base) + Self.hop
    case .slot: 0
    }
  }

  private func members(of expression: BoundExpression) -> Int {
    if case .collection(let collection) = expression { members(of: collection) } else { 4 }
  }

  /// How many members an owner has in the mean; costs nothing.
  private func members(of collection: BoundCollection) -> Int {
    let databases = source.store.databases
    guard
      let place = databases.relationshipPlace(
        entity: collection.owner.index, slot: collection.relationship.slot),
      let links = try? source.reader.entryCount(databases.relationships[place].members)
    else { return 4 }
    let declaring = source.schema.entities[collection.relationship.declaringEntity]
    let owners = declaring.concreteFamily.map { source.schema.entities[$0] }
    let count = (try? source.count(owners)) ?? 0
    return max(1, links / max(1, count))
  }
}
