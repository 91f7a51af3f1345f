/// The one object that a part of a predicate depends on, where it depends on one: a candidate, or
/// what to-one relationships lead to from it.
///
/// `SUBQUERY(country.cities, $c, $c.population > 5000000).@count > 3` asks the same of all cities
/// of a country, so that it is worth asking once.
struct MemoRoot {
  /// Whose candidate the path starts at; see ``BoundPath/scope``.
  private(set) var scope: Int
  private(set) var hops: [RelationshipSchema]
}

extension MemoRoot {
  /// - Returns: nil where the part reads more than one object's surroundings, where chance or
  ///   functions of the program decide, or where it reads no collection, so that asking again costs
  ///   little.
  init?(_ node: BoundNode) {
    if case .comparison(let comparison) = node, comparison.left.isLeaf, comparison.right.isLeaf {
      return nil
    }
    var search = Search()
    _ = node.contains { search.stops(at: $0, depth: $1) }
    guard let root = search.root else { return nil }
    self = root
  }

  init?(_ expression: BoundExpression) {
    if expression.isLeaf { return nil }
    var search = Search()
    _ = expression.contains { search.stops(at: $0, depth: $1) }
    guard let root = search.root else { return nil }
    self = root
  }

  private struct Search {
    private var found: MemoRoot?
    private var readsCollections = false
    private var isPossible = true
    private var slots: Set<ObjectIdentifier> = []

    var root: MemoRoot? { isPossible && readsCollections ? found : nil }

    /// Takes an expression in; whether the search has come to its end.
    mutating func stops(at expression: BoundExpression, depth: Int) -> Bool {
      switch expression {
      case .path(let path):
        var hops = path.hops
        if case .toOne(let relationship) = path.leaf { hops.append(relationship) }
        note(path.scope - depth, hops)
      case .collection(let collection):
        readsCollections = true
        note(collection.scope - depth, collection.hops)
      // What binds a slot is met before those that read it.
      case .filter(_, let slot, _): slots.insert(ObjectIdentifier(slot))
      case .slot(let slot): if !slots.contains(ObjectIdentifier(slot)) { isPossible = false }
      case .custom, .call(.random, _), .call(.randomn, _): isPossible = false
      default: break
      }
      return !isPossible
    }

    private mutating func note(_ scope: Int, _ hops: [RelationshipSchema]) {
      // What starts at a candidate within the tree is a matter of the tree.
      guard scope >= 0 else { return }
      guard let former = found else {
        found = MemoRoot(scope: scope, hops: hops)
        return
      }
      guard former.scope == scope else {
        isPossible = false
        return
      }
      let common = zip(former.hops, hops).prefix { left, right in
        left.slot == right.slot && left.declaringEntity == right.declaringEntity
      }.count
      found?.hops.removeLast(former.hops.count - common)
    }
  }
}

extension BoundExpression {
  /// Whether the expression is one value that is at hand or behind to-one relationships: nearly all
  /// are, and are known not to read collections without a search.
  fileprivate var isLeaf: Bool {
    switch self {
    case .path, .constant, .argument, .slot: true
    default: false
    }
  }
}
