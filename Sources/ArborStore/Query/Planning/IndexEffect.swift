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
    var served: [BoundNode] = []
    var fixedCount = 0
    var columnsServed = 0
    for column in index.elements {
      let found = conditions(on: column)
      if found.isEmpty { break }
      if fixedCount == columnsServed, found.contains(where: \.condition.isOfOneValue) {
        fixedCount += 1
      }
      columnsServed += 1
      served += found.map(\.node)
      if !found.contains(where: \.condition.isOfValues) { break }
    }
    let givesOrder = query.groupLimit == nil && isOrdered(by: index.elements, fixed: fixedCount)
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

  /// Returns the conditions of the query that a column serves.
  private func conditions(
    on column: FetchIndexDescription.Element
  ) -> [(node: BoundNode, condition: IndexableTerm.Condition)] {
    planner.conjuncts.compactMap { conjunct in
      guard let term = conjunct.term, name(of: term.subject) == column.property else { return nil }
      let isServed =
        switch (term.condition, column.kind) {
        case (.words, .text): true
        case (.words, _), (_, .text): false
        case (_, .folded): !term.folding.isEmpty
        case (_, .binary), (_, .rTree): term.folding.isEmpty
        }
      return isServed ? (conjunct.node, term.condition) : nil
    }
  }

  private func name(of subject: IndexableTerm.Subject) -> String? {
    if case .toOne(let slot) = subject { return query.entity.relationships[slot].name }
    return query.entity.name(of: subject)
  }

  /// Returns whether columns have exactly the order of the sort keys, forward or backward. A
  /// further column would order objects that the sort keys leave in the order of their IDs.
  ///
  /// - Parameter fixedCount: The number of leading columns that have one value, so that their sort
  ///   keys don't matter.
  private func isOrdered(
    by columns: [FetchIndexDescription.Element], fixed fixedCount: Int
  ) -> Bool {
    let fixed = columns.prefix(fixedCount)
    let keys = query.sortKeys.filter { key in !fixed.contains { key.isOrdered(as: $0) } }
    let rest = columns.dropFirst(fixedCount)
    guard keys.count == rest.count, let key = keys.first, let column = rest.first else {
      return false
    }
    let isForward = key.isAscending == column.isAscending
    return zip(keys, rest).allSatisfy { key, column in
      key.isOrdered(as: column) && (key.isAscending == column.isAscending) == isForward
    }
  }
}

extension BoundSortKey {
  /// Returns whether the sort key has the same order as a column, or its reverse.
  fileprivate func isOrdered(as column: FetchIndexDescription.Element) -> Bool {
    (path?.hops.isEmpty ?? (self.column != nil)) && text == column.property && column.kind != .text
      && options.isDisjoint(with: [.localized, .numeric])
      && options.folding == (column.kind == .folded ? [.case, .diacritics] : .none)
  }
}

extension IndexableTerm.Condition {
  /// Whether the condition names single values, so that the next column can serve another one.
  fileprivate var isOfValues: Bool {
    switch self {
    case .equals, .anyOf: true
    case .range, .prefix, .words: false
    }
  }

  fileprivate var isOfOneValue: Bool { if case .equals = self { true } else { false } }
}
