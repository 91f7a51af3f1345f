/// A fetch as the naive graph answers it.
struct PlainRequest {
  struct SortKey {
    var path: [PlainStep]
    var isAscending: Bool
    var foldsCase = false
    var foldsDiacritics = false

    var text: String { path.map(\.text).joined(separator: ".") }
  }

  var entity: Int
  var includesSubentities = true
  var predicate: PlainPredicate?
  var sortKeys: [SortKey] = []
  var limit = 0
  var offset = 0
  /// Whether uncommitted changes count.
  var includesPendingChanges = true

  /// The keys of the objects that fulfil the predicate, in the order asked for, all of them.
  func matches(in graph: PlainGraph) -> [Int] {
    var keys = graph.keys(of: entity, includingSubentities: includesSubentities)
    if let predicate {
      keys = keys.filter { PlainEvaluator(graph, candidate: $0).holds(predicate) }
    }
    guard !sortKeys.isEmpty else { return keys }
    let rows = keys.map { key in
      (key: key, values: sortKeys.map { Self.value($0, of: key, in: graph) })
    }
    return rows.sorted { left, right in
      for (place, key) in sortKeys.enumerated() {
        let order = left.values[place].compared(to: right.values[place], objects: graph.rank)
        if order != 0 { return (order < 0) == key.isAscending }
      }
      return graph.isBefore(left.key, right.key)
    }.map(\.key)
  }

  /// The part of all matches that the request gives.
  func window(_ keys: [Int]) -> [Int] {
    let rest = keys.dropFirst(offset)
    return Array(limit > 0 ? rest.prefix(limit) : rest)
  }

  private static func value(_ key: SortKey, of object: Int, in graph: PlainGraph) -> PlainValue {
    let value = PlainEvaluator(graph, candidate: object).value(.path(key.path))
    guard case .text(let text) = value else { return value }
    return .text(PlainText.fold(text, case: key.foldsCase, diacritics: key.foldsDiacritics))
  }
}
