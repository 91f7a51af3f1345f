package import ArborModel

/// Finds changes of a model that prevent a migration, from the models alone.
extension MigrationObstacle {
  private typealias Change = ModelDifference.Change

  /// Returns the obstacles for the changes that prevent a migration.
  ///
  /// - Parameters:
  ///   - names: The names of data that may be dropped, or `nil` for all.
  ///   - passes: Whether the store is copied and migrated by passes over its objects.
  ///   - isReversal: Whether the newer model is the store's former one. Links are checked in that
  ///     case, so that rules for their destinations are not obstacles by themselves.
  package static func obstacles(
    in difference: ModelDifference, dropping names: Set<String>?, passes: Bool = false,
    isReversal: Bool = false
  ) -> [MigrationObstacle] {
    let advice = Advice(passes: passes, isReversal: isReversal)
    let changed = difference.storedChanges.compactMap { change -> MigrationObstacle? in
      if isReversal, change.limitsDestinations, change.loss == nil { return nil }
      let isNamed = change.loss.map { names?.contains($0.name) ?? true } ?? false
      guard let reason = reason(change, isNamed: isNamed, advice) else { return nil }
      var obstacle = MigrationObstacle(
        entity: change.entity, property: change.property, message: "\(change.summary); \(reason).")
      // In place, a different layout is an obstacle even without objects: it needs a copy.
      if passes || self.reason(change, isNamed: true, advice) == nil {
        obstacle.holders = holders(of: change, in: difference.old)
      }
      return obstacle
    }
    return (isReversal ? nil : stranger(difference, names)).map { [$0] + changed } ?? changed
  }

  /// Returns whether the newer model stores the affected data differently, so that only a pass or
  /// code can migrate it.
  static func isLaidOutAnew(_ change: ModelDifference.Change) -> Bool {
    reason(change, isNamed: true, Advice(passes: false, isReversal: false)) != nil
  }

  /// Returns an obstacle if the two models seem to belong to different programs. Permission to drop
  /// everything removed does not include it. A store without objects has nothing to lose.
  private static func stranger(
    _ difference: ModelDifference, _ names: Set<String>?
  ) -> MigrationObstacle? {
    let removed = Set(
      difference.changes.compactMap { change in
        if case .entity(.removed) = change.kind { change.source?.entity } else { nil }
      })
    let entities = difference.old.entities.filter { !$0.isAbstract }.map(\.name)
    guard !entities.isEmpty, difference.old.entities.allSatisfy({ removed.contains($0.name) }),
      names?.isSuperset(of: entities) != true
    else { return nil }
    let some = entities.prefix(3).joined(separator: ", ")
    var obstacle = MigrationObstacle(
      entity: nil, property: nil,
      message: "The store has no entity in common with the model, so it probably belongs to "
        + "another program: its entities are \(some)\(entities.count > 3 ? " and more" : ""). "
        + "Choose another file, or list all entities of the store in options.migration = "
        + ".automatic(dropping:).")
    obstacle.holders = entities.map { ModelDifference.Subject($0) }
    return obstacle
  }

  /// Returns the entities and properties of the older model whose objects, values or links are
  /// affected by a change.
  private static func holders(
    of change: Change, in old: ManagedObjectModel
  ) -> [ModelDifference.Subject] {
    guard case .composite(let kind) = change.kind else { return change.source.map { [$0] } ?? [] }
    return old.attributes(containing: kind.typeName)
  }

  // MARK: Reasons

  /// The advice in messages.
  private struct Advice {
    let passes: Bool
    let isReversal: Bool

    /// The alternatives if nothing converts the data.
    var otherwise: String {
      isReversal
        ? "keep the newer model, or export the data and import it afterwards"
        : list(["leave it unchanged", step])
    }

    /// The advice to use code.
    var step: String {
      "use a MigrationStep to convert it" + (passes ? "" : " with options.migration = .automatic")
    }

    /// The explanation that the migration makes no pass over the objects.
    var noPass: String {
      isReversal
        ? "which a reversal doesn't make; \(otherwise)"
        : "which .lightweightOnly doesn't make. Set options.migration to .automatic"
    }

    /// Returns the options that permit a change with a loss.
    func ways(_ loss: ModelDifference.Loss, _ change: Change) -> String {
      guard !isReversal else { return naming(loss) }
      var ways = [naming(loss), step]
      switch change.kind {
      case .entity(.removed): ways.insert("delete its objects with the former model", at: 1)
      case .relationship: ways.insert("clear its links with the former model", at: 1)
      default: break
      }
      return list(ways)
    }

