/// The only object that a part of a predicate depends on: a candidate, or an object that to-one
/// relationships lead to from it. The part's result can then be memoized per object.
///
/// `SUBQUERY(country.cities, $c, $c.population > 5000000).@count > 3` has the same result for all
/// cities of a country, so it needs to be evaluated only once.
struct MemoRoot {
  /// The scope in which the path starts; see ``BoundPath/scope``.
  private(set) var scope: Int
  private(set) var hops: [RelationshipSchema]
}

extension MemoRoot {
  /// Creates the root of a part of a predicate. Returns `nil` if the part depends on more than one
  /// object, on random numbers or on registered functions, or if it reads no collection and is
  /// therefore cheap to evaluate repeatedly.
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

    /// Records an expression. Returns whether the search can stop.
    mutating func stops(at expression: BoundExpression, depth: Int) -> Bool {
      switch expression {
      case .path(let path):
        var hops = path.hops
        if case .toOne(let relationship) = path.leaf { hops.append(relationship) }
        note(path.scope - depth, hops)
      case .collection(let collection):
        readsCollections = true
        note(collection.scope - depth, collection.hops)
      // Filters are visited before the expressions that read their slots.
      case .filter(_, let slot, _): slots.insert(ObjectIdentifier(slot))
      case .slot(let slot): if !slots.contains(ObjectIdentifier(slot)) { isPossible = false }
      case .closure: readsCollections = true
      case .custom, .call(.random, _), .call(.randomn, _): isPossible = false
      default: break
      }
      return !isPossible
    }

    private mutating func note(_ scope: Int, _ hops: [RelationshipSchema]) {
      // Candidates of inner scopes belong to the tree itself.
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
  /// Whether the expression can be read directly or through to-one relationships. Most can, and
  /// don't have to be searched for collections.
  fileprivate var isLeaf: Bool {
    switch self {
    case .path, .constant, .argument, .slot: true
    default: false
    }
  }
}
