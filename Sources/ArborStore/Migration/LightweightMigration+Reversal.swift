internal import ArborModel

/// What a way back over later changes cannot restore.
extension LightweightMigration {
  /// Relationships and large binaries that come back, although one end may have changed meanwhile.
  static func unrestored(
    _ schema: ModelSchema, _ evolution: CatalogEvolution
  ) -> [MigrationObstacle] {
    let plans = Dictionary(uniqueKeysWithValues: evolution.entities.map { ($0.name, $0) })
    var obstacles: [MigrationObstacle] = []
    func refuse(_ entity: EntitySchema, _ property: String, _ reason: String) {
      obstacles.append(
        MigrationObstacle(
          entity: entity.name, property: property,
          message: "\(entity.name).\(property): \(reason); go on with the newer model, and carry "
            + "the data over by an export."))
    }
    for entity in schema.entities where !entity.isAbstract {
      let plan = plans[entity.name]
      guard plan != nil || evolution.returned.contains(entity.name) else { continue }
      for relationship in entity.relationships
      where !relationship.isHidden && !relationship.description.isTransient {
        let isKept = plan?.relationships[relationship.name] != nil
        let family = schema.entities[relationship.destination].concreteFamily
        let isWhole =
          plan == nil && family.allSatisfy { evolution.returned.contains(schema.entities[$0].name) }
        if isKept || isWhole { continue }
        refuse(
          entity, relationship.name,
          "it was removed, and what its links led to may have changed since")
      }
      guard let plan else { continue }
      let numbers = Set(entity.layout.externalFields.map(\.catalogNumber))
      for (name, number) in plan.returned.sorted(by: { $0.key < $1.key })
      where numbers.contains(number) {
        refuse(
          entity, name, "it was removed, and its objects with large values may have changed since")
      }
    }
    return obstacles
  }

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
