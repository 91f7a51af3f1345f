package import ArborModel

/// The reasons why a store is not migrated to the model it is opened with.
package struct MigrationRefusal: Sendable {
  /// The kind of reason that prevents the migration.
  package enum Cause: Sendable, Hashable {
    /// The options don't permit migrating the store.
    case options
    /// The store is opened read-only.
    case isReadOnly
    /// Changes of the model, or objects that break its rules.
    case obstacles
    /// Obstacles to reverting a migration.
    case reversal
  }

  package let cause: Cause
  /// The obstacles with their remedies, or the changes if only the models are compared.
  package let obstacles: [MigrationObstacle]
  /// The names to drop that match no loss, such as misspelled ones.
  package let unknownNames: [String]

  package init(_ cause: Cause, obstacles: [MigrationObstacle], unknownNames: [String] = []) {
    self.cause = cause
    self.obstacles = obstacles
    self.unknownNames = unknownNames
  }

  /// Creates a refusal that lists all changes between the models.
  package init(_ cause: Cause, _ difference: ModelDifference) {
    self.init(
      cause,
      obstacles: difference.storedChanges.map {
        MigrationObstacle(entity: $0.entity, property: $0.property, message: $0.description)
      })
  }

  /// A description of the problem and the remedy, without the obstacles.
  package var message: String {
    switch cause {
    case .options:
      "The store has a different model, and the options don't allow migrating the store. Open it "
        + "with its own model, set options.migration to migrate it, or set options.onMismatch to "
        + "replace it."
    case .isReadOnly:
      "The store has a different model and was opened read-only, so it cannot be migrated. Open "
        + "the store for writing once to migrate it, or open it with its own model."
    case .reversal: reversalMessage
    case .obstacles:
      "The store has a different model and was not migrated because of "
        + (obstacles.count == 1
          ? "1 obstacle. Resolve it" : "\(obstacles.count) obstacles. Resolve them")
        + ", open the store with its former model, or set options.onMismatch to replace it."
        + unknownNamesNote
    }
  }

  private var reversalMessage: String {
    "The migration was not reverted, because the store was changed with the newer model. Found "
      + (obstacles.count == 1
        ? "1 obstacle. Resolve it" : "\(obstacles.count) obstacles. Resolve them")
      + ", or keep the newer model." + unknownNamesNote
  }

  private var unknownNamesNote: String {
    guard !unknownNames.isEmpty else { return "" }
    return " Names to drop that match no lost data: \(unknownNames.joined(separator: ", ")). Check "
      + "their spelling."
  }
}

/// A single reason that prevents a migration.
package struct MigrationObstacle: Sendable, Hashable {
  package let entity: String?
  package let property: String?
  /// The first of the affected objects.
  package let objectIDs: [ObjectID]
  /// A description of the obstacle and the remedy.
  package let message: String
  /// The affected entities and properties of the older model. If not empty, the obstacle only
  /// exists if one of them has objects or, in the case of a relationship, links.
  var holders: [ModelDifference.Subject] = []

  package init(
    entity: String?, property: String?, objectIDs: [ObjectID] = [], message: String
  ) {
    self.entity = entity
    self.property = property
    self.objectIDs = objectIDs
    self.message = message
  }
}
