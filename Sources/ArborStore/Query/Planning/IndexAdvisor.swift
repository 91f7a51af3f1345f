internal import ArborModel

/// Recommends an index that would have served a query, based on its plan and without reading a row.
struct IndexAdvisor {
  /// The number of rows up to which an access path needs no better one.
  private static let fewRows = 64

  private let planner: QueryPlanner<StoredCounts>

  init(_ planner: QueryPlanner<StoredCounts>) { self.planner = planner }

  private var entity: EntitySchema { planner.scope.entity }
  private var query: StoreQuery { planner.query }

  /// Returns advice if a plan reads rows that an index would exclude. Returns `nil` if the plan
  /// reads few rows or such an index already exists.
  func advice(for plan: AccessPlan) throws -> IndexAdvice? {
    switch plan.access {
    case .nothing, .skipping: return nil
    case .ordered: if plan.residual.isEmpty { return nil }
    case .scan: break
    case .numbers(let list):
      if let advice = try advice(below: list) { return advice }
      if plan.residual.isEmpty || list.count.rows <= Self.fewRows { return nil }
    }
    if let advice = text() ?? columns() { return advice }
    return try related()
  }

  /// Returns advice for finding the related objects of a list.
  private func advice(below list: CandidateNumbers) throws -> IndexAdvice? {
    let related: [RelatedRows]
    switch list.source {
    case .accessPath(let candidate): related = candidate.related
    case .owners(let rows), .unrelated(let rows): related = [rows]
    case .union(let lists), .intersection(let lists):
      for list in lists {
        if let advice = try advice(below: list) { return advice }
      }
      return nil
    }
    for rows in related {
      let advisor = IndexAdvisor(try planner.planner(of: rows.condition))
      if let advice = try advisor.advice(for: rows.plan) { return advice }
    }
    return nil
  }

  /// Returns advice for a text index on the first attribute whose words the predicate searches.
  private func text() -> IndexAdvice? {
    for conjunct in planner.conjuncts {
      guard let term = conjunct.term, case .words = term.condition,
        case .attribute(let slot) = term.subject
      else { continue }
      return advice([.init(entity.attributes[slot].name, kind: .text)])
    }
    return nil
  }

  /// Returns advice for an index on the columns that equalities fix, followed by the sort keys or
  /// one range column.
  private func columns() -> IndexAdvice? {
    var fixed: [FetchIndexDescription.Element] = []
    var range: FetchIndexDescription.Element?
    for conjunct in planner.conjuncts {
      guard let term = conjunct.term, let name = name(of: term.subject),
        entity.property(named: name).map(Self.isSelective) ?? true
      else { continue }
      let column = FetchIndexDescription.Element(
        name, kind: term.folding.isEmpty ? .binary : .folded)
      switch term.condition {
      case .equals, .anyOf:
        if !fixed.contains(where: { $0.property == name }) { fixed.append(column) }
      case .range, .prefix:
        // A folded index is ordered by text without case and diacritics only.
        if term.folding.isEmpty || term.folding == [.case, .diacritics] { range = range ?? column }
      case .words: break
      }
    }
    let order =
      query.groupLimit != nil
      ? groups(behind: fixed) : query.limit > 0 ? self.order(query.sortKeys, behind: fixed) : []
    if !order.isEmpty { return advice(fixed + order) }
    if let range, !fixed.contains(where: { $0.property == range.property }) {
      return advice(fixed + [range])
    }
    return advice(fixed)
  }

  /// Returns the columns of the query's groups, followed by those of the order within a group. Empty
  /// if no index has them.
  private func groups(
    behind fixed: [FetchIndexDescription.Element]
  ) -> [FetchIndexDescription.Element] {
    guard let limit = query.groupLimit, let column = limit.key.column, column.kind == .plain else {
      return []
    }
    if case .attribute(let slot) = column.source,
      [.tagged, .json].contains(entity.attributes[slot].field.kind)
    {
      return []
    }
    let name = entity.name(of: column.source)
    let key = FetchIndexDescription.Element(name, isAscending: true, kind: .binary)
    let order = order(limit.sortKeys, behind: fixed + [key])
    return order.count == limit.sortKeys.count ? [key] + order : []
  }

  /// Returns the columns that produce the order of sort keys. Empty if no index can produce it.
  private func order(
    _ keys: [BoundSortKey], behind fixed: [FetchIndexDescription.Element]
  ) -> [FetchIndexDescription.Element] {
    var columns: [FetchIndexDescription.Element] = []
    for key in keys {
      guard let path = key.path, path.hops.isEmpty,
        !key.options.isCollated,
        case .attribute(let attribute) = path.leaf,
        ![.tagged, .json].contains(attribute.field.kind)
      else { return [] }
      guard !fixed.contains(where: { $0.property == attribute.name }) else { continue }
      let folding = key.options.folding
      guard folding.isEmpty || folding == [.case, .diacritics] else { return [] }
      columns.append(
        .init(
          attribute.name, isAscending: key.isAscending, kind: folding.isEmpty ? .binary : .folded))
    }
    return columns
  }

  /// Returns advice for the destination entity of a relationship that the predicate follows.
  private func related() throws -> IndexAdvice? {
    for condition in planner.scope.conjunction.related {
      let planner = try planner.planner(of: condition)
      if let advice = try IndexAdvisor(planner).advice(for: planner.estimatedPlan()) {
        return advice
      }
    }
    return nil
  }

  /// Returns whether a property is selective. A Boolean value excludes only about half of the
  /// objects.
  private static func isSelective(_ property: PropertySchema) -> Bool {
    guard case .attribute(let attribute) = property else { return true }
    return attribute.description.type != .boolean
  }

  private func name(of subject: IndexableTerm.Subject) -> String? { entity.name(of: subject) }

  private func advice(_ elements: [FetchIndexDescription.Element]) -> IndexAdvice? {
    guard !elements.isEmpty, !hasIndex(elements) else { return nil }
    let words = elements.map { $0.property.prefix(1).uppercased() + $0.property.dropFirst() }
    return IndexAdvice(
      entity: entity.name,
      index: FetchIndexDescription(name: "by" + words.joined(), elements: elements))
  }

  /// Returns whether an index already begins with these columns and contains every object of the
  /// query.
  private func hasIndex(_ elements: [FetchIndexDescription.Element]) -> Bool {
    let candidates = planner.candidates(planner.conjuncts)
    return entity.indexes.contains { index in
      candidates.implied(by: index) != nil && index.columns.count >= elements.count
        && zip(index.columns, elements).allSatisfy { column, element in
          entity.name(of: column.source) == element.property && column.kind.isKept(as: element.kind)
        }
    }
  }
}

extension EntitySchema {
  /// Returns the name by which an index column refers to the subject of a condition, or `nil` for
  /// objects and to-one relationships, which are served by the members of their inverse.
  func name(of subject: IndexableTerm.Subject) -> String? {
    switch subject {
    case .attribute(let slot): attributes[slot].name
    case .part(let slot, let keys), .elements(let slot, let keys):
      ([attributes[slot].name] + keys).joined(separator: ".")
    case .toOne, .object: nil
    }
  }
}

extension IndexSchema.Column.Kind {
  fileprivate func isKept(as kind: FetchIndexDescription.Element.Kind) -> Bool {
    switch (self, kind) {
    case (.plain, .binary), (.plain, .rTree), (.folded, .folded), (.tokens, .text),
      (.elements, .binary):
      true
    default: false
    }
  }
}
