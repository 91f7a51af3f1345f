internal import ArborModel

/// Describes a plan in words. Needs no store.
struct PlanExplainer {
  /// The figures of a fetch that has run.
  struct Counts {
    /// The number of rows that the fetch visited.
    let visited: Int
    /// The number of visited rows that the fetch accepted.
    let accepted: Int
    /// The number of rows that the fetch returned.
    let rows: Int
    /// The time for finding and reading the rows.
    let reading: Duration
    /// The time for evaluating conditions.
    let filtering: Duration
    /// The time for sorting.
    let sorting: Duration
  }

  private let scope: PlanScope
  private let words: PlanWords
  private let counts: Counts?
  /// The numbers of keys that were read, by the name of the index or relationship.
  private let keysRead: [String: Int]

  init(
    _ scope: PlanScope, showsValues: Bool, _ counts: Counts? = nil, keysRead: [String: Int] = [:]
  ) {
    self.scope = scope
    words = PlanWords(scope.query, showsValues: showsValues)
    self.counts = counts
    self.keysRead = keysRead
  }

  private var query: StoreQuery { scope.query }

  /// Returns the last step of a plan, with all earlier steps as its inputs.
  func root(_ plan: AccessPlan) -> QueryPlan.Step {
    var step = access(plan)
    if let counts {
      let readsRecords = counts.visited > 0 || !plan.isListed
      step = step.measured(
        counts.reading, keysRead: step.keysRead, recordsRead: readsRecords ? counts.visited : nil)
    }
    var isOrdered = query.sortKeys.isEmpty
    if case .ordered = plan.access { isOrdered = true }
    if !plan.residual.isEmpty {
      step = QueryPlan.Step(
        .filter, detail: words.all(plan.residual), actualRows: counts?.accepted,
        duration: counts?.filtering, inputs: [step])
    }
    if let group = query.groupLimit {
      step = QueryPlan.Step(
        .limit, detail: words.text(group), actualRows: counts?.accepted, inputs: [step])
    }
    if !isOrdered {
      let keys = query.sortKeys.map { words.text($0) }.joined(separator: ", ")
      step = QueryPlan.Step(
        .sort, detail: keys, actualRows: counts?.accepted, duration: counts?.sorting,
        inputs: [step])
    }
    if query.limit > 0 || query.offset > 0 {
      step = QueryPlan.Step(
        .limit, detail: PlanWords.limit(of: query), actualRows: counts?.rows, inputs: [step])
    }
    return step
  }

  private func access(_ plan: AccessPlan) -> QueryPlan.Step {
    switch plan.access {
    case .nothing: return QueryPlan.Step(.nothing, actualRows: 0)
    case .scan(let rows):
      return QueryPlan.Step(
        .scan, name: query.entity.name, estimatedRows: rows, actualRows: counts?.visited ?? rows)
    case .ordered(let ordered):
      let direction = ordered.isForward ? "in order" : "backward"
      let conditions = conditions(ordered.index.schema, ordered.matches)
      return QueryPlan.Step(
        .index, name: name(of: ordered.index.schema),
        detail: conditions.isEmpty ? direction : "\(conditions), \(direction)",
        estimatedRows: plan.residual.isEmpty ? query.rowsNeeded : nil, actualRows: counts?.visited,
        keysRead: keysRead[name(of: ordered.index.schema)])
    case .skipping(let scan):
      let name = name(of: scan.index.schema)
      let conditions = conditions(scan.index.schema, scan.matches)
      let groups = scan.groups.map { ", \($0) \($0 == 1 ? "group" : "groups")" } ?? ""
      return QueryPlan.Step(
        .index, name: name,
        detail: (conditions.isEmpty ? "" : conditions + ", ") + "skip scan" + groups,
        actualRows: counts?.visited, keysRead: keysRead[name])
    case .numbers(let list): return step(list)
    }
  }

  /// Returns the step for a scan that ends at its first row.
  func step(end: OrderedAccess) -> QueryPlan.Step {
    let conditions = conditions(end.index.schema, end.matches)
    let end = (name: name(of: end.index.schema), key: end.isForward ? "first key" : "last key")
    return QueryPlan.Step(
      .index, name: end.name,
      detail: conditions.isEmpty ? end.key : "\(conditions), \(end.key)", estimatedRows: 1)
  }

  /// Returns the step for reading keys instead of records.
  func step(_ covering: CoveringIndex) -> QueryPlan.Step {
    let conditions = conditions(covering.index.schema, covering.matches)
    return QueryPlan.Step(
      .index, name: name(of: covering.index.schema),
      detail: conditions.isEmpty ? "keys only" : "\(conditions), keys only")
  }

