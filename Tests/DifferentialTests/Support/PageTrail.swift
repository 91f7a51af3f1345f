import ArborData
import ArborModel

/// A first page, from whose token fetching continues later: with pending changes, after commits, in
/// other contexts, and after the store was reopened.
struct PageTrail {
  let request: PlainRequest
  let seed: UInt64
  private let token: String
  private let position: PlainRequest.Position

  /// Fetches the first page; returns `nil` if it is also the last.
  ///
  /// - Throws: ``World/Disagreement`` if the page differs from the graph's.
  init?(_ question: Examination.Question, _ probe: Probe, _ graph: PlainGraph) throws {
    request = question.request
    seed = question.seed
    let expected = Array(question.matches.dropFirst(request.offset).prefix(max(1, request.limit)))
    let page = try probe.context.fetchPage(Self.fetch(request, seed, probe, graph))
    let found = page.objects.map { probe.key($0.objectID) }
    guard found == expected else {
      throw World.Disagreement(description: "first page \(found), expected \(expected)")
    }
    guard let next = page.next, let last = expected.last else { return nil }
    token = next
    position = request.position(of: last, in: graph)
  }

  private static func fetch(
    _ request: PlainRequest, _ seed: UInt64, _ probe: Probe, _ graph: PlainGraph
  ) throws -> FetchRequest<ManagedObject> {
    var fetch = try probe.request(request, in: graph.model, .literal, seed: seed)
    fetch.fetchLimit = max(1, request.limit)
    return fetch
  }

  /// Returns a description of the first difference in the following pages, or `nil` if there isn't
  /// one.
  func problem(_ probe: Probe, _ graph: PlainGraph) -> String? {
    let expected = request.matches(in: graph, behind: position)
    var found: [Int] = []
    do {
      let fetch = try Self.fetch(request, seed, probe, graph)
      var next: String? = token
      while let token = next, found.count <= expected.count {
        let page = try probe.context.fetchPage(fetch, after: token)
        found += page.objects.map { probe.key($0.objectID) }
        next = page.next
      }
      if found == expected { return nil }
      return """
        pages behind an earlier one \(found), expected \(expected)
        behind \(position)
        entity \(fetch.entity), predicate \(fetch.predicate.map { "\($0)" } ?? "none")
        order \(fetch.sortKeys), pages of \(fetch.fetchLimit)
        """
    } catch {
      return "\(request): \(error)"
    }
  }
}
