internal import ArborModel

/// The rows of each group that determine a query's result. A query that states them lets its plan
/// skip all other rows.
package struct GroupNeeds: Sendable {
  enum Rows {
    /// Any row, because only the groups themselves matter.
    case any
    /// The first rows in an order.
    case first(Int, by: [IndexSchema.Column])
    /// The rows with the least or the greatest value of an attribute.
    case extremes(AttributeSchema, least: Bool, greatest: Bool)
  }

  /// The properties whose values form the groups.
  let keys: [IndexSchema.Column.Source]
  let rows: Rows

  /// The needs of a limit per group, or `nil` if no index can serve them.
  init?(_ limit: BoundGroupLimit) {
    let order = limit.sortKeys.compactMap(\.column)
    guard let key = limit.key.column, key.kind == .plain, order.count == limit.sortKeys.count else {
      return nil
    }
    keys = [key.source]
    rows = .first(limit.count, by: order)
  }

  /// The needs of rows of groups, or `nil` if no index can serve them: a group's row is made of its
  /// keys, and of minima and maxima of one attribute.
  init?(_ grouping: RowPlan.Grouping) {
    guard let groups = GroupNeeds(groupsOf: grouping) else { return nil }
    var attribute: AttributeSchema?
    var (least, greatest) = (false, false)
    for aggregate in grouping.aggregates {
      guard case .path(let path)? = aggregate.expression, path.scope == 0, path.hops.isEmpty,
        case .attribute(let read) = path.leaf, attribute?.slot ?? read.slot == read.slot
      else { return nil }
      attribute = read
      switch aggregate.function {
      case .minimum: least = true
      case .maximum: greatest = true
      default: return nil
      }
    }
    keys = groups.keys
    rows = attribute.map { .extremes($0, least: least, greatest: greatest) } ?? .any
  }

  /// The needs of the groups themselves, or `nil` if no index can serve them.
  init?(groupsOf grouping: RowPlan.Grouping) {
    var keys: [IndexSchema.Column.Source] = []
    for key in grouping.keys {
      guard let source = key.columnSource else { return nil }
      keys.append(source)
    }
    guard !keys.isEmpty else { return nil }
    self.keys = keys
    rows = .any
  }
}

extension BoundExpression {
  /// The property of the object itself that the expression reads unchanged, or `nil` for any other
  /// expression.
  var columnSource: IndexSchema.Column.Source? {
    guard case .path(let path) = self, path.scope == 0, path.hops.isEmpty else { return nil }
    switch path.leaf {
    case .attribute(let attribute): return .attribute(attribute.slot)
    case .toOne(let relationship): return .toOne(relationship.slot)
    default: return nil
    }
  }
}

/// A scan along an index that reads only some rows of each group, and skips the others by a search
/// for the next group: a *skip scan*, or *loose index scan*. It is abandoned once it has visited
/// more rows than there would have to be for it to be worthwhile; the number of groups is not known
/// beforehand.
final class SkipScan {
  /// An end of a group: its rows with the least or with the greatest keys.
  struct End {
    /// Whether it is the end with the least keys.
    let isFirst: Bool
    /// The number of rows to read.
    let count: Int
    /// The attribute that the rows must have a value of, or `nil` for any rows. Rows without a
    /// value may be read, too.
    let attribute: AttributeSchema?
  }

  /// The number of rows below which visiting all of them takes no longer.
  static let leastRows = 16
  /// The average number of rows of a group above which skipping is faster than visiting all rows.
  static let leastSize = 4

  let index: IndexReference
  /// The ranges in key order. A scan of the whole index has a single open range.
  let ranges: [ScanRange]
  /// The number of leading columns that all rows of a group share. An end's attribute is the column
  /// after them.
  let groupColumns: Int
  let ends: [End]
  /// The number of groups if conditions list them, otherwise `nil`.
  let namedGroups: Int?
  /// The maximum number of rows to visit.
  let budget: Int
  /// The conjuncts that hold for all rows of the scan.
  let covered: Set<Int>
  /// The conditions on the leading columns, for the explanation.
  let matches: [ColumnMatch]
  /// The number of groups that the last run found, or `nil` before the first one.
  private(set) var groups: Int?

