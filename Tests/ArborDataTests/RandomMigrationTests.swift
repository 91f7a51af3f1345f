import ArborData
import Foundation
import TestLength
import TestSupport
import Testing

/// Stores whose models change at random, compared with expected contents that change accordingly.
@Suite("Migrations between random versions of a model") struct RandomMigrationTests {
  private var options: StoreOptions {
    StoreOptions(migration: .automatic(dropping: .everythingRemoved), durability: .relaxed)
  }

  private func random() -> SeededRandom {
    let given = ProcessInfo.processInfo.environment["ARBOR_SEED"].flatMap { UInt64($0) }
    return given.map { SeededRandom(seed: $0) } ?? SeededRandom()
  }

  @Test(
    "Random migrations can be reverted and repeated", arguments: 0..<TestLength.of(3, long: 100))
  func dataGoesFromModelToModel(round: Int) throws {
    let random = random()
    var walk = ModelWalk(random)
    let store = try EvolvingStore(walk.model, PlainObjects())
    for version in 0..<10 {
      try store.change { context, plain in try walk.edit(context, &plain) }
      let former = walk.model
      let change = walk.step()
      do {
        var options = options
        options.migrationSteps = change.steps(from: former, to: walk.model)
        try store.evolve(to: walk.model, options, change.apply)
        walk.forgetRenames()
        try store.evolve(to: walk.model)
      } catch {
        Issue.record("seed \(random.seed), version \(version), \(change.words): \(error)")
        throw error
      }
    }
    try store.change { context, plain in try walk.edit(context, &plain) }
  }

  /// Migrating through many versions and directly from one of them to the last have the same
  /// result.
  @Test(
    "Migrating through many versions and directly has the same result",
    arguments: 0..<TestLength.of(100, long: 1000))
  func walksLeadWhereJumpsLead(round: Int) throws {
    let random = random()
    var walk = ModelWalk(random, reusesNames: false)
    let store = try EvolvingStore(walk.model, PlainObjects())
    var versions: [(start: EvolvingStore.Copy, model: ManagedObjectModel, change: ModelWalk.Change)]
    versions = []
    var words = ""
    do {
      for version in 0..<TestLength.of(5, long: 50) {
        try store.change { context, plain in try walk.edit(context, &plain, inserting: 1) }
        let start = try store.copy()
        let change = walk.step()
        words = "version \(version), \(change.words)"
        var options = options
        options.migrationSteps = change.steps(from: start.model, to: walk.model)
        try store.open(with: walk.model, options, change.apply)
        if !change.isLasting { versions = [] }
        versions.append((start, walk.model, change))
        walk.forgetRenames()
      }
      // A migration that skips a temporary default would keep `nil`.
      if versions.first?.change.isLasting == false { versions.removeFirst() }
      guard let first = versions.indices.randomElement(using: &walk.random) else { return }
      words =
        "from \(versions.count - first) versions before: "
        + versions[first...].map(\.change.words).joined(separator: ", ")
      // A version that equals an earlier one cannot be told apart from it.
      let way = versions[first...].filter { $0.start.model.fingerprint != $0.model.fingerprint }
      guard let start = way.first,
        Set([start.start.model.fingerprint] + way.map(\.model.fingerprint)).count == way.count + 1
      else { return }
      try jump(way)
    } catch {
      Issue.record("seed \(random.seed), \(words): \(error)")
      throw error
    }
  }

  private func jump(
    _ versions: [(start: EvolvingStore.Copy, model: ManagedObjectModel, change: ModelWalk.Change)]
  ) throws {
    let (start, last) = (versions[0].start, versions[versions.count - 1].model)
    let store = try EvolvingStore(start)
    var options = options
    options.modelVersions = [start.model] + versions.map(\.model)
    for version in versions {
      options.migrationSteps += version.change.steps(from: version.start.model, to: version.model)
    }
    try store.open(with: last, options) { plain in
      for version in versions { version.change.apply(&plain) }
    }
  }
}
