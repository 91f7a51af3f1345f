internal import ArborModel

/// Which share of rows fulfils a condition that no count is known of: the constants of System R
/// (P. Selinger et al., *Access Path Selection in a Relational Database Management System*, 1979).
enum Selectivity {
  private static let equality = 0.1
  private static let range = 1.0 / 3

  /// That of conditions which do not depend on each other.
  static func share(of nodes: [BoundNode]) -> Double { nodes.reduce(1) { $0 * share(of: $1) } }

  private static func share(of node: BoundNode) -> Double {
    guard case .comparison(let comparison) = node, comparison.comparison == .equal else {
      return range
    }
    return equality
  }

  static func share(of match: ColumnMatch) -> Double {
    switch match.condition {
    case .points(let values): min(1, Double(values.count) * equality)
    case .range, .prefix: range
    }
  }

  /// How many rows are left of some; at least one, unless there is certainly none.
  static func rows(_ rows: Int, _ share: Double) -> Int {
    rows == 0 || share == 0 ? 0 : max(1, Int((Double(rows) * share).rounded()))
  }
}
