import ArborData
import ArborModel

/// Asks probes for what the naive graph knows.
struct Examination {
  let graph: PlainGraph
  let probes: [Probe]
  let seed: UInt64
  /// Asks every question of every object; else a few by lot.
  var isThorough = false

  /// What a probe answered and should have.
  struct Difference {
    let probe: String
    let question: String
    let expected: String
    let actual: String
    /// Whether the probe failed to answer.
    let isError: Bool
  }

  /// The first wrong answer.
  func difference(_ request: PlainRequest) -> Difference? {
    let dice = Dice(seed: seed)
    let all = request.matches(in: graph)
    let window = request.window(all)
    for probe in probes {
      let form = dice.one(PredicateRenderer.Form.allCases)
      var question = "request"
      do {
        let fetch = try probe.request(request, in: graph.model, form, seed: dice.next())
        question = "fetchIDs"
        let ids = try probe.context.fetchIDs(fetch).map(probe.key)
        if ids != window { return difference(probe, "fetchIDs, \(form)", window, ids) }
        if isThorough || dice.chance(30) {
          question = "count"
          let count = try probe.context.count(fetch)
          if count != window.count { return difference(probe, question, window.count, count) }
        }
        if isThorough || dice.chance(20) {
          question = "fetch"
          let keys = try probe.context.fetch(fetch).map { probe.key($0.objectID) }
          if keys != window { return difference(probe, question, window, keys) }
        }
        question = "matches"
        if let predicate = fetch.predicate,
          let key = try firstMistaken(request, predicate, Set(all), probe, dice)
        {
          return difference(probe, "matches #\(key)", all.contains(key), !all.contains(key))
        }
      } catch {
        return difference(probe, question, "no error", error)
      }
    }
    return nil
  }

  private func difference(
    _ probe: Probe, _ question: String, _ expected: Any, _ actual: Any
  ) -> Difference {
    Difference(
      probe: probe.name, question: question, expected: "\(expected)", actual: "\(actual)",
      isError: actual is any Error)
  }

  /// An object of which the predicate says in memory what the graph does not.
  private func firstMistaken(
    _ request: PlainRequest, _ predicate: FetchPredicate, _ all: Set<Int>, _ probe: Probe,
    _ dice: Dice
  ) throws -> Int? {
    let keys = graph.keys(of: request.entity, includingSubentities: request.includesSubentities)
    let asked = isThorough || dice.chance(2) ? keys : dice.few(keys, upTo: 3)
    for key in asked {
      let object = try probe.context.object(with: probe.id(key))
      if try predicate.matches(object) != all.contains(key) { return key }
    }
    return nil
  }
}
