/// A comparison of an attribute of a collection's members with a value that is the same for all of
/// them, such as `$m.sent > SELF.lastRead`. An index over the members' owner and the attribute finds
/// the members that satisfy it, so that the others need not be visited.
struct CorrelatedRange {
  fileprivate let owner: HopChain
  fileprivate let relationship: RelationshipSchema
  fileprivate let attribute: AttributeSchema
  fileprivate let comparison: ComparisonOperator
  /// Reads the value from the frames of the enclosing scopes.
  fileprivate let bound: ValueReader
  /// Whether the members that satisfy the comparison are those that satisfy the whole condition.
  let isWhole: Bool

  /// Returns the members that satisfy the comparison, in any order, or `nil` if all members have to
  /// be visited.
  ///
  /// - Parameter most: The number of members after which the search may end, if the comparison
  ///   ``isWhole``.
  func members(
    _ record: RecordView, _ number: ObjectNumber, _ resolver: (any RecordResolver)?, upTo most: Int
  ) -> [ObjectNumber]? {
    guard let resolver else { return nil }
    guard let owner = owner.target(record, number, resolver) else { return [] }
    let value = bound(record, number, resolver)
    guard !value.isNull,
      let range = IndexRange(comparison, value, kind: attribute.field.kind)
    else { return nil }
    return resolver.members(
      of: owner, relationship,
      where: IndexableTerm(
        subject: .attribute(slot: attribute.slot), condition: range.condition, isExact: true),
      upTo: isWhole ? most : .max)
  }
}

extension PredicateCompilation {
  /// Returns a comparison that a condition on the members of a collection implies and that an index
  /// could answer, or `nil` if there is no such comparison.
  func correlatedRange(
    _ base: BoundExpression, _ entity: EntitySchema, _ node: BoundNode
  ) throws(ArborError) -> CorrelatedRange? {
    guard case .collection(let collection) = base,
      !schema.inverse(of: collection.relationship).isToMany,
      let first = schema.family(of: entity).first
    else { return nil }
    let conjuncts = if case .and(let nodes) = node { nodes } else { [node] }
    for conjunct in conjuncts {
      guard case .comparison(let comparison) = conjunct, comparison.options.isEmpty,
        let (attribute, order, bound) = comparison.attributeAndBound
      else { continue }
      // The frame is only read by deeper scopes, of which the bound has none.
      let inner = within(EvaluationFrame(family: schema.family(of: entity)), first)
      return CorrelatedRange(
        owner: chain(collection.scope, collection.hops), relationship: collection.relationship,
        attribute: attribute, comparison: order, bound: try inner.reader(bound),
        isWhole: conjuncts.count == 1)
    }
    return nil
  }
}

extension BoundComparison {
  /// The attribute of the candidate that is compared, the operator, and the value from elsewhere
  /// with which it is compared. `nil` for other comparisons.
  fileprivate var attributeAndBound: (AttributeSchema, ComparisonOperator, BoundExpression)? {
    let isSwapped = left.isOfOuterScope
    guard let attribute = (isSwapped ? right : left).ownAttribute,
      isSwapped || right.isOfOuterScope
    else { return nil }
    let order: ComparisonOperator
    switch comparison {
    case .equal: order = .equal
    case .less: order = isSwapped ? .greater : .less
    case .lessOrEqual: order = isSwapped ? .greaterOrEqual : .lessOrEqual
    case .greater: order = isSwapped ? .less : .greater
    case .greaterOrEqual: order = isSwapped ? .lessOrEqual : .greaterOrEqual
    default: return nil
    }
    return (attribute, order, isSwapped ? left : right)
  }
}

extension BoundExpression {
  /// The attribute of the candidate that the expression reads, if its keys have a fixed width, so
  /// that they are never truncated.
  fileprivate var ownAttribute: AttributeSchema? {
    guard case .path(let path) = self, path.scope == 0, path.hops.isEmpty,
      case .attribute(let attribute) = path.leaf, attribute.field.kind.form.keyWidth != nil
    else { return nil }
    return attribute
  }

  /// Whether the expression reads a value of an enclosing scope's candidate.
  fileprivate var isOfOuterScope: Bool {
    if case .path(let path) = self { path.scope > 0 } else { false }
  }
}
