package import ArborModel

/// Why a store is not brought to the model it is opened with.
package struct MigrationRefusal: Sendable {
  /// What keeps the store from being migrated.
  package enum Cause: Sendable, Hashable {
    /// The options.
    case options
    /// It is opened for reading.
    case isReadOnly
    /// Changes of the model, or objects that break its rules.
    case obstacles
    /// The same on the way back to a former model.
    case reversal
  }

  package let cause: Cause
  /// Each thing that stands in the way, with the way on; where the models are compared only, each
  /// change.
  package let obstacles: [MigrationObstacle]
  /// Names of things to drop that nothing is lost of, such as misspelt ones.
  package let unknownNames: [String]

  package init(_ cause: Cause, obstacles: [MigrationObstacle], unknownNames: [String] = []) {
    self.cause = cause
    self.obstacles = obstacles
    self.unknownNames = unknownNames
  }

  /// Lists all that differs.
  package init(_ cause: Cause, _ difference: ModelDifference) {
    self.init(
      cause,
      obstacles: difference.storedChanges.map {
        MigrationObstacle(entity: $0.entity, property: $0.property, message: $0.description)
      })
  }

  /// What has happened and what to do, without the obstacles.
  package var message: String {
    switch cause {
    case .options:
      "The store was written with another model, and the options refuse to migrate it. Open it "
        + "with that one, let options.migration bring it along, or let options.onMismatch replace "
        + "it."
    case .isReadOnly:
      "The store was written with another model, and is opened for reading, which changes "
        + "nothing. Open it for writing once, so that it is migrated, or open it with its own "
        + "model."
    case .reversal: reversalMessage
    case .obstacles:
      "The store was written with another model, and is not migrated, since "
        + (obstacles.count == 1 ? "this stands" : "these \(obstacles.count) things stand")
        + " in the way. Do what is said there, open it with its former model, or let "
        + "options.onMismatch replace it." + unknownNamesNote
    }
  }

  private var reversalMessage: String {
    "The migration is not reverted: the store was changed with the newer model, and "
      + (obstacles.count == 1 ? "this stands" : "these \(obstacles.count) things stand")
      + " in the way. Do what is said there, or go on with the newer model." + unknownNamesNote
  }

  private var unknownNamesNote: String {
    guard !unknownNames.isEmpty else { return "" }
    return " Named to be dropped, but not lost: \(unknownNames.joined(separator: ", "))."
  }
}

/// One thing that keeps a store from being migrated.
package struct MigrationObstacle: Sendable, Hashable {
  package let entity: String?
  package let property: String?
  /// The first of the objects that are in the way.
  package let object: ObjectID?
  /// What it is, and what to do about it.
  package let message: String
  /// The entities and properties of the older model that it is about: it only exists if one of
  /// them has objects or, if it is a relationship, links. Empty: it exists in any case.
  var holders: [ModelDifference.Subject] = []

  package init(entity: String?, property: String?, object: ObjectID? = nil, message: String) {
    self.entity = entity
    self.property = property
    self.object = object
    self.message = message
  }
}
