import ArborData
import ArborModel
import ArborObjects

/// A comparison of the objects that a probe returns in batches, and the prefetched ones, with those
/// of the naive graph.
struct WayExamination {
  let graph: PlainGraph
  let probe: Probe
  let dice: Dice

  /// Returns a description of the first difference in a cursor or in prefetched objects, or `nil`
  /// if there isn't one.
  func problem(_ question: Examination.Question) -> String? {
    let request = question.request
    let expected = request.window(question.matches)
    do {
      var fetch = try probe.request(request, in: graph.model, .literal, seed: question.seed)
      fetch.fetchBatchSize = dice.int(0...4)
      let paths = (0..<dice.int(0...2)).compactMap { _ in path(from: request.entity) }
      fetch.relationshipKeyPathsForPrefetching = paths.map {
        PropertyPath($0.map(\.name).joined(separator: "."))
      }
      let found: String?
      switch dice.int(0...1) {
      case 0: found = try cursor(fetch, expected)
      default: found = try prefetched(fetch, expected, paths)
      }
      return found.map { describe(fetch, request, $0) }
    } catch {
      return "\(request): \(error)"
    }
  }

  private func describe(
    _ fetch: FetchRequest<ManagedObject>, _ request: PlainRequest, _ problem: String
  ) -> String {
    """
    \(problem)
    objects of \(fetch.entity), subentities \(fetch.includesSubentities)
    predicate \(fetch.predicate.map { "\($0)" } ?? "none")
    order \(fetch.sortKeys), limit \(fetch.fetchLimit), offset \(fetch.fetchOffset), \
    batches of \(fetch.fetchBatchSize), along \(fetch.relationshipKeyPathsForPrefetching)
    """
  }

  private func cursor(
    _ fetch: FetchRequest<ManagedObject>, _ expected: [Int]
  ) throws -> String? {
    // With lists of the rows that an index finds, or by scans alone.
    let most = dice.one([0, 3, 65_536])
    let cursor = try probe.context.cursor(for: fetch, listingAtMost: most)
    var found: [Int] = []
    while found.count <= expected.count, let object = try cursor.next() {
      found.append(probe.key(object.objectID))
    }
    return found == expected ? nil : "cursor \(found), expected \(expected)"
  }

  /// Returns a description of the difference if an object or its values are not the expected ones.
  private func problem(of object: ManagedObject, _ key: Int) throws -> String? {
    if probe.key(object.objectID) != key { return "#\(probe.key(object.objectID)) for #\(key)" }
    let entity = graph.objects[key]?.entity ?? 0
    let names = model.attributes(entity).map(\.name) + model.composites(entity).map(\.name)
    for name in dice.few(names, upTo: 2) {
      let expected = graph.value(name, of: key)
      let actual = try probe.plain(object.value(forKey: name))
      if !expected.isNearly(actual) {
        return "#\(key).\(name) \(actual), expected \(expected)"
      }
    }
    return nil
  }

  // MARK: Prefetching

  private var model: PlainModel { graph.model }

  private func path(from entity: Int) -> [PlainModel.Relationship]? {
    var path: [PlainModel.Relationship] = []
    var current = entity
    for _ in 0..<dice.int(1...3) {
      guard let next = dice.some(model.relationships(current)) else { break }
      path.append(next)
      current = next.destination
    }
    return path.isEmpty ? nil : path
  }

  private func prefetched(
    _ fetch: FetchRequest<ManagedObject>, _ expected: [Int],
    _ paths: [[PlainModel.Relationship]]
  ) throws -> String? {
    let objects = try probe.context.fetch(fetch)
    let keys = objects.map { probe.key($0.objectID) }
    if keys != expected { return "fetched \(keys), expected \(expected)" }
    for path in paths {
      for object in objects {
        if let problem = try problem(of: path[...], from: object) { return problem }
      }
    }
    return nil
  }

  private func problem(
    of path: ArraySlice<PlainModel.Relationship>, from object: ManagedObject
  ) throws -> String? {
    let key = probe.key(object.objectID)
    guard let relationship = path.first else { return try problem(of: object, key) }
    let targets =
      relationship.isToMany
      ? try object.objects(forKey: relationship.name).fetch()
      : try [object.object(forKey: relationship.name)].compactMap(\.self)
    let expected =
      relationship.isToMany
      ? graph.members(relationship.name, of: key)
      : [graph.target(relationship.name, of: key)].compactMap(\.self)
    var actual = targets.map { probe.key($0.objectID) }
    if !relationship.isOrdered { actual.sort { graph.isBefore($0, $1) } }
    if actual != expected {
      return "#\(key).\(relationship.name) \(actual), expected \(expected)"
    }
    for target in targets {
      if let problem = try problem(of: path.dropFirst(), from: target) { return problem }
    }
    return nil
  }
}
