/// A fetch request of the naive graph.
struct PlainRequest {
  struct SortKey {
    var path: [PlainStep]
    var isAscending: Bool
    var foldsCase = false
    var foldsDiacritics = false
    /// Whether to sort by the rules of the locale, and digits as numbers.
    var isLocalized = false
    var isNumeric = false
    /// A computed term that replaces the path.
    var term: PlainTerm?

    var text: String { term.map { "\($0)" } ?? path.map(\.text).joined(separator: ".") }
  }

  /// A limit on the number of objects with the same value of a key.
  struct GroupLimit {
    var count: Int
    var key: SortKey
    var sortKeys: [SortKey]
  }

  var entity: Int
  var includesSubentities = true
  var predicate: PlainPredicate?
  var sortKeys: [SortKey] = []
  var group: GroupLimit?
  var limit = 0
  var offset = 0
  /// Whether uncommitted changes are included.
  var includesPendingChanges = true

  /// Returns the keys of all objects that match the predicate, in the requested order.
  func matches(in graph: PlainGraph) -> [Int] {
    var keys = graph.keys(of: entity, includingSubentities: includesSubentities)
    if let predicate {
      keys = keys.filter { PlainEvaluator(graph, candidate: $0).holds(predicate) }
    }
    if let group { keys = group.kept(keys, graph) }
    return Self.sorted(keys, by: resultOrder, graph)
  }

  /// The requested order, or that of the groups.
  private var resultOrder: [SortKey] {
    guard sortKeys.isEmpty, let group else { return sortKeys }
    return [group.key] + group.sortKeys
  }

  fileprivate static func sorted(
    _ keys: [Int], by sortKeys: [SortKey], _ graph: PlainGraph
  ) -> [Int] {
    guard !sortKeys.isEmpty else { return keys }
    return keys.map { position(of: $0, by: sortKeys, graph) }
      .sorted { isBefore($0, $1, sortKeys, graph) }.map(\.key)
  }

  /// The position of an object in the order.
  struct Position {
    let key: Int
    let values: [PlainValue]
  }

  func position(of key: Int, in graph: PlainGraph) -> Position {
    Self.position(of: key, by: resultOrder, graph)
  }

  private static func position(of key: Int, by sortKeys: [SortKey], _ graph: PlainGraph) -> Position
  {
    Position(key: key, values: sortKeys.map { value($0, of: key, in: graph) })
  }

  /// Returns the matches that follow a position, at which the object need not exist any more.
  func matches(in graph: PlainGraph, behind position: Position) -> [Int] {
    matches(in: graph).filter {
      Self.isBefore(position, self.position(of: $0, in: graph), resultOrder, graph)
    }
  }

  private static func isBefore(
    _ left: Position, _ right: Position, _ sortKeys: [SortKey], _ graph: PlainGraph
  ) -> Bool {
    for (index, key) in sortKeys.enumerated() {
      let order = key.compare(left.values[index], right.values[index], graph)
      if order != 0 { return (order < 0) == key.isAscending }
    }
    return graph.isBefore(left.key, right.key)
  }

  /// Returns the part of all matches that offset and limit select.
  func window(_ keys: [Int]) -> [Int] {
    let rest = keys.dropFirst(offset)
    return Array(limit > 0 ? rest.prefix(limit) : rest)
  }

  fileprivate static func value(
    _ key: SortKey, of object: Int, in graph: PlainGraph
  ) -> PlainValue {
    let value = PlainEvaluator(graph, candidate: object).value(key.term ?? .path(key.path))
    guard case .text(let text) = value, !key.isCollated else { return value }
    return .text(PlainText.fold(text, case: key.foldsCase, diacritics: key.foldsDiacritics))
  }
}

extension PlainRequest.GroupLimit {
  /// Returns the first objects of each group.
  fileprivate func kept(_ keys: [Int], _ graph: PlainGraph) -> [Int] {
    var groups: [(value: PlainValue, keys: [Int])] = []
    for object in keys {
      let value = PlainRequest.value(key, of: object, in: graph)
      if let index = groups.firstIndex(where: { $0.value.compared(to: value) == 0 }) {
        groups[index].keys.append(object)
      } else {
        groups.append((value, [object]))
      }
    }
    let kept = groups.flatMap { group in
      PlainRequest.sorted(group.keys, by: sortKeys, graph).prefix(count)
    }
    return keys.filter(kept.contains)
  }
}

extension PlainRequest.SortKey {
  /// Whether strings are compared by collation rather than by code points.
  var isCollated: Bool { isLocalized || isNumeric }

  /// Returns -1, 0 or 1.
  fileprivate func compare(_ left: PlainValue, _ right: PlainValue, _ graph: PlainGraph) -> Int {
    guard isCollated, case .text(let left) = left, case .text(let right) = right else {
      return left.compared(to: right, objects: graph.rank)
    }
    let order = PlainText.collate(
      left, right, case: foldsCase, diacritics: foldsDiacritics, localized: isLocalized,
      numeric: isNumeric)
    guard order == 0 else { return order }
    let fold = { PlainText.fold($0, case: foldsCase, diacritics: foldsDiacritics) }
    return PlainText.compare(fold(left), fold(right))
  }
}
