internal import ArborModel
internal import ArborStore

/// Checks that refuse a migration in a copy.
extension StagedMigration {
  /// Throws if there are known obstacles, before anything is changed. Passes examine values and
  /// links later.
  func refuseKnownObstacles() throws(ArborError) {
    var found: [MigrationObstacle] = []
    for (index, hop) in chain.hops.enumerated() where hop.step == nil {
      guard index == 0 else {
        let difference = hop.source.difference(to: hop.target, via: hop.versions)
        found += MigrationObstacle.obstacles(in: difference, dropping: names, passes: true)
        continue
      }
      let store = try PersistentStore(
        at: .path(files.path), options: StoreOptions(isReadOnly: true))
      defer { store.close() }
      let models = try reporting(
        StagedModels(from: store.engine.schema, to: hop.target, via: hop.versions))
      found += try reporting(
        store.engine.migrationObstacles(
          to: hop.target, via: hop.versions, dropping: names, passes: true, models))
    }
    guard found.isEmpty else { throw Self.refusal(found) }
  }

  /// Throws if results of passes and code violate rules of the hop's model, which its file hasn't
  /// enforced so far.
  func refuseBrokenRules(_ number: Int, _ hop: MigrationHop) throws(ArborError) {
    let found = try reporting(
      StoreOpening.reading(files.stage(number)).withFile { engine throws(StoreError) in
        try engine.brokenRules(of: hop.target)
      })
    guard found.isEmpty else { throw Self.refusal(found) }
  }

  /// Throws if data that is neither named nor handled by code would be lost.
  func refuseWhatIsLost(
    _ hop: MigrationHop, _ models: StagedModels, _ journal: MigrationJournal,
    _ old: ManagedObjectContext
  ) throws(ArborError) {
    let survey = MigrationSurvey(context: old, models: models)
    let problems = try journal.problems + survey.contradictions()
    var violations = problems.filter { !journal.visited.contains($0.entity) }.map {
      MigrationObstacle(entity: $0.entity, property: $0.property, message: $0.message)
    }
    if let step = hop.step, let names {
      for loss in models.difference.losses where !names.contains(loss.name) {
        var held: ModelDifference.Subject?
        for holder in models.holders(of: loss) where held == nil {
          if try isHeld(holder, besides: journal.visited, in: old) { held = holder }
        }
        guard let held else { continue }
        violations.append(
          MigrationObstacle(
            entity: held.entity, property: held.property,
            message:
              "\(loss.name) is removed, but the step from version \(step.from) to \(step.to) "
              + "doesn't migrate it. Call migrate or forEach for \(held.entity) in that "
              + "step, or list \"\(loss.name)\" in options.migration = .automatic(dropping:) to "
              + "drop it."))
      }
    }
    if !violations.isEmpty { throw Self.refusal(violations) }
  }

  /// Returns whether there are objects of an entity of the older model, or values or links of a
  /// property, that code has not visited.
  private func isHeld(
    _ subject: ModelDifference.Subject, besides visited: Set<String>, in old: ManagedObjectContext
  ) throws(ArborError) -> Bool {
    let schema = old.session.schema
    guard !visited.contains(subject.entity), let entity = schema.entity(named: subject.entity)
    else { return false }
    for owner in schema.concreteEntities(of: entity) where !visited.contains(owner.name) {
      guard let name = subject.property,
        case .relationship(let relationship) = owner.property(named: name),
        !relationship.description.isTransient
      else {
        if try old.count(FetchRequest(exactly: owner.name)) > 0 { return true }
        continue
      }
      var request = FetchRequest(exactly: owner.name)
      request.predicate = try FetchPredicate(
        format: relationship.isToMany ? "#\(name).@count > 0" : "#\(name) != nil")
      if try old.count(request) > 0 { return true }
    }
    return false
  }

  private static func refusal(_ obstacles: [MigrationObstacle]) -> ArborError {
    ArborError(opening: .modelMismatch(MigrationRefusal(.obstacles, obstacles: obstacles)))
  }
}

extension StagedModels {
  /// Returns the entities or properties of the older model that have the data of a loss. The values
  /// of a part of a composite type belong to several attributes.
  fileprivate func holders(of loss: ModelDifference.Loss) -> [ModelDifference.Subject] {
    let isPart =
      difference.old.entity(named: loss.subject.entity) == nil
      && difference.old.composites.contains { $0.name == loss.subject.entity }
    return isPart ? difference.old.attributes(containing: loss.subject.entity) : [loss.subject]
  }
}

extension MigrationPlan.Obstacle {
  var asRefused: MigrationObstacle {
    MigrationObstacle(
      entity: entity, property: property, objectIDs: objectIDs, message: message)
  }
}
