internal import ArborModel

/// What a way back over later changes cannot restore.
extension LightweightMigration {
  /// Attributes whose values nothing converts back. They are still there, so that leave to drop
  /// whatever was removed is none to drop them: each has to be named.
  static func valuesOfOtherTypes(_ difference: ModelDifference) -> [MigrationObstacle] {
    difference.storedChanges.compactMap { change in
      guard case .attribute(.typeChanged) = change.kind, change.effort == .code else { return nil }
      let name = change.loss.map { "name \"\($0.name)\" to let it begin anew, or " } ?? ""
      return MigrationObstacle(
        entity: change.entity, property: change.property,
        message: "\(change.summary); nothing converts its values back: \(name)go on with the newer "
          + "model, and carry the data over by an export.")
    }
  }
}