  init(
    index: IndexReference, ranges: [ScanRange], groupColumns: Int, ends: [End],
    namedGroups: Int? = nil, budget: Int = .max, covered: Set<Int>, matches: [ColumnMatch]
  ) {
    self.index = index
    self.ranges = ranges
    self.groupColumns = groupColumns
    self.ends = ends
    self.namedGroups = namedGroups
    self.budget = budget
    self.covered = covered
    self.matches = matches
  }

  func limited(to budget: Int) -> SkipScan {
    SkipScan(
      index: index, ranges: ranges, groupColumns: groupColumns, ends: ends,
      namedGroups: namedGroups, budget: budget, covered: covered, matches: matches)
  }

  func note(groups: Int) { self.groups = groups }
}

extension QueryPlanner {
  /// Returns a scan that reads only the rows of each group that the query needs, or `nil` if no
  /// index qualifies. The groups' columns may follow columns that equalities fix.
  func skipScan(_ candidates: AccessCandidates) throws -> SkipScan? {
    guard let needs = query.groupNeeds else { return nil }
    for index in candidates.shortestIndexes {
      if let scan = skipScan(index, needs, candidates), try isWorthScanning(index) { return scan }
    }
    return nil
  }

  func skipScan(
    _ reference: IndexReference, _ needs: GroupNeeds, _ candidates: AccessCandidates
  ) -> SkipScan? {
    let index = reference.schema
    guard !index.hasManyKeys else { return nil }
    let leading = candidates.leadingMatches(of: index)
    let fixed = min(leading.fixedCount, index.columns.count - needs.keys.count)
    guard fixed >= 0,
      let start = (0...fixed).first(where: { index.hasGroups(needs.keys, from: $0) })
    else { return nil }
    let groupColumns = start + needs.keys.count
    guard let ends = needs.ends(in: index.columns.dropFirst(groupColumns)) else { return nil }
    let matches = Array(leading.prefix(groupColumns))
    guard let part = part(of: reference, narrowedBy: matches, candidates) else { return nil }
    let isNamed = matches.count == groupColumns && ScanRanges.arePoints(matches)
    return SkipScan(
      index: reference, ranges: part.ranges, groupColumns: groupColumns, ends: ends,
      namedGroups: isNamed ? part.ranges.count : nil, covered: part.covered, matches: matches)
  }
}

extension IndexSchema {
  /// Returns whether columns from a position on are those of the given properties, in any order.
  fileprivate func hasGroups(_ keys: [Column.Source], from start: Int) -> Bool {
    let columns = columns[start...].prefix(keys.count)
    return columns.allSatisfy { $0.kind == .plain && keys.contains($0.source) }
      && Set(columns.map(\.source)) == Set(keys)
  }
}

extension GroupNeeds {
  /// Returns the ends of groups whose rows are needed, or `nil` if the columns that follow those of
  /// the groups don't have the required order.
  fileprivate func ends(in columns: ArraySlice<IndexSchema.Column>) -> [SkipScan.End]? {
    switch rows {
    case .any: return [SkipScan.End(isFirst: true, count: 1, attribute: nil)]
    case .first(let count, let order):
      guard columns.count == order.count else { return nil }
      let isFirst = columns.first?.isAscending == order.first?.isAscending
      for (column, key) in zip(columns, order) {
        guard column.source == key.source, column.kind == key.kind,
          (column.isAscending == key.isAscending) == isFirst
        else { return nil }
      }
      return [SkipScan.End(isFirst: isFirst, count: count, attribute: nil)]
    case .extremes(let attribute, let least, let greatest):
      guard let column = columns.first, column.source == .attribute(attribute.slot),
        column.kind == .plain
      else { return nil }
      // The end with the least keys comes first, because a scan arrives there.
      return [(least, column.isAscending), (greatest, !column.isAscending)].filter(\.0)
        .map { SkipScan.End(isFirst: $0.1, count: 1, attribute: attribute) }
        .sorted { $0.isFirst && !$1.isFirst }
    }
  }
}
