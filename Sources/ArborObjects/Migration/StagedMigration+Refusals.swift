internal import ArborModel
internal import ArborStore

/// What keeps a migration in a copy from going on.
extension StagedMigration {
  /// Refuses what can be told to be in the way before anything is changed.
  func refuseWhatModelsTell() throws(ArborError) {
    for (index, hop) in chain.hops.enumerated() where hop.step == nil {
      let difference = hop.source.difference(to: hop.target, via: hop.versions)
      let obstacles = MigrationObstacle.obstacles(in: difference, dropping: names, passes: true)
      guard obstacles.isEmpty else { throw Self.refusal(obstacles) }
      guard index == 0 else { continue }
      let store = try PersistentStore(
        at: .path(files.path), options: StoreOptions(isReadOnly: true))
      defer { store.close() }
      let models = try storing(
        StagedModels(from: store.file.schema, to: hop.target, via: hop.versions))
      var found = try storing(
        store.file.migrationObstacles(
          to: hop.target, via: hop.versions, dropping: names, passes: true))
      let survey = MigrationSurvey(context: store.makeContext(), models: models)
      found += try survey.objectsOfAbstractEntities().map(\.asRefused)
      guard found.isEmpty else { throw Self.refusal(found) }
    }
  }

  /// Refuses what passes and code have left where it breaks rules that the file of a hop did not
  /// have meanwhile.
  func refuseBrokenRules(_ number: Int, _ hop: MigrationHop) throws(ArborError) {
    let found = try storing(
      StoreOpening.reading(files.stage(number)).withFile { file throws(StoreError) in
        try file.migrationObstacles(to: hop.target, via: [], dropping: nil, passes: true)
      })
    guard found.isEmpty else { throw Self.refusal(found) }
  }

  /// Refuses to go on where something is lost that is neither named nor passed through code.
  func refuseWhatIsLost(
    _ hop: MigrationHop, _ models: StagedModels, _ journal: MigrationJournal,
    _ old: ManagedObjectContext
  ) throws(ArborError) {
    var violations = journal.problems.filter { !journal.visited.contains($0.entity) }.map {
      MigrationObstacle(entity: $0.entity, property: $0.property, message: $0.message)
    }
    if hop.step == nil {
      let survey = MigrationSurvey(context: old, models: models)
      violations += try survey.objectsOfAbstractEntities().map(\.asRefused)
    }
    if let step = hop.step, let names {
      for loss in models.difference.losses
      where !names.contains(loss.name) && !journal.visited.contains(loss.subject.entity) {
        if loss.kind == .objects, try old.count(loss.subject.entity) == 0 { continue }
        violations.append(
          MigrationObstacle(
            entity: loss.subject.entity, property: loss.subject.property,
            message:
              "\(loss.name): removed, and the step from version \(step.from) to \(step.to) does "
              + "not migrate it; let the step call migrate or forEach for \(loss.subject.entity), "
              + "or name \"\(loss.name)\" in options.migration = .automatic(dropping:) to let that "
              + "go."))
      }
    }
    violations += unvisitedComposites(hop, models, journal)
    if !violations.isEmpty { throw Self.refusal(violations) }
  }

  /// Attributes of a composite type that changes, to which code has given nothing.
  private func unvisitedComposites(
    _ hop: MigrationHop, _ models: StagedModels, _ journal: MigrationJournal
  ) -> [MigrationObstacle] {
    models.anew.compactMap { anew in
      guard let step = hop.step, !anew.isRelationship, anew.source == nil,
        let former = models.formerName(of: anew.entity), !journal.visited.contains(former)
      else { return nil }
      return MigrationObstacle(
        entity: anew.entity, property: anew.property,
        message:
          "\(anew.entity).\(anew.property): its composite type changes, and the step from version "
          + "\(step.from) to \(step.to) does not migrate it; let the step call migrate for "
          + "\(former).")
    }
  }

  private static func refusal(_ obstacles: [MigrationObstacle]) -> ArborError {
    ArborError(opening: .modelMismatch(MigrationRefusal(.obstacles, obstacles: obstacles)))
  }
}

extension MigrationPlan.Obstacle {
  fileprivate var asRefused: MigrationObstacle {
    MigrationObstacle(entity: entity, property: property, object: objectIDs.first, message: message)
  }
}
