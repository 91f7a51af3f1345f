/// A request for values of objects, or of groups of objects.
struct PlainRows {
  enum Column {
    case term(PlainTerm)
    /// An aggregate of the objects of a group; their number if there is no path.
    case figure(PlainFunction, path: [PlainStep]?, isDistinct: Bool)
  }

  /// The request that selects the objects. Its order and window apply to the rows.
  var request: PlainRequest
  var columns: [Column]
  /// The paths by which objects are grouped; `nil` if every object is a row.
  var groups: [[PlainStep]]?
  /// The column whose value must be at least a number in each group.
  var having: (column: Int, least: Int64)?
  var isDistinct = false
  /// The columns to sort by, as indexes.
  var order: [(column: Int, isAscending: Bool)] = []

  /// Returns the values of the rows.
  func rows(in graph: PlainGraph) -> [[PlainValue]] {
    var objects = request
    objects.sortKeys = []
    let keys = objects.matches(in: graph)
    var rows: [[PlainValue]] = []
    for group in grouped(keys, graph) {
      let row = columns.map { value($0, of: group, graph) }
      if let having, row[having.column].compared(to: .integer(having.least)) < 0 { continue }
      rows.append(row)
    }
    rows = sorted(rows, graph)
    if isDistinct {
      rows = PlainStatistics.distinct(rows.map(PlainValue.list)).map { row in
        if case .list(let values) = row { values } else { [] }
      }
    }
    let rest = rows.dropFirst(request.offset)
    return Array(request.limit > 0 ? rest.prefix(request.limit) : rest)
  }

  /// Returns the groups in the order of their values. Without paths to group by, all objects
  /// form one group, even if there are none.
  private func grouped(_ keys: [Int], _ graph: PlainGraph) -> [[Int]] {
    guard let groups else { return keys.map { [$0] } }
    if groups.isEmpty { return [keys] }
    var found: [(values: PlainValue, keys: [Int])] = []
    for key in keys {
      let evaluator = PlainEvaluator(graph, candidate: key)
      let values = PlainValue.list(groups.map { evaluator.value(.path($0)) })
      if let index = found.firstIndex(where: { $0.values.compared(to: values) == 0 }) {
        found[index].keys.append(key)
      } else {
        found.append((values, [key]))
      }
    }
    return found.sorted { $0.values.compared(to: $1.values, objects: graph.rank) < 0 }.map(\.keys)
  }

  private func value(_ column: Column, of group: [Int], _ graph: PlainGraph) -> PlainValue {
    switch column {
    case .term(let term):
      return group.first.map { PlainEvaluator(graph, candidate: $0).value(term) } ?? .null
    case .figure(let function, let path, let isDistinct):
      guard let path else { return .integer(Int64(group.count)) }
      var values = group.map { PlainEvaluator(graph, candidate: $0).value(.path(path)) }
        .filter { !$0.isNull }
      if isDistinct { values = PlainStatistics.distinct(values) }
      return function.value([.list(values)])
    }
  }

  private func sorted(_ rows: [[PlainValue]], _ graph: PlainGraph) -> [[PlainValue]] {
    rows.enumerated().sorted { left, right in
      for (column, isAscending) in order {
        let order = left.element[column].compared(to: right.element[column], objects: graph.rank)
        if order != 0 { return (order < 0) == isAscending }
      }
      return left.offset < right.offset
    }.map(\.element)
  }
}

extension PlainValue {
  /// Returns whether two values are equal except for the rounding of sums.
  func isNearly(_ other: PlainValue) -> Bool {
    if case .list(let left) = self, case .list(let right) = other {
      return left.count == right.count && zip(left, right).allSatisfy { $0.isNearly($1) }
    }
    if case .composite(let left) = self, case .composite(let right) = other {
      return left.count == right.count
        && left.allSatisfy { name, part in right[name].map(part.isNearly) ?? false }
    }
    if compared(to: other) == 0 { return true }
    guard family == .number, other.family == .number, let left = PlainArithmetic.double(self),
      let right = PlainArithmetic.double(other)
    else { return false }
    if !left.isFinite || !right.isFinite { return left == right }
    return (left - right).magnitude <= 1e-9 * Swift.max(left.magnitude, right.magnitude)
  }
}
