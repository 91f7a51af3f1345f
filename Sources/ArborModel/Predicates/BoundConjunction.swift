/// A conjunction in normal form, prepared for planning before its arguments are known.
package struct BoundConjunction: Sendable {
  let members: [BoundMember]
  /// What the members say about objects at the other end of relationships.
  let related: [RelatedCondition]

  init(_ root: BoundNode) { self.init(members: PredicateNormalizer.conjunction(of: root)) }

  /// Prepares the members of a conjunction that are in normal form.
  fileprivate init(members nodes: [BoundNode]) {
    members = nodes.map(BoundMember.init)
    related = RelatedCondition.gather(nodes)
  }

  /// Whether there are constants with which an index can narrow the conjunction.
  fileprivate var mayNarrow: Bool {
    !related.isEmpty || members.contains { $0.pattern != nil || !$0.alternatives.isEmpty }
  }

  /// The conjunction with its arguments; nil where no record fulfils it.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` where an argument does not fit its comparison.
  package func conjunction(
    arguments: [PropertyValue], environment: PredicateEnvironment
  ) throws(ArborError) -> Conjunction? {
    try conjunction(
      arguments: arguments, haveNaN: arguments.contains(where: \.containsNaN),
      environment: environment)
  }

  /// - Parameter haveNaN: Whether an argument contains NaN. All alternatives share the arguments, so
  ///   the caller looks at them once.
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

/// One member of a predicate's conjunction, with what is known of it before its arguments are.
struct BoundMember: Sendable {
  let node: BoundNode
  /// The comparison of a property with a constant that the member is, if it is one.
  let pattern: IndexablePattern?
  /// What the member is a disjunction of, where each may open a way to its rows; else empty.
  let alternatives: [BoundConjunction]
  /// Whether arguments decide if its operators fit their sides.
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

  /// The member with its arguments; nil where no record fulfils it.
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

  /// Alternatives that ask one property for single values are one question for several.
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
        // One alternative that has to be scanned makes the others' ways worthless.
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
  /// The values that the term asks for, where it asks for values and nothing else.
  fileprivate var points: [PropertyValue]? {
    guard isExact else { return nil }
    switch condition {
    case .equals(let value): return [value]
    case .anyOf(let values): return values
    case .range, .prefix, .words: return nil
    }
  }

  /// Whether both terms ask the same of the same property.
  fileprivate func isAbout(_ other: IndexableTerm) -> Bool {
    subject == other.subject && folding == other.folding
  }
}

extension BoundPredicate {
  /// Returns the predicate as a conjunction, each member with the condition that an index can serve:
  /// `NOT` is moved inwards where that is sound, nested conjunctions are flattened, and comparisons
  /// that no record can match are decided. An empty conjunction is true of every object.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` if an argument does not fit its comparison.
  package func conjunction(
    arguments: [PropertyValue], environment: PredicateEnvironment
  ) throws(ArborError) -> Conjunction {
    try shape.conjunction(arguments: arguments, environment: environment) ?? .never
  }
}

/// One of the predicates that together are a predicate, with what an index can do for it.
package struct Conjunct: Sendable {
  package let node: BoundNode
  package internal(set) var term: IndexableTerm?
  /// The conjunctions that the conjunct is a disjunction of, where each may open a way to its rows;
  /// else empty.
  package internal(set) var alternatives: [Conjunction] = []
}

/// A predicate in normal form, with its arguments: everything of it has to hold.
package struct Conjunction: Sendable {
  package let conjuncts: [Conjunct]
  package let related: [RelatedCondition]

  package init(conjuncts: [Conjunct], related: [RelatedCondition] = []) {
    self.conjuncts = conjuncts
    self.related = related
  }

  static let never = Conjunction(conjuncts: [Conjunct(node: .constant(false))])
}
