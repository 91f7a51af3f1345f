/// A conjunction in normal form, prepared for query planning. Its arguments are not known yet.
package struct BoundConjunction: Sendable {
  let members: [BoundMember]
  /// The members' conditions on related objects.
  let related: [RelatedCondition]

  init(_ root: BoundNode) { self.init(members: PredicateNormalizer.conjunction(of: root)) }

  /// Creates a conjunction from members in normal form.
  fileprivate init(members nodes: [BoundNode]) {
    members = nodes.map(BoundMember.init)
    related = RelatedCondition.gather(nodes)
  }

  /// Whether an index can narrow the conjunction for some arguments.
  fileprivate var mayNarrow: Bool {
    !related.isEmpty || members.contains { $0.pattern != nil || !$0.alternatives.isEmpty }
  }

  /// Returns the conjunction with its arguments, or `nil` if no record can satisfy it.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` if an argument is unsuitable for its comparison.
  package func conjunction(
    arguments: [PropertyValue], environment: PredicateEnvironment
  ) throws(ArborError) -> Conjunction? {
    try conjunction(
      arguments: arguments, haveNaN: arguments.contains(where: \.containsNaN),
      environment: environment)
  }

  /// Returns the conjunction with its arguments, or `nil` if no record can satisfy it.
  ///
  /// - Parameter haveNaN: Whether an argument contains NaN. All alternatives share the arguments,
  ///   so the caller checks them once.
  fileprivate func conjunction(
    arguments: [PropertyValue], haveNaN: Bool, environment: PredicateEnvironment
  ) throws(ArborError) -> Conjunction? {
    var conjuncts: [Conjunct] = []
    conjuncts.reserveCapacity(members.count)
    var isImpossible = false
    for member in members {
      if member.needsCheck || haveNaN {
        try ComparisonRules.check(member.node, arguments: arguments)
      }
      let conjunct = try member.conjunct(
        arguments: arguments, haveNaN: haveNaN, environment: environment)
      if let conjunct {
        conjuncts.append(conjunct)
      } else {
        isImpossible = true
      }
    }
    if isImpossible { return nil }
    return Conjunction(
      conjuncts: conjuncts,
      related: related.isEmpty ? [] : related.filter { $0.isFalseOfNil(arguments) })
  }
}

/// A member of a predicate's conjunction, analysed before its arguments are known.
struct BoundMember: Sendable {
  let node: BoundNode
  /// The comparison of a property with a constant that the member consists of, or `nil` for any
  /// other member.
  let pattern: IndexablePattern?
  /// The disjuncts of the member if each may have an access path of its own, otherwise empty.
  let alternatives: [BoundConjunction]
  /// Whether the validity of its operands depends on the arguments.
  let needsCheck: Bool

  init(_ node: BoundNode) {
    self.node = node
    needsCheck = ComparisonRules.dependsOnArguments(node)
    var pattern: IndexablePattern?
    var alternatives: [BoundConjunction] = []
    switch node {
    case .comparison(let comparison): pattern = IndexablePattern(comparison)
    case .or(let nodes):
      for node in nodes {
        let alternative =
          if case .and(let members) = node { BoundConjunction(members: members) } else {
            BoundConjunction(members: [node])
          }
        alternatives.append(alternative)
        guard !alternative.mayNarrow else { continue }
        alternatives = []
        break
      }
    default: break
    }
    self.pattern = pattern
    self.alternatives = alternatives
  }

  /// Returns the member with its arguments, or `nil` if no record can satisfy it.
  fileprivate func conjunct(
    arguments: [PropertyValue], haveNaN: Bool, environment: PredicateEnvironment
  ) throws(ArborError) -> Conjunct? {
    guard alternatives.isEmpty else {
      return try disjunction(arguments: arguments, haveNaN: haveNaN, environment: environment)
    }
    switch pattern?.outcome(arguments: arguments, environment: environment) {
    case .never: return nil
    case .term(let term): return Conjunct(node: node, term: term)
    case nil:
      if case .constant(false) = node { return nil }
      return Conjunct(node: node)
    }
  }

  /// Returns the member, which is a disjunction, with its arguments, or `nil` if no record can
  /// satisfy it. Alternatives that compare the same property with single values are merged.
  private func disjunction(
    arguments: [PropertyValue], haveNaN: Bool, environment: PredicateEnvironment
  ) throws(ArborError) -> Conjunct? {
    var points: [(term: IndexableTerm, values: [PropertyValue])] = []
    var others: [Conjunction] = []
    for alternative in alternatives {
      guard
        let conjunction = try alternative.conjunction(
          arguments: arguments, haveNaN: haveNaN, environment: environment)
      else { continue }
      if conjunction.conjuncts.count == 1, let term = conjunction.conjuncts[0].term,
        let values = term.points
      {
        if let known = points.firstIndex(where: { $0.term.isAbout(term) }) {
          points[known].values += values
        } else {
          points.append((term, values))
        }
      } else {
        // If a single alternative requires a scan, the access paths of the others are useless.
        guard conjunction.mayNarrow else { return Conjunct(node: node) }
        others.append(conjunction)
      }
    }
    let merged = points.compactMap { term, values in
      IndexableTerm.Condition.among(values).map { condition in
        Conjunct(
          node: node,
          term: IndexableTerm(
            subject: term.subject, condition: condition, folding: term.folding, isExact: true))
      }
    }
    if others.isEmpty {
      if merged.isEmpty { return nil }
      if merged.count == 1 { return merged[0] }
    }
    return Conjunct(
      node: node, alternatives: merged.map { Conjunction(conjuncts: [$0], related: []) } + others)
  }
}

extension Conjunction {
  fileprivate var mayNarrow: Bool {
    !related.isEmpty || conjuncts.contains { $0.term != nil || !$0.alternatives.isEmpty }
  }
}

extension IndexableTerm {
  /// The values that the term matches, or `nil` if it is not exact or is not a set of single
  /// values.
  fileprivate var points: [PropertyValue]? {
    guard isExact else { return nil }
    switch condition {
    case .equals(let value): return [value]
    case .anyOf(let values): return values
    case .range, .prefix, .words: return nil
    }
  }

  /// Returns whether both terms refer to the same property with the same folding.
  fileprivate func isAbout(_ other: IndexableTerm) -> Bool {
    subject == other.subject && folding == other.folding
  }
}

extension BoundPredicate {
  /// Returns the predicate in conjunctive normal form, each member with the condition that an index
  /// can evaluate, if there is one. `NOT` is pushed down if that is equivalent, nested conjunctions
  /// are flattened, and comparisons that no record can satisfy are eliminated. An empty conjunction
  /// is satisfied by every object.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` if an argument is unsuitable for its comparison.
  package func conjunction(
    arguments: [PropertyValue], environment: PredicateEnvironment
  ) throws(ArborError) -> Conjunction {
    try shape.conjunction(arguments: arguments, environment: environment) ?? .never
  }
}

/// A member of a conjunction, with the condition that an index can evaluate, if there is one.
package struct Conjunct: Sendable {
  package let node: BoundNode
  package internal(set) var term: IndexableTerm?
  /// The disjuncts if each may have an access path of its own, otherwise empty.
  package internal(set) var alternatives: [Conjunction] = []
}

/// A predicate in conjunctive normal form, with its arguments.
package struct Conjunction: Sendable {
  package let conjuncts: [Conjunct]
  package let related: [RelatedCondition]

  package init(conjuncts: [Conjunct], related: [RelatedCondition] = []) {
    self.conjuncts = conjuncts
    self.related = related
  }

  static let never = Conjunction(conjuncts: [Conjunct(node: .constant(false))])
}