    /// Returns the options if nothing converts the affected data.
    func startingOver(_ loss: ModelDifference.Loss) -> String {
      let naming = "\(naming(loss)) and start without values"
      return isReversal
        ? "\(naming), or \(otherwise)" : list([naming, "leave it unchanged", step])
    }

    private func list(_ ways: [String]) -> String {
      ways.dropLast().joined(separator: ", ") + ", or " + (ways.last ?? "")
    }

    func naming(_ loss: ModelDifference.Loss) -> String {
      let list =
        isReversal ? "revertMigration(_:dropping:)" : "options.migration = .automatic(dropping:)"
      return "list \"\(loss.name)\" in \(list) to drop it"
    }
  }

  private static func reason(_ change: Change, isNamed: Bool, _ advice: Advice) -> String? {
    // Whether the entity has objects is checked in the store.
    if case .entity(.becameAbstract) = change.kind { return nil }
    let isMovable = isMovable(change)
    if case .composite = change.kind, change.effort >= .pass, !advice.passes {
      return "it needs a pass over the objects, \(advice.noPass)"
    }
    if isMovable, advice.passes {
      guard let loss = change.loss, !isNamed else { return nil }
      return advice.ways(loss, change)
    }
    if let reason = unsupported(change) {
      return isMovable ? "\(reason), \(advice.noPass)" : "\(reason); \(advice.otherwise)"
    }
    switch change.effort {
    case .code:
      let reason = "it cannot be converted automatically"
      guard let loss = change.loss, isDroppable(change) else {
        return "\(reason); \(advice.otherwise)"
      }
      return isNamed ? nil : "\(reason); \(advice.startingOver(loss))"
    case .pass where !isDecidedLater(change):
      return "it needs a pass over the objects, \(advice.noPass)"
    default: return change.loss.flatMap { isNamed ? nil : advice.ways($0, change) }
    }
  }

  /// Returns whether a pass over the objects can migrate the affected data without custom code.
  private static func isMovable(_ change: Change) -> Bool {
    switch change.kind {
    case .attribute(.externalStorageChanged): true
    case .relationship(.replacesAttribute): false
    case .relationship: unsupported(change) != nil || change.effort >= .pass
    case .attribute: change.effort == .pass
    case .entity: unsupported(change) != nil
    case .composite: change.effort == .pass
    default: false
    }
  }

  /// Returns whether the affected data may be dropped instead of converted.
  private static func isDroppable(_ change: Change) -> Bool {
    switch change.kind {
    case .attribute(.typeChanged), .attribute(.replacesRelationship),
      .relationship(.replacesAttribute), .composite(.partTypeChanged):
      true
    default: false
    }
  }

  /// Returns whether the need for a pass depends on the contents of the store.
  private static func isDecidedLater(_ change: Change) -> Bool {
    switch change.kind {
    case .relationship(.added), .attribute(.added), .attribute(.spread), .attribute(.inherited):
      true
    default: false
    }
  }

  private static func unsupported(_ change: Change) -> String? {
    switch (change.kind, change.rule) {
    case (.relationship(.becameTransient), _), (.relationship(.becameStored), _):
      "links are stored for both sides or for neither"
    case (.attribute(.externalStorageChanged), _): "large values are not moved"
    case (_, .destination?), (_, .noLongerKind?):
      "links may lead to objects that are no longer allowed there"
    default: nil
    }
  }
}

extension MigrationObstacle {
  /// Returns an obstacle for each part of JSON that has unrelated types in two models with the same
  /// fingerprint, or that only the newer one requires. Such models aren't versions of each
  /// other, so nothing migrates a store or keeps a program with one of them from using a store of the
  /// other.
  package static func unrelatedParts(
    from old: ManagedObjectModel, to new: ManagedObjectModel
  ) -> [MigrationObstacle] {
    guard old.fingerprint == new.fingerprint, new.joiningShapes(of: old) == nil else { return [] }
    return old.difference(to: new).changes.compactMap { change in
      guard case .attribute(let kind) = change.kind, case .partChanged = kind,
        change.rule == .valuesFit(.json), let subject = change.subject
      else { return nil }
      return MigrationObstacle(
        entity: change.entity, property: change.property,
        message:
          "\(subject): \(kind). What is part of a value that may be missing doesn't distinguish "
          + "versions of the model, so programs of both could use the store. Give the attribute a version "
          + "hash modifier in the newer model, or the part another name.")
    }
  }
}

extension ModelDifference.Change {
  /// Whether present links may have targets that the newer model does not allow.
  fileprivate var limitsDestinations: Bool {
    switch rule {
    case .destination, .noLongerKind: true
    default: false
    }
  }
}
