extension FetchPredicate: Hashable {
  /// Whether two predicates say the same in the same words: constants may be written or
  /// interpolated, blanks, parentheses and the spelling of keywords are free.
  public static func == (left: Self, right: Self) -> Bool {
    if left.shape === right.shape { return left.arguments == right.arguments }
    switch (left.resolved, right.resolved) {
    case (.success(let left), .success(let right)): return left == right
    case (.failure, .failure): return left.description == right.description
    default: return false
    }
  }

  /// Feeds what the predicate says into a hasher.
  public func hash(into hasher: inout Hasher) {
    switch resolved {
    case .success(let node): hasher.combine(node)
    case .failure: hasher.combine(description)
    }
  }

  /// The tree with its arguments put in as constants.
  package var resolved: Result<PredicateNode, ArborError> {
    shape.outcome.map { node in
      node.mapLeaves { leaf in
        guard case .argument(let index) = leaf, index < arguments.count else { return leaf }
        return .constant(arguments[index])
      }
    }
  }
}
