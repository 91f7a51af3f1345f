import ArborData
import ArborModel
import Foundation
import TestSupport

/// A random model with random data in two stores, one with indexes and one without, and in a naive
/// graph.
final class World {
  let dice: Dice
  let model: PlainModel
  private var edits: EditGenerator
  /// The graph as of the last commit.
  private var committed: PlainGraph
  private let folder: TemporaryFolder
  private var stores: [Side] = []
  /// Page tokens, with the index of their store.
  private var trails: [(side: Int, trail: PageTrail)] = []
  private(set) var cases = 0

  /// A store and the IDs that it assigned.
  private struct Side {
    var store: PersistentStore
    let ids: ObjectIDs
    let name: String
  }

  /// A disagreement, with all details needed to reproduce it.
  struct Disagreement: Error, CustomStringConvertible {
    let description: String
  }

  init(seed: UInt64) throws {
    dice = Dice(seed: seed)
    model = ModelGenerator.make(dice)
    edits = EditGenerator(dice: dice, model: model)
    committed = edits.graph
    folder = try TemporaryFolder()
    stores = [
      Side(store: try open(withIndexes: true), ids: ObjectIDs(), name: "indexed"),
      Side(store: try open(withIndexes: false), ids: ObjectIDs(), name: "plain"),
    ]
  }

  private func open(withIndexes: Bool) throws -> PersistentStore {
    var options = StoreOptions()
    options.durability = .relaxed
    return try PersistentStore(
      model: try model.described(withIndexes: withIndexes),
      at: withIndexes ? .file(folder.url.appending(path: "world.arbor")) : .inMemory,
      options: options)
  }

  /// Evaluates random requests on committed data, with pending changes, and after their commit or
  /// rollback.
  ///
  /// - Parameters:
  ///   - isDistorted: Whether to make the graph wrong, which must be detected.
  ///   - asksForObjects: Whether to request objects first, or only rows.
  /// - Throws: ``Disagreement`` at the first one, or an error if a store is not sound in the end.
  func run(
    rounds: Int, requests: Int, isDistorted: Bool = false, asksForObjects: Bool = true
  ) throws {
    defer { for side in stores { side.store.close() } }
    try change(probes(), edits.fill()) { try $0.commit() }
    if isDistorted { edits.distort() }
    committed = edits.graph
    let first = draw(requests)
    if asksForObjects { try examine("committed", probes(), first) }
    try examineRows("committed", probes(), first)
    if asksForObjects { try beginPages(first) }
    for round in 0..<rounds {
      let pending = probes()
      try change(pending, edits.change())
      let drawn = draw(requests)
      try examine("pending", pending, drawn)
      try examineRows("pending", pending, drawn)
      try continuePages("pending", pending)
      if dice.chance(15) {
        for probe in pending { probe.context.rollback() }
        edits.restore(committed)
        try examine("after rollback", pending, again(drawn))
        continue
      }
      let settled = edits.settle()
      try change(pending, settled) { try $0.commit() }
      committed = edits.graph
      let same = again(drawn)
      try examine("after commit", dice.chance(50) ? pending : probes(), same)
      try continuePages("after commit", probes())
      try beginPages(same)
      if round == rounds - 1 {
        stores[0].store.close()
        stores[0].store = try open(withIndexes: true)
        try examine("after reopening", [probes()[0]], same)
        try continuePages("after reopening", [probes()[0]])
      }
    }
    for side in stores { try side.store.check() }
  }

  private func probes() -> [Probe] {
    stores.map { Probe($0.name, $0.store.makeContext(), $0.ids) }
  }

  private func change(
    _ probes: [Probe], _ edits: [Edit], then: (ManagedObjectContext) throws -> Void = { _ in }
  ) throws {
    for (probe, side) in zip(probes, stores) {
      try apply(edits, probe, side.ids)
      try then(probe.context)
    }
  }

  // MARK: Questions

  private func examination(_ probes: [Probe]) -> Examination {
    Examination(graph: edits.graph, committed: committed, probes: probes)
  }

  private func draw(_ count: Int) -> [Examination.Question] {
    cases += count
    let generator = RequestGenerator(dice: dice, graph: edits.graph)
    let examination = examination([])
    return (0..<count).map { _ in examination.question(generator.request(), seed: dice.next()) }
  }

  /// Returns the same questions with the current answers.
  private func again(_ questions: [Examination.Question]) -> [Examination.Question] {
    let examination = examination([])
    return questions.map { examination.question($0.request, seed: $0.seed) }
  }

  /// Fetches first pages of committed data.
  private func beginPages(_ questions: [Examination.Question]) throws {
    trails = []
    for (index, probe) in probes().enumerated() {
      for question in questions where question.request.includesPendingChanges && dice.chance(5) {
        cases += 1
        do {
          guard let trail = try PageTrail(question, probe, committed) else { continue }
          trails.append((index, trail))
        } catch {
          throw report("committed", "\(question.request): \(error)", probe)
        }
      }
    }
  }

  /// Continues from those pages in the changed data.
  private func continuePages(_ state: String, _ probes: [Probe]) throws {
    for (side, trail) in trails where side < probes.count {
      cases += 1
      if let problem = trail.problem(probes[side], edits.graph) {
        throw report(state, problem, probes[side])
      }
    }
  }

