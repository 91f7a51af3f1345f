internal import ArborModel

/// The effect that an index would have on a query if the store had it.
package struct IndexEffect: Sendable, Hashable {
  /// The conditions of the query that the index would serve, in predicate syntax. Empty if it would
  /// only produce the order.
  package let conditions: String
  /// The number of objects that the query would read by means of the index.
  package let rows: Int
  /// Whether the index would produce the order of the query.
  package let givesOrder: Bool
}

extension QueryExecutor {
  /// Returns the effect of an index that doesn't exist, or `nil` if the query wouldn't use it.
  ///
  /// An index serves conditions on its first columns: equalities, then one range, or the words of a
  /// text. The objects that meet these conditions are counted by reading all of them.
  func effect(of index: FetchIndexDescription) throws -> IndexEffect? {
    var rest = index.elements[...]
    var served: [BoundNode] = []
    while let column = rest.first, let (node, isFixed) = condition(on: column) {
      rest = rest.dropFirst()
      served.append(node)
      if !isFixed { break }
    }
    let fixed = index.elements.prefix(served.count).map(\.property)
    let givesOrder = query.groupLimit == nil && isOrdered(by: rest, fixed: fixed)
    if served.isEmpty, !givesOrder { return nil }
    let all = StoreQuery(
      entity: query.entity, includesSubentities: query.includesSubentities,
      predicate: query.predicate)
    let counter = try QueryExecutor(source, all, overlay: nil)
      .run(AccessPlan(access: .scan(rows: 0), residual: served), into: RowCounter())
    let isComplete = served.count == planner.conjuncts.count
    let wanted = isComplete && givesOrder ? query.rowsNeeded : nil
    return IndexEffect(
      conditions: PlanWords(query).all(served), rows: min(counter.count, wanted ?? .max),
      givesOrder: givesOrder)
  }

  /// Returns the condition of the query that a column serves, and whether it fixes the column's
  /// value, so that the next column can serve another one.
  private func condition(
    on column: FetchIndexDescription.Element
  ) -> (node: BoundNode, isFixed: Bool)? {
    for conjunct in planner.conjuncts {
      guard let term = conjunct.term, name(of: term.subject) == column.property else { continue }
      switch (term.condition, column.kind) {
      case (.words, .text): return (conjunct.node, false)
      case (.words, _), (_, .text): continue
      case (_, .folded) where term.folding.isEmpty, (_, .binary) where !term.folding.isEmpty,
        (_, .rTree) where !term.folding.isEmpty:
        continue
      case (.equals, _), (.anyOf, _): return (conjunct.node, true)
      case (.range, _), (.prefix, _): return (conjunct.node, false)
      }
    }
    return nil
  }

  private func name(of subject: IndexableTerm.Subject) -> String? {
    switch subject {
    case .attribute(let slot): query.entity.attributes[slot].name
    case .toOne(let slot): query.entity.relationships[slot].name
    case .object: nil
    }
  }

  /// Returns whether columns have the order of the sort keys, forward or backward. Sort keys on
  /// columns with a fixed value don't matter.
  private func isOrdered(
    by columns: ArraySlice<FetchIndexDescription.Element>, fixed: [String]
  ) -> Bool {
    guard !query.sortKeys.isEmpty else { return false }
    let keys = query.sortKeys.filter { !fixed.contains($0.text) }
    guard keys.count <= columns.count else { return false }
    let isForward = keys.first?.isAscending == columns.first?.isAscending
    return zip(keys, columns).allSatisfy { key, column in
      key.path?.hops.isEmpty == true && key.text == column.property
        && key.options.isDisjoint(with: [.localized, .numeric])
        && key.options.folding.isEmpty == (column.kind != .folded)
        && (key.isAscending == column.isAscending) == isForward
    }
  }
}