  private func step(_ list: CandidateNumbers) -> QueryPlan.Step {
    switch list.source {
    case .accessPath(let candidate): step(candidate, list.count)
    case .union(let lists): step(.union, list.count, inputs: lists.map(step))
    case .intersection(let lists): step(.intersection, list.count, inputs: lists.map(step))
    case .unrelated(let related): QueryPlan.Step(.nothing, actualRows: 0, inputs: [step(related)])
    case .owners(let related):
      step(
        .relationship, list.count,
        name: name(of: scope.schema.inverse(of: related.condition.relationship)),
        detail: "of \(Self.objects(related.count))", inputs: [step(related)])
    }
  }

  private func step(_ candidate: AccessCandidate, _ count: RowCount) -> QueryPlan.Step {
    let inputs = candidate.related.map { step($0) }
    switch candidate.accessPath {
    case .objects:
      return QueryPlan.Step(
        .objects, name: query.entity.name, estimatedRows: count.rows, actualRows: counts?.visited)
    case .index(let index, _, let matches):
      return step(
        .index, count, name: name(of: index.schema), detail: conditions(index.schema, matches),
        inputs: inputs)
    case .words(let index, _, let tokens):
      let column = query.entity.name(of: index.schema.columns[0].source)
      return step(
        .index, count, name: name(of: index.schema), detail: "\(column) has \(words.text(tokens))")
    case .members(let relationship, let owners), .inverse(let relationship, let owners):
      let objects = candidate.related.first?.count ?? .exact(owners.count)
      return step(
        .relationship, count, name: name(of: relationship),
        detail: "of \(Self.objects(objects))", inputs: inputs)
    }
  }

  /// Returns a step whose rows have been counted or estimated.
  private func step(
    _ kind: QueryPlan.Kind, _ count: RowCount, name: String? = nil, detail: String = "",
    inputs: [QueryPlan.Step] = []
  ) -> QueryPlan.Step {
    QueryPlan.Step(
      kind, name: name, detail: detail, estimatedRows: count.rows,
      actualRows: count.isExact ? count.rows : nil, keysRead: name.flatMap { keysRead[$0] },
      inputs: inputs)
  }

  private static func objects(_ count: RowCount) -> String {
    (count.isExact ? "" : "about ") + "\(count.rows) \(count.rows == 1 ? "object" : "objects")"
  }

  private func name(of relationship: RelationshipSchema) -> String {
    scope.schema.planName(of: relationship)
  }

  /// Returns the step that finds the related objects of another entity.
  private func step(_ related: RelatedRows) -> QueryPlan.Step {
    let explainer = PlanExplainer(
      related.scope, showsValues: words.showsValues, keysRead: keysRead)
    let step = explainer.access(related.plan)
    guard !related.plan.residual.isEmpty else { return step }
    return self.step(
      .filter, related.count, detail: explainer.words.all(related.plan.residual), inputs: [step])
  }

  private func name(of index: IndexSchema) -> String { scope.schema.planName(of: index) }

  /// Returns a condition in readable form, with objects as entity and number.
  private func condition(
    _ condition: ColumnMatch.Condition, on source: IndexSchema.Column.Source
  ) -> ColumnMatch.Condition {
    guard case .toOne = source, case .points(let values) = condition else { return condition }
    return .points(
      values.map { value in
        guard case .integer(let raw) = value else { return value }
        let number = ObjectNumber(rawValue: UInt64(bitPattern: raw))
        return .objectID(scope.objectID(number))
      })
  }

  /// Returns the conditions on the columns of an index in words.
  private func conditions(_ index: IndexSchema, _ matches: [ColumnMatch]) -> String {
    zip(index.columns, matches).map { column, match in
      let name = query.entity.name(of: column.source) + column.kind.options
      if let related = match.related {
        return "\(name) among \(Self.objects(related.count))"
      }
      return words.text(name, condition(match.condition, on: column.source))
    }.joined(separator: ", ")
  }
}

extension ModelSchema {
  /// Returns the name by which plans refer to an index.
  func planName(of index: IndexSchema) -> String {
    "\(entities[index.declaringEntity].name).\(index.name)"
  }

  /// Returns the name by which plans refer to a relationship.
  func planName(of relationship: RelationshipSchema) -> String {
    "\(entities[relationship.declaringEntity].name).\(relationship.name)"
  }
}

extension IndexSchema.Column.Kind {
  /// The comparison options that the column serves, in predicate syntax.
  fileprivate var options: String {
    guard case .folded(let folding) = self else { return "" }
    let letters = (folding.contains(.case) ? "c" : "") + (folding.contains(.diacritics) ? "d" : "")
    return letters.isEmpty ? "" : "[\(letters)]"
  }
}