  /// Compares rows, groups, aggregates, pages, cursors and windows.
  private func examineRows(
    _ state: String, _ probes: [Probe], _ questions: [Examination.Question]
  ) throws {
    let rows = RowGenerator(requests: RequestGenerator(dice: dice, graph: edits.graph))
    for (index, probe) in probes.enumerated() {
      let examination = RowExamination(graph: edits.graph, probe: probe)
      let ways = WayExamination(graph: edits.graph, probe: probe, dice: dice)
      for question in questions where question.request.includesPendingChanges && dice.chance(8) {
        if let problem = examination.problem(question) { throw report(state, problem, probe) }
      }
      for question in questions where question.request.includesPendingChanges && dice.chance(8) {
        cases += 1
        if let problem = ways.problem(question) { throw report(state, problem, probe) }
      }
      for _ in 0..<(questions.count / (index + 5)) {
        cases += 1
        if let problem = examination.problem(rows.rows(), seed: dice.next()) {
          throw report(state, problem, probe)
        }
      }
    }
  }

  private func report(_ state: String, _ problem: String, _ probe: Probe) -> Disagreement {
    Disagreement(
      description: """
        World \(dice.seed), \(state), \(probe.name) store
        \(problem)
        model
        \(model)
        data
        \(edits.graph)
        """)
  }

  private func examine(
    _ state: String, _ probes: [Probe], _ questions: [Examination.Question]
  ) throws {
    var examination = examination(probes)
    for question in questions {
      guard let found = examination.difference(question) else { continue }
      examination.isThorough = true
      func difference(_ request: PlainRequest) -> Examination.Difference? {
        examination.difference(examination.question(request, seed: question.seed))
      }
      // A smaller request may be invalid and throw, which is not the same failure.
      let shrinker = RequestShrinker { request in
        difference(request).map { $0.isError == found.isError } ?? false
      }
      let smallest = shrinker.shrink(question.request)
      throw report(state, smallest, difference(smallest) ?? found, probes)
    }
  }

  // MARK: Changing

  private func apply(
    _ edits: [Edit], _ probe: Probe, _ ids: ObjectIDs
  ) throws {
    let context = probe.context
    func object(_ key: Int) throws -> ManagedObject { try context.object(with: ids.id(key)) }
    for edit in edits {
      switch edit {
      case .insert(let entity, let key):
        ids.note(key, try context.insert(model.entities[entity].name).objectID)
      case .set(let key, let name, let value):
        try object(key).setValue(value.value(ids.id), forKey: name)
      case .setTarget(let key, let relationship, let target):
        try object(key).setObject(try target.map(object), forKey: relationship.name)
      case .setMembers(let key, let relationship, let members):
        try object(key).objects(forKey: relationship.name).replaceAll(with: try members.map(object))
      case .add(let key, let relationship, let member):
        try object(key).objects(forKey: relationship.name).insert(object(member))
      case .remove(let key, let relationship, let member):
        try object(key).objects(forKey: relationship.name).remove(object(member))
      case .delete(let key): context.delete(try object(key))
      case .updateAll(let request, let seed, let assignments, let count):
        let query = try probe.query(probe.request(request, in: model, .literal, seed: seed))
        var values: [PropertyPath: (any PredicateArgument)?] = [:]
        for assignment in assignments {
          values[PropertyPath(assignment.name)] = assignment.value.value(ids.id)
        }
        try check(count, request, probe) {
          try query.update(values)
        }
      case .deleteAll(let request, let seed, let count):
        let query = try probe.query(probe.request(request, in: model, .literal, seed: seed))
        try check(count, request, probe) { try query.delete() }
      }
    }
  }

  private func check(
    _ count: Int, _ request: PlainRequest, _ probe: Probe, _ change: () throws -> Int
  ) throws {
    cases += 1
    let changed = try change()
    if changed == count { return }
    throw report("changing", "changed \(changed), expected \(count): \(request)", probe)
  }

  // MARK: Reporting

  private func report(
    _ state: String, _ request: PlainRequest, _ difference: Examination.Difference,
    _ probes: [Probe]
  ) -> Disagreement {
    let probe = probes.first { $0.name == difference.probe } ?? probes[0]
    let text = request.predicate.map {
      PredicateRenderer.text($0, .literal, seed: 1, objectID: probe.id)
    }
    let fetch = try? probe.request(request, in: model, .literal, seed: 1)
    let plan = fetch.flatMap { try? probe.context.explain($0) }.map { "\($0)" }
    let keys = request.sortKeys.map {
      ($0.isAscending ? "" : "-") + $0.text + ($0.foldsCase ? "[c]" : "")
        + ($0.foldsDiacritics ? "[d]" : "") + ($0.isLocalized ? "[l]" : "")
        + ($0.isNumeric ? "[numeric]" : "")
    }
    return Disagreement(
      description: """
        World \(dice.seed), \(state), \(probe.name) store, \(difference.question)
        entity \(model.entities[request.entity].name), subentities \(request.includesSubentities), \
        pending changes \(request.includesPendingChanges)
        predicate \(text ?? "none")
        sorted by \(keys), \(request.group.map { "\($0), " } ?? "")limit \(request.limit), \
        offset \(request.offset)
        expected \(difference.expected)
        actual   \(difference.actual)
        plan
        \(plan ?? "none")
        model
        \(model)
        data
        \(edits.graph)
        """)
  }
}
