import ArborData
import ArborModel
import Foundation

/// A comparison of the rows, groups, aggregates and pages of a probe with those of the naive graph.
struct RowExamination {
  let graph: PlainGraph
  let probe: Probe

  /// Returns a description of the first difference in the rows, or `nil` if there isn't one.
  func problem(_ rows: PlainRows, seed: UInt64) -> String? {
    var request: FetchRequest<ManagedObject>
    do {
      request = try probe.request(rows.request, in: graph.model, .literal, seed: seed)
      let texts = rows.columns.map { text($0, seed: seed) }
      request.propertiesToFetch = texts.enumerated().map { "\($1) AS c\($0)" }
      request.propertiesToGroupBy = (rows.groups ?? []).map {
        PropertyPath($0.map(\.name).joined(separator: "."))
      }
      if let having = rows.having {
        request.havingPredicate = try FetchPredicate(format: "c\(having.column) >= \(having.least)")
      }
      request.returnsDistinctResults = rows.isDistinct
      request.sortKeys = rows.order.map {
        SortKey("c\($0.column)", isAscending: $0.isAscending)
      }
      let expected = rows.rows(in: graph)
      let actual = try probe.context.fetchRows(request).map { row in
        rows.columns.indices.map { probe.plain(row["c\($0)"] ?? .string("missing")) }
      }
      if PlainValue.list(expected.map(PlainValue.list))
        .isNearly(.list(actual.map(PlainValue.list)))
      {
        return nil
      }
      return describe(request, "\(expected)", "\(actual)")
    } catch {
      return "\(rows): \(error)"
    }
  }

  private func describe(
    _ request: FetchRequest<ManagedObject>, _ expected: String, _ actual: String
  ) -> String {
    """
    rows of \(request.entity), subentities \(request.includesSubentities)
    predicate \(request.predicate.map { "\($0)" } ?? "none")
    columns \(request.propertiesToFetch), by \(request.propertiesToGroupBy)
    having \(request.havingPredicate.map { "\($0)" } ?? "none")
    distinct \(request.returnsDistinctResults), order \(request.sortKeys)
    limit \(request.fetchLimit), offset \(request.fetchOffset)
    expected \(expected)
    actual   \(actual)
    """
  }

  private func text(_ column: PlainRows.Column, seed: UInt64) -> String {
    switch column {
    case .term(let term):
      return PredicateRenderer.text(term, seed: seed, objectID: probe.id)
    case .figure(_, nil, _): return "@count"
    case .figure(let function, let path?, let isDistinct):
      let path = path.map(\.name).joined(separator: ".")
      return "\(function.rawValue)(" + (isDistinct ? "distinct(\(path)))" : "\(path))")
    }
  }

  // MARK: Other queries for the same objects

  /// Returns a description of the first difference in pages, aggregates, the last object or
  /// emptiness.
  func problem(_ question: Examination.Question) -> String? {
    let request = question.request
    do {
      var fetch = try probe.request(request, in: graph.model, .literal, seed: question.seed)
      let window = request.window(question.matches)
      let query = probe.query(fetch)
      if try query.isEmpty() != window.isEmpty { return describe(fetch, "\(window)", "isEmpty") }
      let last = try query.last().map { probe.key($0.objectID) }
      if last != window.last { return describe(fetch, "\(window)", "last \(last ?? 0)") }
      if let problem = try figures(window, fetch) { return problem }
      fetch.fetchLimit = max(1, request.limit)
      var (found, token): ([Int], String?) = ([], nil)
      repeat {
        let page = try probe.context.fetchPage(fetch, after: token)
        found += page.objects.map { probe.key($0.objectID) }
        token = page.next
      } while token != nil && found.count <= question.matches.count
      let expected = Array(question.matches.dropFirst(request.offset))
      return found == expected ? nil : describe(fetch, "\(expected)", "pages \(found)")
    } catch {
      return "\(request): \(error)"
    }
  }

  /// Compares the minimum, the maximum, the count and the distinct count of every attribute.
  private func figures(
    _ keys: [Int], _ fetch: FetchRequest<ManagedObject>
  ) throws -> String? {
    guard let entity = graph.model.entities.firstIndex(where: { $0.name == fetch.entity }) else {
      return "no entity \(fetch.entity)"
    }
    for attribute in graph.model.attributes(entity) {
      let values = keys.map { graph.value(attribute.name, of: $0) }.filter { !$0.isNull }
      let expected = PlainValue.list([
        .integer(Int64(keys.count)), .integer(Int64(values.count)),
        .integer(Int64(PlainStatistics.distinct(values).count)),
        PlainStatistics.extreme(values, -1), PlainStatistics.extreme(values, 1),
      ])
      let name = attribute.name
      // On their own, the minimum and maximum may be read from the ends of an index.
      let actual =
        try probe.context.aggregate(fetch, [.count, .count(name), .countDistinct(name)])
        + probe.context.aggregate(fetch, [.minimum(name), .maximum(name)])
      if !expected.isNearly(.list(actual.map(probe.plain))) {
        return describe(fetch, "\(name) \(expected)", "\(actual)")
      }
    }
    return nil
  }
}
