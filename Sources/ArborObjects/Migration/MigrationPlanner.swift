internal import ArborFoundation
internal import ArborModel
internal import ArborStore

struct MigrationPlanner {
  private let store: PersistentStore
  private let context: ManagedObjectContext
  private let options: StoreOptions
  private let chain: MigrationChain
  private let names: Set<String>?

  init(
    _ store: PersistentStore, to model: ManagedObjectModel, _ options: StoreOptions
  ) throws(ArborError) {
    self.store = store
    self.options = options
    context = store.makeContext()
    names = options.migration.stored.names
    chain = try MigrationChain(from: store.model, to: model, options)
  }

  func plan(_ url: URL) throws(ArborError) -> MigrationPlan {
    let counts = try objectCounts()
    var parts: [MigrationPlan.Part] = []
    var losses: [ModelDifference.Loss] = []
    var obstacles: [MigrationPlan.Obstacle] = []
    var brokenRules: [MigrationPlan.Obstacle] = []
    var isInPlace = chain.hops.count <= 1
    for (index, hop) in chain.hops.enumerated() {
      let models =
        index == 0
        ? try reporting(
          StagedModels(from: store.engine.schema, to: hop.target, via: hop.versions)) : nil
      let difference = hop.source.difference(to: hop.target, via: hop.versions)
      if difference.storedChanges.isEmpty { continue }
      var needsPass = true
      if let models { needsPass = try self.needsPass(models) }
      if hop.step != nil || needsPass { isInPlace = false }
      let outline = MigrationOutline(difference, dropping: names)
      parts.append(part(hop, outline, counts: index == 0 ? counts : nil, models))
      losses += lost(in: difference, hop)
      if let models {
        brokenRules += try MigrationSurvey(context: context, models: models)
          .brokenValues()
      }
      if hop.step == nil { obstacles += try found(hop, difference, models) }
    }
    obstacles += MigrationObstacle.unrelatedParts(from: store.model, to: chain.target)
      .map(MigrationPlan.Obstacle.init)
    if case .refuse = options.migration.stored {
      obstacles = [
        MigrationPlan.Obstacle(
          entity: nil, property: nil, objectIDs: [],
          message: "The options don't allow migrating the store. Set options.migration to "
            + ".automatic.")
      ]
    }
    let bytes = (try? OpenFile(url.path, O_RDONLY).size) ?? 0
    return MigrationPlan(
      url: url, isInPlace: isInPlace, bytes: isInPlace ? 0 : bytes, parts: parts,
      objectCounts: counts, losses: losses, obstacles: obstacles,
      brokenRules: brokenRules, digest: chain.digest)
  }

  private func objectCounts() throws(ArborError) -> [String: Int] {
    var counts: [String: Int] = [:]
    for entity in store.model.entities where !entity.isAbstract {
      counts[entity.name] = try context.count(FetchRequest(exactly: entity.name))
    }
    return counts
  }

  /// Returns whether any objects need a pass.
  private func needsPass(_ models: StagedModels) throws(ArborError) -> Bool {
    if !models.anew.isEmpty { return true }
    for (name, _) in models.computed {
      guard let former = models.formerName(of: name) else { continue }
      if try context.count(former) > 0 { return true }
    }
    return false
  }

  private func part(
    _ hop: MigrationHop, _ outline: MigrationOutline, counts: [String: Int]?,
    _ models: StagedModels?
  ) -> MigrationPlan.Part {
    let steps = outline.steps.map { step in
      var title = step.work.description
      var entity: String?
      var count: Int?
      switch step.work {
      case .catalog: break
      case .code(let name):
        if hop.step == nil {
          title = "Code is missing for the objects of \(name ?? "the store")"
        }
        entity = name
      case .pass(let name), .indexBuild(let name): entity = name
      }
      if let entity, let counts, let models {
        count = self.count(of: entity, counts, models)
      }
      return MigrationPlan.Step(
        title: title, entity: entity, objectCount: count, changes: step.changes)
    }
    return MigrationPlan.Part(
      from: hop.source.versionName, to: hop.target.versionName, runsCode: hop.step != nil,
      steps: steps)
  }

  /// Returns the number of objects of an entity of the newer model and its subentities.
  private func count(of entity: String, _ counts: [String: Int], _ models: StagedModels) -> Int {
    models.relaxed.kinds(of: entity).reduce(0) { sum, name in
      sum + (models.formerName(of: name).flatMap { counts[$0] } ?? 0)
    }
  }

  // MARK: Losses and obstacles

  /// Returns the data that a hop loses. Changes that require code lose nothing if the hop has a
  /// step, because its code converts the data.
  private func lost(in difference: ModelDifference, _ hop: MigrationHop) -> [ModelDifference.Loss] {
    guard hop.step != nil else { return difference.losses }
    let converted = Set(difference.changes.filter { $0.effort == .code }.compactMap(\.loss))
    return difference.losses.filter { !converted.contains($0) }
  }

  private func found(
    _ hop: MigrationHop, _ difference: ModelDifference, _ models: StagedModels?
  ) throws(ArborError) -> [MigrationPlan.Obstacle] {
    var passes = options.migration.isStaged
    if let models, !passes, models.needsPass {
      passes = try MigrationSurvey(context: context, models: models).passesNothing()
    }
    guard let models else {
      return MigrationObstacle.obstacles(in: difference, dropping: names, passes: passes)
        .map(MigrationPlan.Obstacle.init)
    }
    let found = try reporting(
      store.engine.migrationObstacles(
        to: hop.target, via: hop.versions, dropping: names, passes: passes, models))
    let survey = MigrationSurvey(context: context, models: models)
    return try found.map(MigrationPlan.Obstacle.init)
      + (passes ? survey.obstacles(to: hop.target) : [])
  }
}

extension MigrationPlan.Obstacle {
  init(_ obstacle: MigrationObstacle) {
    self.init(
      entity: obstacle.entity, property: obstacle.property,
      objectIDs: obstacle.objectIDs, message: obstacle.message)
  }
}
