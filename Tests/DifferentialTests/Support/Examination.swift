import ArborData
import ArborModel

/// A comparison of the answers of probes with those of the naive graph.
struct Examination {
  /// A request, with a seed for the random choices in asking it.
  struct Question {
    var request: PlainRequest
    let seed: UInt64
    /// The keys of all objects that match the predicate, in the request's order.
    var matches: [Int]
  }

  /// The difference between a probe's answer and the expected one.
  struct Difference {
    let probe: String
    let question: String
    let expected: String
    let actual: String
    /// Whether the probe threw an error.
    let isError: Bool
  }

  let graph: PlainGraph
  /// The contents of the stores while ``graph`` has pending changes.
  let committed: PlainGraph
  let probes: [Probe]
  /// Whether to ask every question about every object instead of a random selection.
  var isThorough = false

  /// Returns a question with the expected answer to a request.
  func question(_ request: PlainRequest, seed: UInt64) -> Question {
    let asked = request.includesPendingChanges ? graph : committed
    return Question(request: request, seed: seed, matches: request.matches(in: asked))
  }

  /// Returns the first wrong answer.
  func difference(_ question: Question) -> Difference? {
    let dice = Dice(seed: question.seed)
    for (index, probe) in probes.enumerated() {
      // The first probe does most of the work; the others are asked every second time.
      if index > 0, !isThorough, dice.chance(50) { continue }
      let asking = Asking(graph: graph, probe: probe, dice: dice, isThorough: isThorough)
      if let difference = asking.difference(question) { return difference }
    }
    return nil
  }
}

/// The questions about one request to one probe.
private struct Asking {
  let graph: PlainGraph
  let probe: Probe
  let dice: Dice
  let isThorough: Bool

  /// Returns whether to ask an optional question: always in thorough mode, otherwise at random.
  private func isDue(_ percent: Int) -> Bool { isThorough || dice.chance(percent) }

  func difference(_ question: Examination.Question) -> Examination.Difference? {
    let (request, all) = (question.request, question.matches)
    let window = request.window(all)
    let form = dice.one(PredicateRenderer.Form.allCases)
    var asked = "request"
    do {
      let fetch = try probe.request(request, in: graph.model, form, seed: dice.next())
      asked = "fetchIDs"
      let ids = try probe.context.fetchIDs(fetch).map(probe.key)
      if ids != window { return difference("fetchIDs, \(form)", window, ids) }
      if isDue(30) {
        asked = "count"
        let count = try probe.context.count(fetch)
        if count != window.count { return difference(asked, window.count, count) }
      }
      // Only answers that include pending changes can be checked further.
      guard request.includesPendingChanges else { return nil }
      if isDue(20) {
        asked = "fetch"
        let keys = try probe.context.fetch(fetch).map { probe.key($0.objectID) }
        if keys != window { return difference(asked, window, keys) }
      }
      if isDue(10) {
        asked = "fetchOne"
        let first = try probe.context.fetchOne(fetch).map { [probe.key($0.objectID)] } ?? []
        let expected = Array(all.dropFirst(request.offset).prefix(1))
        if first != expected { return difference(asked, expected, first) }
      }
      guard let predicate = fetch.predicate, request.group == nil else { return nil }
      asked = "text"
      if isDue(5), try FetchPredicate(format: predicate.description) != predicate {
        return difference("text", predicate, "another predicate")
      }
      asked = "matches"
      if let key = try firstMistaken(request, predicate, Set(all)) {
        return difference("matches #\(key)", all.contains(key), !all.contains(key))
      }
      return nil
    } catch {
      return difference(asked, "no error", error)
    }
  }

  private func difference(
    _ question: String, _ expected: Any, _ actual: Any
  ) -> Examination.Difference {
    Examination.Difference(
      probe: probe.name, question: question, expected: "\(expected)", actual: "\(actual)",
      isError: actual is any Error)
  }

  /// Returns an object for which the predicate's result in memory differs from the graph's.
  private func firstMistaken(
    _ request: PlainRequest, _ predicate: FetchPredicate, _ all: Set<Int>
  ) throws -> Int? {
    let keys = graph.keys(of: request.entity, includingSubentities: request.includesSubentities)
    for key in isDue(2) ? keys : dice.few(keys, upTo: 3) {
      let object = try probe.context.object(with: probe.id(key))
      if try predicate.matches(object) != all.contains(key) { return key }
    }
    return nil
  }
}
